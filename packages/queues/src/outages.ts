import type { ErrorCode } from '@sluice/core';
import type { Logger } from '@sluice/telemetry';
import { createOutage, type Outage } from './outage.js';

/** A service that every job needs, and the code of the fault that it is away. */
interface Service {
  code: ErrorCode;
  service: string;
  /** Rejects while it does not answer. Without one it is never found to be away. */
  probe: (() => Promise<void>) | undefined;
}

export interface Outages {
  /** Called with a fault; as Outage.confirm where a service is known for its code. */
  confirm(code: ErrorCode, document: string): ReturnType<Outage['confirm']>;
  worked(): void;
  /** Unix milliseconds since which the first of those that are away is so. */
  readonly since: number | undefined;
  stop(): void;
}

/** The outages of several services: jobs are held while any of them is away. */
export function createOutages(
  services: readonly Service[],
  options: { hold: () => Promise<void>; release: () => void; logger?: Logger; firstWaitMs?: number },
): Outages {
  const outages = new Map<ErrorCode, Outage>();
  const sinceMs = () => [...outages.values()].flatMap(({ since }) => since ?? []);
  for (const { code, service, probe } of services) {
    if (probe === undefined) continue;
    const release = () => {
      if (sinceMs().length === 0) options.release();
    };
    outages.set(code, createOutage({ ...options, service, probe, release }));
  }
  return {
    confirm: async (code, document) => outages.get(code)?.confirm(document),
    worked() {
      for (const outage of outages.values()) outage.worked();
    },
    get since() {
      const since = sinceMs();
      return since.length === 0 ? undefined : Math.min(...since);
    },
    stop() {
      for (const outage of outages.values()) outage.stop();
    },
  };
}
