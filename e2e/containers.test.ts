import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createMetrics } from '@sluice/telemetry';
import { testServices } from '@sluice/testkit';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { freePort } from './support/sluice.js';

// What containers run, run without them: no engine is needed for it.

const ROOT = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const ROLES = ['worker', 'watcher', 'api'] as const;
/** What is looked at of docker-compose.yml; a test of the launcher checks the whole file. */
interface ComposeFile {
  services: Record<string, { environment?: Record<string, string> }>;
}

let base: string;
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'sluice-containers-')));
});
afterEach(() => rm(base, { recursive: true, force: true, maxRetries: 5 }));

function runScript(name: string, args: string[], env: Record<string, string>): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const full = { PATH: process.env.PATH, HOME: base, ...env };
    execFile(process.execPath, [join(ROOT, 'infra', name), ...args], { cwd: base, env: full }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr });
    });
  });
}

describe('infra/healthy.mjs', () => {
  it('believes a process by the age of what it wrote in this very container', async () => {
    const env = { SLUICE_DATA: base };
    const folder = join(base, 'metrics');
    expect(await runScript('healthy.mjs', ['worker'], env)).toMatchObject({ code: 1 });
    await createMetrics({ role: 'worker', folder }).flush();
    expect(await runScript('healthy.mjs', ['worker'], env)).toEqual({ code: 0, output: '' });
    expect(await runScript('healthy.mjs', ['watcher'], env)).toMatchObject({ code: 1 });

    const [name = ''] = await readdir(folder);
    const snapshot = JSON.parse(await readFile(join(folder, name), 'utf8')) as { at: number; host: string };
    await writeFile(join(folder, name), JSON.stringify({ ...snapshot, host: 'another' }));
    expect(await runScript('healthy.mjs', ['worker'], env)).toMatchObject({ code: 1 });
    await writeFile(join(folder, name), JSON.stringify({ ...snapshot, at: snapshot.at - 90_000 }));
    const silent = await runScript('healthy.mjs', ['worker'], env);
    expect(silent).toMatchObject({ code: 1, output: expect.stringMatching(/silent for \d+ s/) });
  });

  it('asks the API', async () => {
    const answer = await runScript('healthy.mjs', ['api'], { SLUICE_PORT: String(await freePort()) });
    expect(answer).toMatchObject({ code: 1, output: expect.stringContaining('does not answer') });
  });
});

describe('infra/model.mjs', () => {
  it('puts a folder that is given into the cache, and then finds it there without asking anybody', async () => {
    const env = { XDG_CACHE_HOME: base, SLUICE_CONFIG: join(ROOT, 'infra/sluice.yaml'), SLUICE_OFFLINE: '1' };
    const given = await runScript('model.mjs', [], { ...env, SLUICE_MODEL: testServices().model });
    expect(given).toMatchObject({ code: 0 });
    const model = join(base, 'sluice/models/Xenova/all-MiniLM-L6-v2');
    expect(given.output).toContain(model);
    expect(await readdir(model)).toEqual(expect.arrayContaining(['config.json', 'onnx', 'tokenizer.json']));
    expect(await runScript('model.mjs', [], { ...env, SLUICE_MODEL: 'hub' })).toMatchObject({ code: 0 });
    const other = await runScript('model.mjs', [], { ...env, SLUICE_MODEL: 'hub', SLUICE_MODEL_NAME: 'Xenova/e5-small-v2' });
    expect(other).toMatchObject({ code: 2, output: expect.stringContaining('set SLUICE_MODEL_NAME=Xenova/all-MiniLM-L6-v2') });
  });
});

describe('the processes, started as docker-compose.yml does it', () => {
  const running: ChildProcess[] = [];
  const namespace = `box${randomBytes(4).toString('hex')}`;
  afterEach(async () => {
    await Promise.all(
      running.splice(0).map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const ended = once(child, 'exit');
        child.kill('SIGTERM');
        await ended;
      }),
    );
    await dropCollections(testServices().weaviate, namespace);
  });

  it('become healthy, make a dropped file searchable, and count as one instance', async () => {
    const services = testServices();
    const inbox = join(base, 'inbox');
    await mkdir(inbox);
    const port = await freePort();
    const yaml = await readFile(join(ROOT, 'infra/sluice.yaml'), 'utf8');
    await writeFile(join(base, 'sluice.yaml'), yaml.replace('path: /inbox', `path: ${inbox}`));
    const compose = parse(await readFile(join(ROOT, 'docker-compose.yml'), 'utf8'), { merge: true }) as ComposeFile;
    // Where a container has a mount or another container, this machine has a folder or a service of the test run.
    const here = {
      PATH: process.env.PATH ?? '',
      SLUICE_DATA: join(base, 'data'),
      SLUICE_CONFIG: join(base, 'sluice.yaml'),
      SLUICE_NAMESPACE: namespace,
      SLUICE_MODEL: services.model,
      REDIS_URL: services.redis,
      WEAVIATE_URL: services.weaviate,
      // The services of the test run want none.
      WEAVIATE_API_KEY: '',
    };
    const environmentOf = (role: string) => {
      const own = compose.services[role]?.environment ?? {};
      for (const name of Object.keys(here)) if (name !== 'PATH') expect(own, `${role}: ${name}`).toHaveProperty(name);
      const interpolated = Object.entries(own).map(([name, value]) => [name, value.replace(/\$\{\w+:-([^}]*)\}/g, '$1')]);
      return { ...Object.fromEntries(interpolated), ...here, ...(role === 'api' ? { SLUICE_PORT: String(port) } : {}) };
    };
    let said = '';
    for (const role of ROLES) {
      const program = join(ROOT, 'apps', role, 'dist/main.js');
      const child = spawn(process.execPath, ['--enable-source-maps', program], { cwd: base, env: environmentOf(role) });
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => (said += part.toString()));
      running.push(child);
    }
    const url = `http://127.0.0.1:${port}`;
    const settled = async (check: () => Promise<boolean>, what: string) => {
      await vi.waitFor(
        async () => {
          if (!(await check().catch(() => false))) throw new Error(`${what}\n${said.slice(-4000)}`);
        },
        { timeout: 90_000, interval: 250 },
      );
    };
    for (const role of ROLES) {
      const env = { SLUICE_DATA: here.SLUICE_DATA, SLUICE_PORT: String(port) };
      await settled(async () => (await runScript('healthy.mjs', [role], env)).code === 0, `the ${role} is not healthy`);
    }
    await writeFile(join(inbox, 'ferry.txt'), 'The ferry to Lindholm leaves at a quarter past nine.');
    await settled(async () => {
      const response = await fetch(`${url}/v1/search`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: 'when does the ferry leave' }),
      });
      return (await response.text()).includes('inbox/ferry.txt');
    }, 'the file is not found');
    await settled(async () => {
      const token = (await readFile(join(here.SLUICE_DATA, 'secrets', 'operator-token'), 'utf8')).trim();
      const metrics = await (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })).text();
      const lines = ['watcher', 'worker', 'api'].map((role) => `sluice_processes{role="${role}"} 1`);
      return [...lines, 'sluice_embeddings_computed_total 1', 'sluice_worker_consuming 1'].every((line) =>
        metrics.includes(`${line}\n`),
      );
    }, 'the metrics are not those of one instance');
  });
});

async function dropCollections(weaviate: string, namespace: string): Promise<void> {
  const { classes } = (await (await fetch(`${weaviate}/v1/schema`)).json()) as { classes: { class: string }[] };
  const ours = classes.map((one) => one.class).filter((name) => name.toLowerCase().startsWith(namespace));
  for (const name of ours) await fetch(`${weaviate}/v1/schema/${name}`, { method: 'DELETE' });
}
