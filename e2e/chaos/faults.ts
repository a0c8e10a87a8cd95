import { setTimeout as sleep } from 'node:timers/promises';
import { createMachineFaults } from './machine-faults.js';
import { createProcessFaults } from './process-faults.js';
import type { Random } from './random.js';
import { createServiceFaults } from './service-faults.js';
import { waitFor } from './wait.js';
import type { Workload } from './workload.js';
import type { World } from './world.js';

export interface FaultOptions {
  world: World;
  workload: Workload;
  random: Random;
  /** How long a service or the root stays away, ms. */
  awayMs: number;
  /** How long Redis stays unreachable, ms. */
  longAwayMs: number;
  /** Files of the fault "thousands of files at once". */
  flood: number;
  /** Steps of the pipeline that one turn of "killed at a step" goes through: of the worker and the watcher, and of the API. */
  stepsATurn: { short: number; long: number };
}

/** Injects the fault, holds it for its time, and mends it. Yields what was done, or undefined where it did not come about. */
export type Fault = () => Promise<string | readonly string[] | undefined>;
export type Faults = Record<string, Fault>;

/** What the families of faults share. */
export interface FaultTools extends FaultOptions {
  /** Errors of the API are excused from now until the work is done and the API answers a search again. */
  excused<T>(why: string, work: () => Promise<T>): Promise<T>;
  kill(role: 'worker' | 'watcher' | 'api', how?: (pid: number) => Promise<boolean>): Promise<boolean>;
}

/** Faults by name, and those that this machine does not allow. None touches anything but the harness' own processes, services and folders. */
export function createFaults(options: FaultOptions): { faults: Faults; impossible: string[] } {
  const { world, random } = options;
  const { excuses } = world;

  const answers = () =>
    world.reader.search({ query: 'mark part', mode: 'hybrid', limit: 1 }).then(
      () => true,
      () => false,
    );

  async function excused<T>(why: string, work: () => Promise<T>): Promise<T> {
    excuses.begin(why);
    try {
      return await work();
    } finally {
      await waitFor(answers, 60_000, `the API answers after "${why}"`).finally(() => excuses.end(why));
    }
  }

  /** kill -9 of one process of a role, in some way, and waits until another one runs. False where it did not come about. */
  async function kill(
    role: 'worker' | 'watcher' | 'api',
    how: (pid: number) => Promise<boolean> = async (pid) => sendSignal(pid, 'SIGKILL'),
  ): Promise<boolean> {
    const pids = await world.pidsOf(role);
    if (pids.length === 0) return false;
    const work = async () => {
      if (!(await how(random.pick(pids)))) return false;
      await waitFor(async () => (await world.pidsOf(role)).some((other) => !pids.includes(other)), 60_000, `a new ${role} runs`);
      return true;
    };
    return role === 'api' ? excused('api killed', work) : work();
  }

  const tools: FaultTools = { ...options, excused, kill };
  const machine = createMachineFaults(tools);
  return {
    faults: { ...createProcessFaults(tools), ...createServiceFaults(tools), ...machine.faults },
    impossible: machine.impossible,
  };
}

export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** Does something, waits, and undoes it, whatever happens meanwhile. */
export async function holding(forMs: number, begin: () => Promise<unknown>, end: () => Promise<unknown>): Promise<void> {
  try {
    await begin();
    await sleep(forMs);
  } finally {
    await end();
  }
}
