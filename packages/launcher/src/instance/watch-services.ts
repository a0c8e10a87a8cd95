import type { Clock } from '@sluice/core';
import { isServiceUp, launchService, type ServiceRecord, type ServiceRole } from '../services/service.js';
import type { Workplace } from '../system/workplace.js';
import { createLineCollector, type LineCollector, redisEntry } from './line-collector.js';
import type { Services } from './plan.js';
import { createRotatingLog, type RotatingLog, rotateInPlace } from './rotating-log.js';
import { PROBES } from './start-services.js';
import { BACK_OFF, nextWait } from './supervised-process.js';

export interface ServiceWatchOptions {
  services: Services;
  workplace: Workplace;
  clock: Clock;
  onChange(services: Services): void;
  onExit(role: ServiceRole, line: string): void;
}

export interface ServiceWatch {
  restarts(role: ServiceRole): number;
  /** No further restarts. */
  stop(): void;
  /** Resolves once no start is under way any more. */
  idle(): Promise<void>;
  /** Takes over the last lines of services that have been stopped. */
  closeLogs(): Promise<void>;
}

const EVERY_MS = 500;
/** Asking a container engine costs a command: less often. */
const CONTAINER_EVERY_MS = 5_000;
const LOG_EVERY_MS = 60_000;
const READY_MS = 120_000;

/** Starts a service that has ended again, on its own ports and data. Watched by pid, since a service taken over is no child. */
export function watchServices(options: ServiceWatchOptions): ServiceWatch {
  const { workplace, clock } = options;
  const stopping = new AbortController();
  const counts: Record<ServiceRole, number> = { redis: 0, weaviate: 0 };
  let services = options.services;
  const logs: { log: RotatingLog; collector: LineCollector }[] = [];

  function collectorOf(launch: ServiceRecord['launch']): LineCollector | undefined {
    if (launch?.kind !== 'program' || launch.collectedIn === undefined) return undefined;
    const log = createRotatingLog(launch.collectedIn);
    const collector = createLineCollector(launch.logFile, log, redisEntry);
    logs.push({ log, collector });
    return collector;
  }

  async function watch(role: ServiceRole): Promise<void> {
    let waitMs: number | undefined;
    let upSince = clock.monotonic();
    let logCheckedAt = clock.monotonic();
    const collector = collectorOf(services[role].launch);
    while (!stopping.signal.aborted) {
      const service = services[role];
      const { launch } = service;
      if (launch === undefined) return;
      await clock.sleep(launch.kind === 'container' ? CONTAINER_EVERY_MS : EVERY_MS, stopping.signal);
      // A disk that is full must not end the watch.
      await collector?.collect().catch(() => undefined);
      if (collector === undefined && launch.kind === 'program' && clock.monotonic() - logCheckedAt > LOG_EVERY_MS) {
        logCheckedAt = clock.monotonic();
        await rotateInPlace(launch.logFile).catch(() => undefined);
      }
      if (await isServiceUp(service, workplace.env)) continue;
      waitMs = nextWait(waitMs, clock.monotonic() - upSince, BACK_OFF);
      options.onExit(role, `${role} ended; starting it again in ${(waitMs / 1000).toFixed(2)} s`);
      await clock.sleep(waitMs, stopping.signal);
      counts[role] += 1;
      try {
        const { url, apiKey, via } = service;
        const quiet = { ...workplace, say: () => undefined, signal: stopping.signal };
        const started = await launchService({ role, url, apiKey, via, launch, probe: PROBES[role], readyMs: READY_MS }, quiet);
        services = { ...services, [role]: started };
        options.onChange(services);
      } catch (error) {
        if (!stopping.signal.aborted) options.onExit(role, error instanceof Error ? error.message : String(error));
      }
      upSince = clock.monotonic();
    }
  }

  // A wait that is broken off by stop() ends a watch; nothing else throws.
  const watches = [watch('redis'), watch('weaviate')].map((running) => running.catch(() => undefined));
  return {
    restarts: (role) => counts[role],
    stop: () => stopping.abort(),
    async idle() {
      await Promise.all(watches);
    },
    async closeLogs() {
      for (const { log, collector } of logs.splice(0)) {
        await collector.collect({ last: true }).catch(() => undefined);
        log.close();
      }
    },
  };
}
