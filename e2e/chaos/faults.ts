import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Step } from '@sluice/ingestion';
import type { Random } from './random.js';
import { type BreakableService, sendRedis } from './services.js';
import { waitFor } from './wait.js';
import type { Workload } from './workload.js';
import { LOCK_MS, STALLED_MS, type World } from './world.js';

const STEPS = [
  'fence',
  'base',
  'read',
  'parsed',
  'embed',
  'embedded',
  'insert',
  'inserted',
  'manifest',
  'commit',
  'committed',
  'recheck',
  'sweep',
  'delete',
  'deleted',
] as const satisfies Step[];

/** Where a worker that wakes up late could do harm. */
const STOP_STEPS = ['base', 'parsed', 'inserted', 'commit', 'committed', 'delete'] as const satisfies Step[];

export interface FaultOptions {
  world: World;
  workload: Workload;
  random: Random;
  /** How long a service or the root stays away, ms. */
  awayMs: number;
  /** How long Redis stays unreachable, ms. */
  longAwayMs: number;
}

/** Injects the fault, holds it for its time, and mends it. Yields what was done, or undefined where it did not come about. */
export type Fault = () => Promise<string | undefined>;

/** Faults by name. None touches anything but the harness' own processes, services and folders. */
export function createFaults({ world, workload, random, awayMs, longAwayMs }: FaultOptions): Record<string, Fault> {
  const { services, excuses } = world;
  const { redis, weaviate } = services;
  const stopMs = LOCK_MS + STALLED_MS + 2_000;

  async function excused<T>(why: string, work: () => Promise<T>, until: () => Promise<boolean>): Promise<T> {
    excuses.begin(why);
    try {
      return await work();
    } finally {
      // The excuse ends when the API answers a search again.
      await waitFor(until, 60_000, `the API answers after "${why}"`).finally(() => excuses.end(why));
    }
  }

  const answers = () =>
    world.reader.search({ query: 'mark part', mode: 'hybrid', limit: 1 }).then(
      () => true,
      () => false,
    );

  async function kill(role: 'worker' | 'watcher' | 'api'): Promise<string | undefined> {
    const pids = await world.pidsOf(role);
    if (pids.length === 0) return undefined;
    const pid = random.pick(pids);
    const work = async () => {
      if (!sendSignal(pid, 'SIGKILL')) return undefined;
      await waitFor(async () => (await world.pidsOf(role)).some((other) => !pids.includes(other)), 30_000, `a new ${role} runs`);
      return `kill -9 of the ${role}`;
    };
    return role === 'api' ? excused('api killed', work, answers) : work();
  }

  /** Lays a file that makes the next worker which reaches the step act on itself. */
  async function atStep(step: Step, action: 'kill' | 'stop'): Promise<boolean> {
    const file = join(world.faultsFolder, step);
    await writeFile(`${file}.new`, action);
    await rename(`${file}.new`, file);
    try {
      await waitFor(() => !existsSync(file), 15_000, `a worker reaches ${step}`, 20);
      return true;
    } catch {
      await rm(file, { force: true });
      return false;
    }
  }

  let killStep = random.int(0, STEPS.length - 1);
  let stopStep = random.int(0, STOP_STEPS.length - 1);

  async function stopWorker(pid: number, what: string): Promise<string> {
    await sleep(stopMs);
    sendSignal(pid, 'SIGCONT');
    return what;
  }

  async function away(service: BreakableService, mode: 'hang' | 'refuse', what: string, forMs = awayMs): Promise<string> {
    const work = async () => {
      service.proxy.set({ kind: mode });
      await sleep(forMs);
      service.proxy.set({ kind: 'open' });
      return what;
    };
    // Redis holds only work in flight: searches go on without it.
    return service.role === 'weaviate' ? excused(what, work, answers) : work();
  }

  const aside = `${world.folder}.aside`;

  return {
    'worker killed': () => kill('worker'),
    'watcher killed': () => kill('watcher'),
    'api killed': () => kill('api'),
    async 'worker killed at a step'() {
      killStep = (killStep + 1) % STEPS.length;
      const step = STEPS[killStep] ?? 'commit';
      return (await atStep(step, 'kill')) ? `killed at ${step}` : undefined;
    },
    async 'worker stopped at a step'() {
      stopStep = (stopStep + 1) % STOP_STEPS.length;
      const step = STOP_STEPS[stopStep] ?? 'commit';
      if (!(await atStep(step, 'stop'))) return undefined;
      for (let tries = 0; tries < 50; tries += 1) {
        for (const pid of await world.pidsOf('worker'))
          if (await isStopped(pid)) return stopWorker(pid, `stopped at ${step}, continued after its lock was lost`);
        await sleep(20);
      }
      return undefined;
    },
    async 'worker stopped'() {
      const pid = random.pick(await world.pidsOf('worker'));
      return sendSignal(pid, 'SIGSTOP') ? stopWorker(pid, 'stopped for longer than its lock') : undefined;
    },
    async 'redis killed'() {
      await redis.kill();
      await sleep(random.int(0, 1_000));
      await redis.restart();
      return 'kill -9 of Redis, started again';
    },
    async 'redis flushed'() {
      await sendRedis(redis.directUrl, 'FLUSHALL');
      return 'FLUSHALL';
    },
    async 'redis full'() {
      await sendRedis(redis.directUrl, 'CONFIG SET maxmemory 1mb');
      await sleep(awayMs);
      await sendRedis(redis.directUrl, 'CONFIG SET maxmemory 0');
      return 'maxmemory reached (noeviction)';
    },
    'redis unreachable': () => away(redis, 'hang', `Redis unreachable for ${longAwayMs / 1000} s`, longAwayMs),
    'redis refused': () => away(redis, 'refuse', 'Redis refuses connections'),
    async 'redis slow'() {
      redis.proxy.set({ kind: 'slow', delayMs: random.int(20, 200) });
      await sleep(awayMs);
      redis.proxy.set({ kind: 'open' });
      return 'Redis slow';
    },
    'weaviate killed': () =>
      excused(
        'weaviate killed',
        async () => {
          await weaviate.kill();
          await weaviate.restart();
          return 'kill -9 of Weaviate, started again';
        },
        answers,
      ),
    'weaviate unreachable': () => away(weaviate, 'hang', 'Weaviate unreachable'),
    'weaviate refused': () => away(weaviate, 'refuse', 'Weaviate refuses connections'),
    'weaviate slow': () =>
      excused(
        'weaviate slow',
        async () => {
          weaviate.proxy.set({ kind: 'slow', delayMs: random.int(20, 300) });
          await sleep(awayMs);
          weaviate.proxy.set({ kind: 'open' });
          return 'Weaviate slow';
        },
        answers,
      ),
    async 'weaviate read-only'() {
      // The state that the disk threshold sets on every shard.
      await setShards(weaviate.directUrl, 'READONLY');
      await sleep(awayMs);
      await setShards(weaviate.directUrl, 'READY');
      return 'Weaviate read-only';
    },
    'root away': () =>
      workload.hold(async () => {
        await rename(world.folder, aside);
        await sleep(awayMs);
        await rename(aside, world.folder);
        return 'root renamed away and back';
      }),
    'root replaced': () =>
      workload.hold(async () => {
        await rename(world.folder, aside);
        await mkdir(world.folder);
        await sleep(awayMs);
        await rmdir(world.folder);
        await rename(aside, world.folder);
        return 'root replaced by an empty folder and back';
      }),
  };
}

function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

async function isStopped(pid: number): Promise<boolean> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'state=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return stdout.trim().startsWith('T');
}

async function setShards(url: string, status: 'READONLY' | 'READY'): Promise<void> {
  const { classes } = (await (await fetch(`${url}/v1/schema`)).json()) as { classes: { class: string }[] };
  for (const { class: name } of classes) {
    const shards = (await (await fetch(`${url}/v1/schema/${name}/shards`)).json()) as { name: string }[];
    for (const shard of shards) {
      const answer = await fetch(`${url}/v1/schema/${name}/shards/${shard.name}`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ status }),
      });
      if (!answer.ok) throw new Error(`a shard could not be set to ${status}: ${await answer.text()}`);
    }
  }
}
