import type { Clock, ReconcileQueue } from '@sluice/core';
import type { Change } from '@sluice/sources';
import { createBatcher, enqueue } from './enqueue.js';

/** Queues what events report of one source: an edit ahead of what scans found, a mass of changes behind it. */
export interface ChangeQueue {
  /** One change a path. Waits for no room in the queue. Errors: `queue_unavailable`. */
  put(changes: readonly Change[]): Promise<void>;
  /** Resolves when nothing is under way; what waits for room is left to the scan of the next start. */
  stop(): Promise<void>;
}

interface Told {
  path: string;
  /** `rename`: the old place of what was moved. */
  cause: Change['cause'] | 'rename';
}

/** Changes of one kind in a row that are queued as interactive, and the time after which it may be one more. */
const INTERACTIVE = 100;
const ONE_MORE_MS = 100;
/** A moved folder is told as gone at first and as new a moment later, when its files have been still: how long that takes besides, ms. */
const MOVE_MS = 1500;
/** Changes that wait for room in the queue before further ones are left to a scan: bounds memory. */
const MAX_WAITING = 5000;

export function createChangeQueue(options: {
  queue: ReconcileQueue;
  clock: Clock;
  source: string;
  /** How long a new file must be still before it is told, ms. */
  stabilityMs: number;
  /** Changes were not queued: a scan must find them. With an error when the queue failed, else it is full. */
  onLeftToScan(error?: unknown): void;
}): ChangeQueue {
  const { queue, clock, source, onLeftToScan } = options;
  const moveMs = MOVE_MS + options.stabilityMs;
  const stopping = new AbortController();
  const adds = createAllowance(clock);
  const edits = createAllowance(clock);
  const removals = createAllowance(clock);

  // Apart from the others, since it waits while the queue is full.
  const mass = createBatcher<Told>({
    async send(changes) {
      await enqueue(queue, changes.map(toRequest), 'bulk', stopping.signal);
      if (leftOut) onLeftToScan();
      leftOut = false;
    },
    onError(error) {
      if (!stopping.signal.aborted) onLeftToScan(error);
      leftOut = false;
    },
  });
  /** A mass of removals that may be half of a move. */
  let held: Change[] = [];
  let holding: Promise<void> | undefined;
  /** When adds were a mass last. */
  let massAt = Number.NEGATIVE_INFINITY;
  /** Changes were left to a scan. It is asked for when there is room, since it would wait too. */
  let leftOut = false;

  function toRequest({ path, cause }: Told) {
    return { request: { source, path, cause }, gone: cause === 'unlink' || cause === 'rename' };
  }

  function putMass(changes: readonly Told[]): void {
    if (changes.length > 0 && mass.size > MAX_WAITING) leftOut = true;
    else mass.add(changes);
  }

  /**
   * A few removals are urgent, and a mass of them takes turns with what waits, since what is gone must not go on answering. Only what a
   * moved folder held must not go from its old place long before it is in the new one: with a mass of adds it goes behind them.
   */
  async function putRemovals(gone: readonly Change[]): Promise<void> {
    if (removals.take(gone.length)) return enqueue(queue, gone.map(toRequest), 'interactive');
    held.push(...gone);
    holding ??= clock
      .sleep(moveMs, stopping.signal)
      .then(() => {
        const all = held;
        held = [];
        holding = undefined;
        const isMove = clock.monotonic() - massAt < 2 * moveMs;
        putMass(isMove ? all.map(({ path }) => ({ path, cause: 'rename' })) : all);
      })
      .catch((error: unknown) => {
        if (!stopping.signal.aborted) onLeftToScan(error);
      });
  }

  return {
    async put(changes) {
      const of = (wanted: Change['cause']) => changes.filter(({ cause }) => cause === wanted);
      const [added, changed, gone] = [of('add'), of('change'), of('unlink')];
      // Each kind by itself, so that an edit is not behind the copying of a folder that goes on at the same time.
      const addsAreFew = adds.take(added.length);
      const editsAreFew = edits.take(changed.length);
      if (!addsAreFew) massAt = clock.monotonic();
      putMass([...(addsAreFew ? [] : added), ...(editsAreFew ? [] : changed)]);
      await putRemovals(gone);
      await enqueue(queue, [...(addsAreFew ? added : []), ...(editsAreFew ? changed : [])].map(toRequest), 'interactive');
    },
    async stop() {
      stopping.abort(new Error('stopped'));
      await holding;
      await mass.idle();
    },
  };
}

/** A token bucket (Turner 1986) of changes that may be interactive. */
function createAllowance(clock: Clock): { take(count: number): boolean } {
  let tokens = INTERACTIVE;
  let at = clock.monotonic();
  return {
    take(count) {
      const now = clock.monotonic();
      tokens = Math.min(INTERACTIVE, tokens + (now - at) / ONE_MORE_MS);
      at = now;
      if (count > tokens) return false;
      tokens -= count;
      return true;
    },
  };
}
