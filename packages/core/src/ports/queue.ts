import type { Cause } from '../documents.js';

/** A reason to make the store agree with the disk for one path. Ids and causes only, never content. */
export interface ReconcileRequest {
  source: string;
  /** Relative to the source's root, forward slashes, on-disk spelling. */
  path: string;
  cause: Cause;
  /** A repair: commit the same state again, or write every chunk again, though nothing on disk changed. */
  force?: 'recommit' | 'rebuild';
}

/** `interactive` (someone just changed the file) overtakes `bulk` (a scan found it). */
export type Urgency = 'interactive' | 'bulk';

/** Where reconcile jobs are put. One job a document at a time; an add while one runs makes it run once more afterwards. */
export interface ReconcileQueue {
  add(request: ReconcileRequest, urgency: Urgency, options?: { delayMs?: number }): Promise<void>;
  /**
   * Adds many. While too many jobs are unfinished, `bulk` requests wait; the signal ends that wait, and what was not added is left out.
   *
   * @param options.delayMs as for add
   */
  addBulk(
    requests: readonly ReconcileRequest[],
    urgency: Urgency,
    options?: { delayMs?: number; signal?: AbortSignal },
  ): Promise<void>;
}

/** The fence of one attempt: larger than every earlier one of its document. */
export interface Fence {
  value: number;
  attempt: string;
}

/** Counter per document that orders attempts; survives nothing (Redis), so a commit's fence is always given as the floor. */
export interface Fences {
  /** Takes the next fence: max(counter, Redis' time in us, this process' clock in us, floor) + 1. */
  take(docUuid: string, floor?: number): Promise<Fence>;
  /** True when the counter still names this very attempt on this very Redis server: what licenses a delete. */
  holds(docUuid: string, fence: Fence): Promise<boolean>;
}
