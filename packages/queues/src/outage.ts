import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@sluice/telemetry';

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;
/** So many different documents refused in a row, with none done in between, are no fault of theirs. */
const REFUSED_IN_A_ROW = 5;

/** Whether a service that every job needs is away, and the wait until it is back. */
export interface Outage {
  /**
   * Called with a document that the service refused. Asks the service, unless it is known to be away: `away`. `storm` when it answers but has
   * refused five different documents in a row, as one without memory does: jobs are held like in an outage. Else the fault is the document's.
   */
  confirm(document: string): Promise<'away' | 'storm' | undefined>;
  /** Called when a document was done. */
  worked(): void;
  readonly since: number | undefined;
  stop(): void;
}

/**
 * While the service is away jobs are held instead of failed: `hold` is called once, then the service is asked with growing, jittered
 * pauses, then `release` once. The pauses go on growing from one outage to the next until a document was done.
 */
export function createOutage(options: {
  /** Name of the service, for the log. */
  service: string;
  probe: () => Promise<void>;
  hold: () => Promise<void>;
  release: () => void;
  logger?: Logger;
  firstWaitMs?: number;
}): Outage {
  const { service, probe, hold, release, logger, firstWaitMs = FIRST_WAIT_MS } = options;
  const stopped = new AbortController();
  const refused = new Set<string>();
  let wait = firstWaitMs;
  let since: number | undefined;
  let kind: 'away' | 'storm' = 'away';
  let asking: Promise<boolean> | undefined;

  async function ask(): Promise<boolean> {
    try {
      await probe();
      return false;
    } catch (error) {
      await begin('away', error, `the ${service} is away: jobs are held until it answers`);
      return true;
    }
  }

  async function begin(what: 'away' | 'storm', error: unknown, message: string): Promise<void> {
    if (since !== undefined) return;
    since = Date.now();
    kind = what;
    logger?.warn({ err: error }, message);
    await hold();
    void waitForEnd();
  }

  async function waitForEnd(): Promise<void> {
    try {
      for (;;) {
        await sleep(wait * (0.75 + Math.random() / 2), undefined, { signal: stopped.signal });
        wait = Math.min(wait * 2, LONGEST_WAIT_MS);
        const back = await probe().then(
          () => true,
          () => false,
        );
        if (back) break;
      }
      logger?.info({ seconds: (Date.now() - (since ?? 0)) / 1000 }, `the ${service} answers again`);
      since = undefined;
      // Counted again, so that documents which it does refuse for good use up their attempts in the end.
      refused.clear();
      release();
    } catch {
      // Stopped: nothing is released, since the worker is closing.
    }
  }

  return {
    async confirm(document) {
      if (since !== undefined) return kind;
      asking ??= ask().finally(() => {
        asking = undefined;
      });
      if (await asking) return kind;
      refused.add(document);
      if (refused.size < REFUSED_IN_A_ROW) return undefined;
      await begin('storm', undefined, `the ${service} answers, but refuses one document after the other: jobs are held`);
      return kind;
    },
    worked() {
      refused.clear();
      wait = firstWaitMs;
    },
    get since() {
      return since;
    },
    stop: () => stopped.abort(),
  };
}
