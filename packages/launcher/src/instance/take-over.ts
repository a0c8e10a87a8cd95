import { isProtected, isServiceUp, stopService } from '../services/service.js';
import { isRunning, stopProcess } from '../system/processes.js';
import type { Workplace } from '../system/workplace.js';
import type { RunFile } from './run-file.js';
import { PROBES } from './start-services.js';

const APP_MS = 10_000;
const SERVICE_MS = 5_000;

/**
 * Ends what a killed supervisor has left: its apps always, since nobody reads their output any more, and services that run but do
 * not answer, or that ask for no credentials. Services that answer are left to be taken over.
 */
export async function stopLeftovers(previous: RunFile | undefined, workplace: Workplace): Promise<void> {
  if (previous === undefined) return;
  const services = [previous.services.redis, previous.services.weaviate];
  const ofServices = new Set(services.flatMap((service) => (service?.process === undefined ? [] : [service.process.pid])));
  const apps = previous.processes.filter((entry) => entry.role !== 'supervisor' && !ofServices.has(entry.pid));
  await Promise.all(
    apps.map(async (entry) => {
      if (!isRunning(entry)) return;
      workplace.say(`the ${entry.role} of an instance that was killed still runs (process ${entry.pid}): ending it`);
      await stopProcess(entry, { deadlineMs: APP_MS });
    }),
  );
  await Promise.all(
    services.map(async (service) => {
      if (service?.launch === undefined) return;
      if (!(await isServiceUp(service, workplace.env))) return;
      const answers = await PROBES[service.role](service).then(
        () => true,
        () => false,
      );
      // One that an older version left open is not kept: it would stay open to everybody.
      if (!answers || !isProtected(service)) await stopService(service, workplace.env, { deadlineMs: SERVICE_MS });
    }),
  );
}
