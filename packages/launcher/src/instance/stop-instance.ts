import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { stopService } from '../services/service.js';
import { isRunning, stopProcess } from '../system/processes.js';
import type { Environment } from '../system/workplace.js';
import { readRunFile, removeRunFile, runningSupervisor } from './run-file.js';

export interface StopInstanceOptions {
  /** For container engines. */
  env: Environment;
  /** How long the supervisor may take to end everything. Default 60 s. */
  deadlineMs?: number;
}

export type StopResult =
  /** Nothing ran on this data folder. */
  | { outcome: 'not_running' }
  /** The supervisor ended all in their order. */
  | { outcome: 'stopped'; pid: number }
  /** What a killed supervisor had left, or what did not end in time, was ended. */
  | { outcome: 'cleaned'; pids: number[] };

/** Stops the instance of a data folder, from another process: the whole of `sluice down`. */
export async function stopInstance(dataFolder: string, options: StopInstanceOptions): Promise<StopResult> {
  const runFile = await readRunFile(dataFolder);
  if (runFile === undefined) return { outcome: 'not_running' };
  const supervisor = runningSupervisor(runFile);
  if (supervisor !== undefined) {
    await stopProcess(supervisor, { deadlineMs: options.deadlineMs ?? 60_000 });
    // The last thing that a supervisor does is to take its file away. One that was killed while it ended has not.
    if ((await readRunFile(dataFolder)) === undefined) return { outcome: 'stopped', pid: supervisor.pid };
  }
  // The newest file: a supervisor that did not end may have restarted processes meanwhile.
  const last = (await readRunFile(dataFolder)) ?? runFile;
  const services = [last.services.redis, last.services.weaviate].filter((service) => service !== undefined);
  const ofServices = new Set(services.map((service) => service.process?.pid));
  const pids: number[] = [];
  for (const entry of last.processes) {
    if (entry.role === 'supervisor' || ofServices.has(entry.pid) || !isRunning(entry)) continue;
    pids.push(entry.pid);
    await stopProcess(entry, { deadlineMs: 10_000 });
  }
  for (const service of services) {
    if (service.process !== undefined && isRunning(service.process)) pids.push(service.process.pid);
    await stopService(service, options.env, { deadlineMs: 10_000 });
  }
  await removeRunFile(dataFolder);
  await rm(join(dataFolder, 'instance.lock'), { force: true });
  return pids.length === 0 && supervisor === undefined ? { outcome: 'not_running' } : { outcome: 'cleaned', pids };
}
