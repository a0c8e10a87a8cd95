import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readRunFile } from '@sluice/launcher';
import { testServices } from '@sluice/testkit';
import { createSluice } from '../support/sluice.js';
import { type Api, createApi } from './api.js';
import { createExcuses, type Excuses } from './excuses.js';
import { type BreakableServices, startBreakableServices } from './services.js';

const WORKER = fileURLToPath(new URL('../../apps/worker/dist/main.js', import.meta.url));

/** Milliseconds a worker must be silent before others take its jobs over; a stopped one stays stopped for longer than both. */
export const LOCK_MS = 3_000;
export const STALLED_MS = 1_500;
export const GRACE_MS = 5_000;

const CONFIG = `
sources:
  - name: inbox
    path: FOLDER
    stability_ms: 250
    scan_interval_s: 5
    metadata: { security_level: 1, category: other }
    rules:
      - { match: "steady/**", metadata: { category: steady } }
      - { match: "roam/**", metadata: { category: roam } }
store: { reader_grace_ms: ${GRACE_MS} }
queue: { concurrency: 4, attempts: 5, backoff_ms: 300, lock_ms: ${LOCK_MS}, stalled_ms: ${STALLED_MS} }
api: { anonymous: true, anonymous_clearance: 1 }
`;

/** An instance with services that can be broken, a second worker, and the ways in. */
export interface World {
  readonly folder: string;
  readonly data: string;
  readonly namespace: string;
  readonly services: BreakableServices;
  /** As readers call it: without a key, level 1. */
  readonly reader: Api;
  /** As an operator of clearance 5 calls it. */
  readonly operator: Api;
  readonly excuses: Excuses;
  /** Files named after a step of the worker, put here, make it kill or stop itself there. */
  readonly faultsFolder: string;
  sluice: Awaited<ReturnType<typeof createSluice>>;
  /** Pids of a role that run now: two of `worker`. */
  pidsOf(role: 'worker' | 'watcher' | 'api'): Promise<number[]>;
  close(): Promise<void>;
}

export async function createWorld(): Promise<World> {
  const base = await mkdtemp(join(tmpdir(), 'sluice-chaos-'));
  const faultsFolder = join(base, 'faults');
  await mkdir(faultsFolder);
  const services = await startBreakableServices(join(base, 'services'));
  let sluice: World['sluice'] | undefined;
  let second: { pid(): number | undefined; stop(): Promise<void> } | undefined;
  async function close(): Promise<void> {
    await second?.stop();
    await sluice?.down();
    // For whoever looks into a run that failed.
    if (process.env.SLUICE_CHAOS_LOGS !== undefined && sluice !== undefined)
      await cp(join(sluice.data, 'log'), process.env.SLUICE_CHAOS_LOGS, { recursive: true }).catch(() => {});
    await sluice?.close();
    await services.stop();
    await rm(base, { recursive: true, force: true, maxRetries: 5 });
  }
  try {
    const made = await createSluice({
      config: CONFIG,
      services: { redis: services.redis.url, weaviate: services.weaviate.url, model: testServices().model },
      env: { SLUICE_FAULTS: faultsFolder, SLUICE_LOG_LEVEL: process.env.SLUICE_CHAOS_LOG_LEVEL ?? 'info' },
    });
    sluice = made;
    await made.up();
    const created = await made.json<{ key: string }>(
      'key',
      'create',
      '--name',
      'chaos',
      '--clearance',
      '5',
      '--role',
      'operator',
    );
    if (typeof created.key !== 'string') throw new Error(`no key was made: ${JSON.stringify(created)}`);
    made.env.SLUICE_API_KEY = created.key;
    const namespace = (await readFile(join(made.data, 'namespace'), 'utf8')).trim();
    const running = startWorker(
      { ...made.env, SLUICE_NAMESPACE: namespace },
      made.base,
      join(made.data, 'log', 'worker-2.ndjson'),
    );
    second = running;
    return {
      folder: made.folder,
      data: made.data,
      namespace,
      services,
      reader: createApi(made.url),
      operator: createApi(made.url, created.key),
      excuses: createExcuses(),
      faultsFolder,
      sluice: made,
      async pidsOf(role) {
        const runFile = await readRunFile(made.data);
        const pids = runFile?.processes.filter((one) => one.role === role).map((one) => one.pid) ?? [];
        const other = role === 'worker' ? running.pid() : undefined;
        return other === undefined ? pids : [...pids, other];
      },
      close,
    };
  } catch (cause) {
    await close();
    throw cause;
  }
}

/** A second worker beside the instance's own, started again when it ends. */
function startWorker(env: Record<string, string>, cwd: string, log: string) {
  let child: ChildProcess | undefined;
  let stopped = false;
  async function run(): Promise<void> {
    while (!stopped) {
      const output = openSync(log, 'a');
      child = spawn(process.execPath, [WORKER], { env, cwd, stdio: ['ignore', output, output] });
      closeSync(output);
      await once(child, 'exit');
      child = undefined;
      await sleep(300);
    }
  }
  const running = run();
  return {
    pid: () => child?.pid,
    async stop() {
      stopped = true;
      child?.kill('SIGCONT');
      child?.kill('SIGTERM');
      await running;
    },
  };
}
