import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SluiceError } from '@sluice/core';
import { runCommand } from '../system/commands.js';
import { isRunning, type ProcessRef, processRef, stopProcess } from '../system/processes.js';
import type { Environment, Workplace } from '../system/workplace.js';

export type ServiceRole = 'redis' | 'weaviate';

export const NAMES: Record<ServiceRole, string> = { redis: 'Redis', weaviate: 'Weaviate' };

/** How to start a program again: kept in run.json, so that a later supervisor can take a running service over. */
interface ProgramLaunch {
  kind: 'program';
  program: string;
  args: string[];
  /** On top of the environment of whoever starts it. */
  env: Record<string, string>;
  cwd: string;
  logFile: string;
  /** Of a program that writes plain lines: the NDJSON log that the supervisor puts them into. */
  collectedIn?: string | undefined;
}

interface ContainerLaunch {
  kind: 'container';
  /** `docker` or `podman`, as found on the PATH. */
  engine: string;
  name: string;
  /** Arguments after `run --detach --name NAME`. */
  args: string[];
}

type Launch = ProgramLaunch | ContainerLaunch;

/** A service in use, as run.json records it. */
export interface ServiceRecord {
  role: ServiceRole;
  /** May hold a password. */
  url: string;
  /** Key of a Weaviate that wants one. */
  apiKey?: string | undefined;
  /** How it was found: `REDIS_URL`, `system`, `package`, ... */
  via: string;
  /** The server's own version. */
  version: string;
  /** Absent for a service that was given by its address: such a one is never started, restarted or stopped. */
  launch?: Launch | undefined;
  /** Of a service that runs as a program. */
  process?: ProcessRef | undefined;
}

/** How a server is asked whether it is ready; yields its version. Throws while it is not. */
export type Probe = (service: Pick<ServiceRecord, 'url' | 'apiKey'>) => Promise<string>;

export interface LaunchOptions {
  role: ServiceRole;
  url: string;
  apiKey?: string | undefined;
  via: string;
  launch: Launch;
  probe: Probe;
  readyMs: number;
  /** Called as soon as it runs, before it is ready: whoever is killed meanwhile must have it on record. */
  onSpawn?: ((service: ServiceRecord) => void) | undefined;
}

/** Starts the program or container, and waits until the probe answers. Error `not_ready` with the end of its log. */
export async function launchService(options: LaunchOptions, workplace: Workplace): Promise<ServiceRecord> {
  const { role, url, apiKey, via, launch, probe } = options;
  const record: Omit<ServiceRecord, 'version'> = { role, url, ...(apiKey === undefined ? {} : { apiKey }), via, launch };
  if (launch.kind === 'program') record.process = await spawnService(launch, workplace.env);
  else await runContainer(launch, workplace.env);
  options.onSpawn?.({ ...record, version: '' });
  try {
    const version = await waitUntilReady({ ...record, version: '' }, probe, options.readyMs, workplace);
    return { ...record, version };
  } catch (error) {
    await stopService({ ...record, version: '' }, workplace.env, { deadlineMs: 2_000 });
    throw error;
  }
}

/** The service lives in a process group of its own and outlives a supervisor that is killed; it logs to its own file. */
async function spawnService(launch: ProgramLaunch, env: Environment): Promise<ProcessRef> {
  await mkdir(dirname(launch.logFile), { recursive: true });
  await mkdir(launch.cwd, { recursive: true });
  const log = openSync(launch.logFile, 'a');
  try {
    const child = spawn(launch.program, launch.args, {
      env: { ...env, ...launch.env },
      cwd: launch.cwd,
      detached: true,
      stdio: ['ignore', log, log],
    });
    const pid = await new Promise<number>((resolve, reject) => {
      child.once('spawn', () => resolve(child.pid ?? 0));
      child.once('error', (error) => {
        reject(new SluiceError('not_ready', `${launch.program} could not be started (${error.message})`, { cause: error }));
      });
    });
    child.unref();
    return processRef(pid) ?? { pid };
  } finally {
    closeSync(log);
  }
}

/** How long an image may take to arrive. */
const PULL_MS = 15 * 60_000;

async function runContainer(launch: ContainerLaunch, env: Environment): Promise<void> {
  await runCommand(launch.engine, ['rm', '--force', launch.name], { env, timeoutMs: 30_000 });
  const args = ['run', '--detach', '--name', launch.name, ...launch.args];
  const result = await runCommand(launch.engine, args, { env, timeoutMs: PULL_MS });
  if (result.code !== 0) {
    const reason = result.stderr.trim().split('\n').at(-1) ?? '';
    throw new SluiceError('not_ready', `${launch.engine} could not run the container (${reason})`);
  }
}

async function waitUntilReady(service: ServiceRecord, probe: Probe, readyMs: number, workplace: Workplace): Promise<string> {
  const began = performance.now();
  let toldAt = began;
  let last = '';
  while (performance.now() - began < readyMs) {
    workplace.signal?.throwIfAborted();
    try {
      return await probe(service);
    } catch (error) {
      last = error instanceof Error ? error.message : String(error);
    }
    if (!(await isServiceUp(service, workplace.env))) {
      throw new SluiceError('not_ready', `${service.role} ended at its start (${await endOfLog(service)})`);
    }
    if (performance.now() - toldAt > 5_000) {
      toldAt = performance.now();
      workplace.say(`${NAMES[service.role]}: starting (${Math.round((toldAt - began) / 1000)} s)`);
    }
    await delay(50);
  }
  throw new SluiceError('not_ready', `${service.role} was not ready after ${readyMs / 1000} s (${last})`);
}

async function endOfLog(service: ServiceRecord): Promise<string> {
  if (service.launch?.kind !== 'program') return 'see the log of its container';
  const { logFile } = service.launch;
  try {
    const handle = await open(logFile, 'r');
    try {
      const { size } = await handle.stat();
      const { buffer, bytesRead } = await handle.read({
        buffer: Buffer.alloc(4096),
        position: Math.max(0, size - 4096),
      });
      const lines = buffer.subarray(0, bytesRead).toString('utf8').trim().split('\n');
      return `${(lines.at(-1) ?? '').slice(0, 300)}; log: ${logFile}`;
    } finally {
      await handle.close();
    }
  } catch {
    return `log: ${logFile}`;
  }
}

/** True while the service's process (or container) runs. A service given by its address is taken to run. */
export async function isServiceUp(service: ServiceRecord, env: Environment): Promise<boolean> {
  if (service.launch === undefined) return true;
  if (service.launch.kind === 'program') return service.process !== undefined && isRunning(service.process);
  const format = '{{.State.Running}}';
  const result = await runCommand(service.launch.engine, ['inspect', '--format', format, service.launch.name], {
    env,
    timeoutMs: 10_000,
  });
  return result.code === 0 && result.stdout.trim() === 'true';
}

/** True for a service that refuses callers without its credentials. */
export function isProtected({ role, url, apiKey }: ServiceRecord): boolean {
  return role === 'redis' ? new URL(url).password !== '' : apiKey !== undefined;
}

/** Stops a service that was started by us, by its pid or its container's name. Others are left alone. */
export async function stopService(
  service: ServiceRecord,
  env: Environment,
  options: { deadlineMs: number; force?: AbortSignal },
): Promise<void> {
  if (service.launch?.kind === 'container') {
    const seconds = String(Math.ceil(options.deadlineMs / 1000));
    await runCommand(service.launch.engine, ['stop', '--time', seconds, service.launch.name], {
      env,
      timeoutMs: options.deadlineMs + 10_000,
    });
    await runCommand(service.launch.engine, ['rm', '--force', service.launch.name], { env, timeoutMs: 30_000 });
  } else if (service.process !== undefined) {
    await stopProcess(service.process, options);
  }
}
