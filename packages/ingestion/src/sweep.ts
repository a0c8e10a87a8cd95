import { type Clock, type CommitRecord, type Fence, type StoredObject, splitDocId, topCommit } from '@sluice/core';
import { isBetween, readRecords } from './attempt.js';
import type { IngestionDeps } from './deps.js';
import type { Reconciler } from './reconcile.js';
import { isOverLimits } from './settled.js';

export interface Sweeper {
  /** Notes a document whose superseded objects may go once the grace has passed. A hint in memory: the sweep itself decides. */
  note(record: CommitRecord): void;
  start(): void;
  /** Ends after the documents under way. What was noted is found again by the audit. */
  stop(): Promise<void>;
  /** Documents noted and not yet swept. */
  waiting(): number;
  /** Sweeps one document now if its grace has passed. For tests and the audit. */
  sweep(docUuid: string): Promise<SweepResult>;
}

type SweepResult =
  | { result: 'clean' }
  | { result: 'deleted'; objects: number }
  /** The top commit was not seen for a whole grace yet, by this process' own clock. */
  | { result: 'early'; waitMs: number }
  /** The counter is not the top commit's: the document was committed again instead. */
  | { result: 'recommitted' };

/** Documents swept at the same time: a folder that went is hundreds of them, and each costs a few requests that mostly wait. */
const SWEEPS_AT_ONCE = 8;

/** Objects deleted per call: the top commit is read again before each. */
const SLICE = 500;

/**
 * The sweep deletes what no commit names. Its order is the rule: the top commit, then the counter, then the listing; only what was
 * born at or before the top's fence and is not named by it, and only a grace after this process first saw that commit. (Listing before
 * the counter deletes what a writer has just kept; judging by age alone deletes what a sleeping writer is about to name.)
 */
export function createSweeper(deps: IngestionDeps, reconciler: Reconciler): Sweeper {
  /** When this process first saw a document's present top commit, by the monotonic clock. */
  const seen = new Map<string, { commit: string; at: number }>();
  const noted = createSchedule(deps.clock);
  let running: Promise<void> | undefined;
  const stopping = new AbortController();

  async function sweep(documentUuid: string): Promise<SweepResult> {
    const records = await readRecords(deps, documentUuid);
    const top = topCommit(records);
    if (top === undefined) return { result: 'clean' };
    const first = seen.get(documentUuid);
    const at = first?.commit === top.id ? first.at : deps.clock.monotonic();
    seen.set(documentUuid, { commit: top.id, at });
    const waitMs = at + deps.settings.readerGraceMs - deps.clock.monotonic();
    if (waitMs > 0) return { result: 'early', waitMs };

    await deps.onStep?.('sweep', top.doc_id);
    const holds = await deps.fences.holds(documentUuid, fenceOf(top));
    const objects = await deps.store.listObjects(documentUuid);
    const extra = unnamed(objects, top);
    const complete =
      top.chunks === 0 || holds || (await deps.store.countChunks(documentUuid, top.live, top.superseded)) === top.chunks;
    // By the listing, which has also those that no question for the document's records finds.
    const isAmong = objects.some((object) => object.collection === 'commits' && isBetween(object, top));
    const needsCommit = isOverLimits(deps, top) || isAmong;
    if (!holds || needsCommit) {
      if (extra.length === 0 && complete && !needsCommit) return forget(documentUuid);
      return recommit(top);
    }
    const old = extra.filter((object) => object.fence <= top.fence);
    if (old.length > 0) {
      const deleted = await deleteUnnamed(deps, top, old);
      seen.delete(documentUuid);
      return { result: 'deleted', objects: deleted };
    }
    if (extra.length === 0) return forget(documentUuid);
    // Born above the top's fence, though no later one was taken: the fences went back since, as they may after a flush with the clocks
    // set back. A commit with a fence above these objects licenses their delete.
    await deps.fences.take(documentUuid, Math.max(...extra.map((object) => object.fence)));
    return recommit(top);
  }

  async function recommit(top: CommitRecord): Promise<SweepResult> {
    const { source, sourcePath } = splitDocId(top.doc_id);
    await reconciler.reconcile({ source, path: sourcePath, cause: 'scan' }, { recommit: true });
    return { result: 'recommitted' };
  }

  function forget(documentUuid: string): SweepResult {
    seen.delete(documentUuid);
    return { result: 'clean' };
  }

  async function sweepNoted(documentUuid: string, docId: string): Promise<void> {
    const later = (ms: number) => {
      if (!noted.has(documentUuid)) noted.put(documentUuid, docId, ms);
    };
    try {
      const result = await sweep(documentUuid);
      if (result.result === 'early') later(result.waitMs);
    } catch (cause) {
      deps.logger.warn(
        { doc_id: docId, cause: cause instanceof Error ? cause.message : String(cause) },
        'a sweep failed; it is tried again',
      );
      later(Math.max(1_000, deps.settings.readerGraceMs));
    }
  }

  return {
    note(record) {
      const now = deps.clock.monotonic();
      if (seen.get(record.doc_uuid)?.commit !== record.id) seen.set(record.doc_uuid, { commit: record.id, at: now });
      noted.put(record.doc_uuid, record.doc_id, deps.settings.readerGraceMs);
    },
    start() {
      running ??= sweepDue(deps, { noted, sweep: sweepNoted, signal: stopping.signal });
    },
    async stop() {
      stopping.abort();
      await running;
    },
    waiting: () => noted.size(),
    sweep,
  };
}

/** Sweeps the documents that are due, several at a time and each once at a time, until the signal. */
async function sweepDue(
  { clock, settings }: Pick<IngestionDeps, 'clock' | 'settings'>,
  to: { noted: Schedule; sweep(documentUuid: string, docId: string): Promise<void>; signal: AbortSignal },
): Promise<void> {
  const { noted, signal } = to;
  const active = new Map<string, Promise<void>>();
  while (!signal.aborted) {
    const next = active.size < SWEEPS_AT_ONCE ? noted.take() : undefined;
    if (next !== undefined) {
      const { documentUuid, docId } = next;
      // Noted again while it is swept.
      if (active.has(documentUuid)) noted.put(documentUuid, docId, 1_000);
      else
        active.set(
          documentUuid,
          to.sweep(documentUuid, docId).finally(() => active.delete(documentUuid)),
        );
    } else if (active.size === SWEEPS_AT_ONCE) await Promise.race(active.values());
    else await clock.sleep(Math.min(500, Math.max(20, settings.readerGraceMs / 4)), signal).catch(() => {});
  }
  await Promise.all(active.values());
}

/** @returns the number deleted */
async function deleteUnnamed(deps: IngestionDeps, top: CommitRecord, objects: readonly StoredObject[]): Promise<number> {
  // Chunks and pages first, commits last: a commit that is gone while its chunks are not would leave them unexplained.
  const ordered = [...objects].sort((a, b) => Number(a.collection === 'commits') - Number(b.collection === 'commits'));
  let deleted = 0;
  for (let at = 0; at < ordered.length; at += SLICE) {
    const now = topCommit(await readRecords(deps, top.doc_uuid));
    const slice = ordered.slice(at, at + SLICE);
    const going = now === undefined ? slice : unnamed(slice, now);
    await deps.onStep?.('delete', top.doc_id);
    await deps.store.deleteObjects(going);
    await deps.onStep?.('deleted', top.doc_id);
    deleted += going.length;
  }
  return deleted;
}

type Schedule = ReturnType<typeof createSchedule>;

/** Documents, each once, in the order in which they are due: who is put again goes to the end. */
function createSchedule(clock: Pick<Clock, 'monotonic'>) {
  const entries = new Map<string, { docId: string; due: number }>();
  return {
    has: (documentUuid: string) => entries.has(documentUuid),
    size: () => entries.size,
    put(documentUuid: string, docId: string, ms: number): void {
      entries.delete(documentUuid);
      entries.set(documentUuid, { docId, due: clock.monotonic() + ms });
    },
    /** The first, if it is due. */
    take(): { documentUuid: string; docId: string } | undefined {
      const [first] = entries;
      if (first === undefined || first[1].due > clock.monotonic()) return undefined;
      entries.delete(first[0]);
      return { documentUuid: first[0], docId: first[1].docId };
    },
  };
}

function fenceOf(record: CommitRecord): Fence {
  return { value: record.fence, attempt: record.attempt };
}

/**
 * The objects of a document that its top commit does not name. The top commit itself is named; so is a tombstone, which goes last, alone.
 * Records between the top's base and the top stay as well: one of them may have raised the level of a document whose top was written from an
 * older disk, and readers are held to it until a later commit has that top for its base.
 */
export function unnamed<T extends StoredObject>(objects: readonly T[], top: CommitRecord): T[] {
  const live = new Set(top.live);
  const superseded = new Set(top.superseded);
  const pages = new Set(top.pages);
  const isNamed: Record<StoredObject['collection'], (object: StoredObject) => boolean> = {
    chunks: (object) => live.has(object.attempt) && !superseded.has(object.id),
    pages: (object) => pages.has(object.id),
    commits: (object) => object.id === top.id || isBetween(object, top),
  };
  return objects.filter((object) => !isNamed[object.collection](object));
}
