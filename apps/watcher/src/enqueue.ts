import type { Clock, ReconcileQueue, ReconcileRequest, Urgency } from '@sluice/core';

/** A delete waits this long before it looks at the disk again, so that an add of the same content elsewhere finds its vectors. */
const DELETE_DELAY_MS = 1000;

/**
 * Puts requests into the queue, adds before deletes. Bulk ones wait while the queue is full, until the signal. Errors: `queue_unavailable`.
 */
export async function enqueue(
  queue: ReconcileQueue,
  requests: readonly { request: ReconcileRequest; gone: boolean }[],
  urgency: Urgency,
  signal?: AbortSignal,
): Promise<void> {
  const options = signal === undefined ? {} : { signal };
  const present = requests.filter(({ gone }) => !gone).map(({ request }) => request);
  const gone = requests.filter((each) => each.gone).map(({ request }) => request);
  if (present.length > 0) await queue.addBulk(present, urgency, options);
  if (gone.length > 0) await queue.addBulk(gone, urgency, { ...options, delayMs: DELETE_DELAY_MS });
}

export interface Batcher<T> {
  add(items: readonly T[]): void;
  /** Items that wait, without those under way. */
  readonly size: number;
  /** Resolves when nothing waits and nothing is under way. */
  idle(): Promise<void>;
}

/** Collects items while a batch is under way, and hands them on in order, one batch at a time. */
export function createBatcher<T>(options: { send(items: T[]): Promise<void>; onError(error: unknown): void }): Batcher<T> {
  let waiting: T[] = [];
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      await options.send(batch).catch(options.onError);
    }
    running = undefined;
  }

  return {
    add(items) {
      waiting.push(...items);
      if (waiting.length > 0) running ??= run();
    },
    get size() {
      return waiting.length;
    },
    async idle() {
      await running;
    },
  };
}

/** Lets a message through once in a while for each key; the others are counted. */
export function createRateLimit(clock: Clock, everyMs: number): (key: string) => { pass: boolean; suppressed: number } {
  const last = new Map<string, { at: number; suppressed: number }>();
  return (key) => {
    const now = clock.monotonic();
    const before = last.get(key);
    if (before !== undefined && now - before.at < everyMs) {
      before.suppressed++;
      return { pass: false, suppressed: before.suppressed };
    }
    last.set(key, { at: now, suppressed: 0 });
    return { pass: true, suppressed: before?.suppressed ?? 0 };
  };
}
