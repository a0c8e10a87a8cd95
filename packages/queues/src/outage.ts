import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@sluice/telemetry';

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;

/** Whether a service that every job needs is away, and the wait until it is back. */
export interface Outage {
  /** Asks the service, unless it is known to be away; true when it is. */
  confirm(): Promise<boolean>;
  readonly since: number | undefined;
  stop(): void;
}

/**
 * While the service is away jobs are held instead of failed: `hold` is called once, then the service is asked with growing, jittered
 * pauses, then `release` once.
 */
export function createOutage(options: {
  probe: () => Promise<void>;
  hold: () => Promise<void>;
  release: () => void;
  logger?: Logger;
  firstWaitMs?: number;
}): Outage {
  const { probe, hold, release, logger, firstWaitMs = FIRST_WAIT_MS } = options;
  const stopped = new AbortController();
  let since: number | undefined;
  let asking: Promise<boolean> | undefined;

  async function ask(): Promise<boolean> {
    try {
      await probe();
      return false;
    } catch (error) {
      if (since === undefined) {
        since = Date.now();
        logger?.warn({ err: error }, 'the store is away: jobs are held until it answers');
        await hold();
        void waitForEnd();
      }
      return true;
    }
  }

  async function waitForEnd(): Promise<void> {
    try {
      for (let wait = firstWaitMs; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
        await sleep(wait * (0.75 + Math.random() / 2), undefined, { signal: stopped.signal });
        const back = await probe().then(
          () => true,
          () => false,
        );
        if (back) break;
      }
      logger?.info({ seconds: (Date.now() - (since ?? 0)) / 1000 }, 'the store answers again');
      since = undefined;
      release();
    } catch {
      // Stopped: nothing is released, since the worker is closing.
    }
  }

  return {
    confirm() {
      if (since !== undefined) return Promise.resolve(true);
      asking ??= ask().finally(() => {
        asking = undefined;
      });
      return asking;
    },
    get since() {
      return since;
    },
    stop: () => stopped.abort(),
  };
}
