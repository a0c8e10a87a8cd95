import type { Clock, ReconcileQueue } from '@sluice/core';
import type { Change } from '@sluice/sources';
import { createBatcher, enqueue } from './enqueue.js';

/** Queues what events tell of one source: an edit ahead of what scans found, a mass of changes behind it. */
export interface ChangeQueue {
  /** One change a path. Waits for no room in the queue. Errors: `queue_unavailable`. */
  put(changes: readonly Change[]): Promise<void>;
  /** Resolves when nothing is under way; what waits for room is left to the scan of the next start. */
  stop(): Promise<void>;
}

/** Changes of one kind in a row that are queued as interactive, and the time after which it may be one more. */
const INTERACTIVE = 100;
const ONE_MORE_MS = 100;
/** Changes that wait for room in the queue before further ones are left to a scan: bounds memory. */
const MAX_WAITING = 5000;

export function createChangeQueue(options: {
  queue: ReconcileQueue;
  clock: Clock;
  source: string;
  /** Changes were not queued: a scan must find them. With an error when the queue failed, else it is full. */
  onLeftToScan(error?: unknown): void;
}): ChangeQueue {
  const { queue, clock, source, onLeftToScan } = options;
  const stopping = new AbortController();
  const adds = createAllowance(clock);
  const edits = createAllowance(clock);
  const removals = createAllowance(clock);

  // Apart from the others, since it waits while the queue is full.
  const mass = createBatcher<Change>({
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
  /** Changes were left to a scan. It is asked for when there is room, since it would wait too. */
  let leftOut = false;

  function toRequest({ path, cause }: Change) {
    return { request: { source, path, cause }, gone: cause === 'unlink' };
  }

  return {
    async put(changes) {
      const of = (wanted: Change['cause']) => changes.filter(({ cause }) => cause === wanted);
      const [added, changed, gone] = [of('add'), of('change'), of('unlink')];
      // Each kind by itself, so that an edit is not behind the copying of a folder that goes on at the same time.
      const split: [Change[], boolean][] = [
        // What a moved folder held must not go from its old place long before it is in the new one.
        [gone, Math.max(gone.length, added.length) <= adds.left() && removals.take(gone.length)],
        [added, adds.take(added.length)],
        [changed, edits.take(changed.length)],
      ];
      const some = (wanted: boolean) => split.flatMap(([each, interactive]) => (interactive === wanted ? each : []));
      const many = some(false);
      if (many.length > 0 && mass.size > MAX_WAITING) leftOut = true;
      else mass.add(many);
      await enqueue(queue, some(true).map(toRequest), 'interactive');
    },
    async stop() {
      stopping.abort(new Error('stopped'));
      await mass.idle();
    },
  };
}

/** A token bucket (Turner 1986) of changes that may be interactive. */
function createAllowance(clock: Clock): { left(): number; take(count: number): boolean } {
  let tokens = INTERACTIVE;
  let at = clock.monotonic();

  function left(): number {
    const now = clock.monotonic();
    tokens = Math.min(INTERACTIVE, tokens + (now - at) / ONE_MORE_MS);
    at = now;
    return tokens;
  }

  return {
    left,
    take(count) {
      if (count > left()) return false;
      tokens -= count;
      return true;
    },
  };
}
