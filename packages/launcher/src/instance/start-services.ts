import type { Credentials } from '../services/credentials.js';
import { obtainRedis, probeRedis } from '../services/redis.js';
import { isServiceUp, NAMES, type Probe, type ServiceRecord, type ServiceRole } from '../services/service.js';
import { obtainWeaviate, probeWeaviate } from '../services/weaviate.js';
import type { Workplace } from '../system/workplace.js';
import type { RunFile } from './run-file.js';

export const PROBES: Record<ServiceRole, Probe> = { redis: probeRedis, weaviate: probeWeaviate };

export interface ServicesOptions {
  /** The run file found at the start, of an instance that has ended. */
  previous: RunFile | undefined;
  dataFolder: string;
  /** What the services ask of their callers; undefined: nothing, as in a test run. */
  credentials: Credentials | undefined;
  workplace: Workplace;
  /** Called with each service as soon as it runs, and again once it is ready: so it is known even when the start is broken off. */
  onService(service: ServiceRecord): void;
}

/** Redis and Weaviate at once, each taken over when it still runs and answers, else found or installed, and started. */
export async function startServices(options: ServicesOptions): Promise<{ redis: ServiceRecord; weaviate: ServiceRecord }> {
  const { dataFolder, workplace, previous, credentials } = options;
  async function obtain(
    role: ServiceRole,
    given: string | undefined,
    start: () => Promise<ServiceRecord>,
  ): Promise<ServiceRecord> {
    const service = (given === undefined || given === '' ? await adopt(previous?.services[role]) : undefined) ?? (await start());
    options.onService(service);
    return service;
  }

  async function adopt(service: ServiceRecord | undefined): Promise<ServiceRecord | undefined> {
    if (service?.launch === undefined) return undefined;
    if (!(await isServiceUp(service, workplace.env))) return undefined;
    try {
      await PROBES[service.role](service);
      workplace.say(`${NAMES[service.role]}: still runs since the last start; taken over`);
      return service;
    } catch {
      return undefined;
    }
  }

  const how = { dataFolder, credentials, onSpawn: options.onService };
  const results = await Promise.allSettled([
    obtain('redis', workplace.env.REDIS_URL, () => obtainRedis(workplace, how)),
    obtain('weaviate', workplace.env.WEAVIATE_URL, () => obtainWeaviate(workplace, how)),
  ]);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  const [redis, weaviate] = results;
  if (redis.status === 'rejected' || weaviate.status === 'rejected') throw new Error('unreachable');
  return { redis: redis.value, weaviate: weaviate.value };
}
