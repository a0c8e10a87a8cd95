import type { Clock, ReconcileQueue, ReconcileRequest, Urgency } from '@sluice/core';

/** A delete waits this long before it looks at the disk again, so that an add of the same content elsewhere finds its vectors. */
export const DELETE_DELAY_MS = 1000;

/** Requests that are put into the queue at a time where each is a call of its own. */
const AT_ONCE = 100;

/** Puts requests into the queue, adds before deletes. Errors: `queue_unavailable`. */
export async function enqueue(
  queue: ReconcileQueue,
  requests: readonly { request: ReconcileRequest; gone: boolean }[],
  urgency: Urgency,
): Promise<void> {
  const present = requests.filter(({ gone }) => !gone).map(({ request }) => request);
  const gone = requests.filter((each) => each.gone).map(({ request }) => request);
  const [only, ...others] = present;
  if (only !== undefined) {
    if (others.length === 0) await queue.add(only, urgency);
    else await queue.addBulk(present, urgency);
  }
  for (let at = 0; at < gone.length; at += AT_ONCE) {
    await Promise.all(gone.slice(at, at + AT_ONCE).map((request) => queue.add(request, urgency, { delayMs: DELETE_DELAY_MS })));
  }
}

export interface Batcher<T> {
  add(items: readonly T[]): void;
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
