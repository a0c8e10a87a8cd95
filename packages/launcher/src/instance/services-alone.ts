import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { VERSION } from '@sluice/core';
import { type ServiceRecord, stopService } from '../services/service.js';
import { processRef } from '../system/processes.js';
import type { Environment, Workplace } from '../system/workplace.js';
import { readRunFile, runningSupervisor, writeRunFile } from './run-file.js';
import { startServices } from './start-services.js';
import { stopInstance } from './stop-instance.js';

export interface ServicesAlone {
  redis: ServiceRecord;
  weaviate: ServiceRecord;
  stop(): Promise<void>;
}

/**
 * A Redis and a Weaviate without the apps, for a test run, whose tests know addresses alone: they ask for no credentials. They are recorded in a run file of this process, so that
 * {@link reclaimFolders} can end them when it is killed. When one does not start the other is stopped, too.
 */
export async function startServicesAlone(options: { dataFolder: string; workplace: Workplace }): Promise<ServicesAlone> {
  const { dataFolder, workplace } = options;
  const running = new Map<string, ServiceRecord>();
  const self = processRef(process.pid) ?? { pid: process.pid };
  const startedAt = new Date().toISOString();
  let writing: Promise<void> = Promise.resolve();

  async function stop(): Promise<void> {
    await writing;
    const services = [...running.values()];
    await Promise.all(services.map((service) => stopService(service, workplace.env, { deadlineMs: 5_000 })));
    running.clear();
  }

  try {
    const services = await startServices({
      previous: undefined,
      credentials: undefined,
      dataFolder,
      workplace,
      onService(service) {
        running.set(service.role, service);
        const processes = [{ role: 'supervisor', ...self, restarts: 0 }];
        const content = {
          version: VERSION,
          state: 'ready' as const,
          startedAt,
          processes,
          services: Object.fromEntries(running),
          api: '',
        };
        writing = writing.then(() => writeRunFile(dataFolder, content));
      },
    });
    return { ...services, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Folders of a data folder that hold none themselves, and many files. */
const NO_DATA_FOLDERS = new Set(['redis', 'weaviate', 'log', 'metrics', 'node_modules']);

/**
 * Stops every instance whose data folder lies below a folder, its supervisor running or not: what tests that were broken off have
 * left. Yields the data folders where something had to be ended.
 */
export async function stopInstancesBelow(parent: string, env: Environment): Promise<string[]> {
  const ended: string[] = [];
  const waiting = [parent];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      if (!entry.isDirectory() || NO_DATA_FOLDERS.has(entry.name)) continue;
      const path = join(folder, entry.name);
      waiting.push(path);
      if ((await readRunFile(path)) === undefined) continue;
      const result = await stopInstance(path, { env, deadlineMs: 10_000 });
      if (result.outcome !== 'not_running') ended.push(path);
    }
  }
  return ended;
}

/** Ends and removes what killed processes have left in data folders of that prefix. Folders in use are left alone. */
export async function reclaimFolders(parent: string, prefix: string, env: Environment): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    if (!name.startsWith(prefix)) continue;
    const folder = join(parent, name);
    const runFile = await readRunFile(folder);
    if (runFile === undefined || runningSupervisor(runFile) !== undefined) continue;
    await stopInstancesBelow(folder, env);
    await stopInstance(folder, { env });
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
