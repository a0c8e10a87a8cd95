import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '@sluice/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSluice, type Sluice } from './support/sluice.js';

const WORKER = fileURLToPath(new URL('../apps/worker/dist/main.js', import.meta.url));

let sluice: Sluice;
let worker: ChildProcess | undefined;
beforeAll(async () => {
  sluice = await createSluice({ config: 'sources: [{ name: inbox, path: FOLDER, metadata: { security_level: 1 } }]\n' });
  for (let n = 0; n < 4; n += 1) await sluice.write(`${n}.txt`, `The lighthouse of Orrey, page ${n}.`);
  await sluice.up();
  await sluice.settle();
}, 180_000);
afterAll(async () => {
  worker?.kill('SIGKILL');
  await sluice.close();
});

/** As docs/running.md says: with a data folder of its own. */
async function startWorker(): Promise<void> {
  const child = spawn(process.execPath, [WORKER], {
    env: {
      ...sluice.env,
      SLUICE_DATA: join(sluice.base, 'other-data'),
      SLUICE_NAMESPACE: (await readFile(join(sluice.data, 'namespace'), 'utf8')).trim(),
    },
    cwd: sluice.base,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  worker = child;
  let said = '';
  const ready = new Promise<void>((resolve) => {
    child.stdout.on('data', (part: Buffer) => {
      said += part.toString();
      if (said.includes('worker is ready')) resolve();
    });
  });
  await Promise.race([
    ready,
    once(child, 'exit').then(() => {
      throw new Error(`the worker ended: ${said}`);
    }),
  ]);
}

it('a worker with a data folder of its own deletes what is removed', async () => {
  await startWorker();
  const own = await sluice.pidOf('worker');
  process.kill(own, 'SIGSTOP');
  try {
    await sluice.remove('0.txt');
    await sluice.write('4.txt', 'The lighthouse of Orrey, page 4.');
    await sluice.settle();
    expect((await sluice.find('lighthouse')).sort()).toEqual(['inbox/1.txt', 'inbox/2.txt', 'inbox/3.txt', 'inbox/4.txt']);
    // And all of them at once.
    for (let n = 1; n < 5; n += 1) await sluice.remove(`${n}.txt`);
    await sluice.settle();
    expect(await sluice.find('lighthouse')).toEqual([]);
    // The one that stands still is reported, by its pid.
    const { standing_workers } = await until(async () => {
      const status = await sluice.status();
      return status.standing_workers !== undefined && status;
    });
    expect(await sluice.metric('sluice_workers_standing')).toBe(1);
    expect(standing_workers?.map(({ pid }) => pid)).toEqual([own]);
  } finally {
    process.kill(own, 'SIGCONT');
  }
}, 180_000);
