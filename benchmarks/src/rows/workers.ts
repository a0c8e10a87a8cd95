import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { BenchContext, Row } from '../bench.js';
import { type BenchInstance, withInstance } from '../instance.js';
import { shareOf } from '../raw-limit.js';
import { round } from '../statistics.js';
import { abstracts } from '../texts.js';
import { ingest } from './ingest.js';

/** The worker as docs/running.md has it started beside those of an instance. */
const WORKER = fileURLToPath(new URL('../../../apps/worker/dist/main.js', import.meta.url));

interface AddedWorker {
  /** Documents that it has handled so far. */
  handled(): number;
  stop(): Promise<void>;
}

/** Starts a worker beside those of the instance, with the settings that its own processes get, and waits until it is ready. */
async function addWorker(instance: BenchInstance, n: number): Promise<AddedWorker> {
  const child = spawn(process.execPath, [WORKER], {
    cwd: instance.base,
    env: {
      ...instance.env,
      SLUICE_NAMESPACE: instance.namespace,
      SLUICE_SOURCES: JSON.stringify([{ name: 'inbox', path: instance.folder }]),
      SLUICE_DATA: join(instance.base, `worker-${n}`),
      SLUICE_LOG_LEVEL: 'info',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exit = once(child, 'exit');
  let [handled, output] = [0, ''];
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  const ready = new Promise<void>((resolve, reject) => {
    void exit.then(() => reject(new Error(`an added worker ended: ${output.slice(-2000)}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.includes('"worker is ready"')) resolve();
      if (line.includes('"document"')) handled += 1;
    });
  });
  await ready;
  return {
    handled: () => handled,
    async stop() {
      child.kill('SIGTERM');
      await exit;
    },
  };
}

/** The same number of one-chunk documents with one, two and more workers on this machine. */
export async function benchWorkers({ services, sizes, raw, say }: BenchContext): Promise<Row[]> {
  return withInstance(services, async (instance) => {
    const rows: Row[] = [];
    const added: AddedWorker[] = [];
    try {
      for (const workers of sizes.workers) {
        say(`workers: ${workers}`);
        while (added.length < workers - 1) added.push(await addWorker(instance, added.length));
        const texts = abstracts(200 + workers, Math.ceil(sizes.documents / 2));
        const sample = texts.slice(0, sizes.rawTexts);
        // What each process loads with its first document is not measured.
        await ingest(instance, `first-${workers}`, abstracts(300 + workers, 8 * workers));
        const handled = () => added.reduce((sum, worker) => sum + worker.handled(), 0);
        const [before, handledBefore] = [await raw.measure(sample), handled()];
        const { chunks, seconds } = await ingest(instance, `by-${workers}`, texts);
        const rate = chunks / seconds;
        rows.push({
          what: `ingest, one chunk a document, workers: ${workers}`,
          documents: texts.length,
          'of them by the added workers': handled() - handledBefore,
          'chunks/s': round(rate, 1),
          'of raw limit': shareOf(rate, { before, after: await raw.measure(sample) }),
        });
      }
      return rows;
    } finally {
      await Promise.all(added.map((worker) => worker.stop()));
    }
  });
}
