import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { chmod, chown, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readRunFile } from '@sluice/launcher';
import { testServices } from '@sluice/testkit';
import { createSluice } from '../support/sluice.js';
import { type Api, createApi } from './api.js';
import { createExcuses, type Excuses } from './excuses.js';
import { mayMount, mountSmall, otherUser, type User, unmount } from './machine.js';
import { type BreakableServices, startBreakableServices } from './services.js';

const WORKER = fileURLToPath(new URL('../../apps/worker/dist/main.js', import.meta.url));
const WATCHER = fileURLToPath(new URL('../../apps/watcher/dist/main.js', import.meta.url));
const SHIFTED_CLOCK = fileURLToPath(new URL('./shifted-clock.cjs', import.meta.url));

/** Sizes of the file systems of their own that the data folder and the services' data get, where they may be mounted. */
const DATA_MB = 96;
const SERVICES_MB = 1_500;

/** Milliseconds a worker must be silent before others take its jobs over; a stopped one stays stopped for longer than both. */
export const LOCK_MS = 3_000;
export const STALLED_MS = 1_500;
export const GRACE_MS = 5_000;
/** Milliseconds after which another watcher takes over from one that is silent. */
export const LEAD_MS = 10_000;

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
  /** Folder of the services' data. */
  readonly servicesFolder: string;
  /** Whether the data folder and the services' data are file systems of their own. */
  readonly mounted: boolean;
  /** Whom the apps run as, where that is not the user of the harness. */
  readonly user: User | undefined;
  /** Sets the apps' wall clock off by so many milliseconds. */
  shiftClock(ms: number): Promise<void>;
  sluice: Awaited<ReturnType<typeof createSluice>>;
  /** Starts a second watcher, with a data folder of its own, until it is stopped. */
  startWatcher(): Promise<{ stop(): Promise<void> }>;
  /** Pids of a role that run now: two of `worker`. */
  pidsOf(role: 'worker' | 'watcher' | 'api'): Promise<number[]>;
  close(): Promise<void>;
}

export async function createWorld(): Promise<World> {
  const base = await mkdtemp(join(tmpdir(), 'sluice-chaos-'));
  await chmod(base, 0o755);
  const faultsFolder = join(base, 'faults');
  const servicesFolder = join(base, 'services');
  const clockFile = join(base, 'clock');
  const clockScript = join(base, 'shifted-clock.cjs');
  const given = testServices().model;
  // The folder as well: a test run's own folder is closed to others.
  const user = await otherUser([WORKER, process.execPath, base]);
  const mounted = user !== undefined && mayMount();
  const own = async (path: string) => (user === undefined ? undefined : chown(path, user.uid, user.gid));
  // The cache of the user of the harness is mostly closed to others.
  const model = user === undefined ? given : join(base, 'model');
  if (user !== undefined) {
    await cp(given, model, { recursive: true, dereference: true });
    await chmod(model, 0o755);
  }
  await mkdir(faultsFolder);
  await own(faultsFolder);
  await cp(SHIFTED_CLOCK, clockScript);
  await chmod(clockScript, 0o644);
  if (mounted) await mountSmall(servicesFolder, SERVICES_MB);
  const services = await startBreakableServices(servicesFolder);
  let sluice: World['sluice'] | undefined;
  let second: { pid(): number | undefined; stop(): Promise<void> } | undefined;
  async function close(): Promise<void> {
    await second?.stop();
    await sluice?.down();
    // For whoever looks into a run that failed.
    const logs = process.env.SLUICE_CHAOS_LOGS;
    if (logs !== undefined && sluice !== undefined) {
      await cp(join(sluice.data, 'log'), logs, { recursive: true }).catch(() => {});
      await cp(join(base, 'worker-2.ndjson'), join(logs, 'worker-2.ndjson')).catch(() => {});
    }
    if (mounted && sluice !== undefined) await unmount(sluice.data);
    await sluice?.close();
    await services.stop();
    if (mounted) await unmount(servicesFolder);
    await rm(base, { recursive: true, force: true, maxRetries: 5 });
  }
  try {
    const made = await createSluice({
      config: CONFIG,
      services: { redis: services.redis.url, weaviate: services.weaviate.url, model },
      env: {
        SLUICE_FAULTS: faultsFolder,
        SLUICE_LOG_LEVEL: process.env.SLUICE_CHAOS_LOG_LEVEL ?? 'info',
        SLUICE_CHAOS_CLOCK: clockFile,
        NODE_OPTIONS: `--require=${clockScript}`,
        ...(user === undefined ? {} : { HOME: base }),
      },
      ...(user === undefined ? {} : { user }),
      async prepare(folders) {
        await chmod(folders.base, 0o755);
        if (mounted) await mountSmall(folders.data, DATA_MB);
        for (const path of [folders.base, folders.folder, ...(mounted ? [folders.data] : [])]) await own(path);
      },
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
    /** A process beside the instance's own, with a data folder of its own, as on another machine. */
    async function startBeside(script: string, name: string) {
      const data = join(base, name);
      await mkdir(data, { recursive: true });
      await own(data);
      const env = { ...made.env, SLUICE_NAMESPACE: namespace, SLUICE_DATA: data };
      return startProcess(script, env, made.base, join(base, `${name}.ndjson`), user);
    }
    const running = await startBeside(WORKER, 'worker-2');
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
      servicesFolder,
      mounted,
      user,
      startWatcher: () => startBeside(WATCHER, 'watcher-2'),
      // Read by each process at its own times.
      shiftClock: (ms) => writeFile(clockFile, String(ms)),
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

/** Started again when it ends. */
function startProcess(script: string, env: Record<string, string>, cwd: string, log: string, user: User | undefined) {
  let child: ChildProcess | undefined;
  let stopped = false;
  async function run(): Promise<void> {
    while (!stopped) {
      const output = openSync(log, 'a');
      child = spawn(process.execPath, [script], { env, cwd, stdio: ['ignore', output, output], ...user });
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
