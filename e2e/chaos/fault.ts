import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from './random.js';
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

/** Injects the fault, holds it for its time, and repairs it. Yields what was done, or undefined where it did not come about. */
type Fault = () => Promise<string | readonly string[] | undefined>;
export type Faults = Record<string, Fault>;

/** What the families of faults share. */
export interface FaultTools extends FaultOptions {
  /** Errors of the API are excused from now until the work is done and the API answers a search again. */
  excused<T>(why: string, work: () => Promise<T>): Promise<T>;
  kill(role: 'worker' | 'watcher' | 'api', how?: (pid: number) => Promise<boolean>): Promise<boolean>;
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
