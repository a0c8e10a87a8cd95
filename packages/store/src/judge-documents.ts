import { type Clock, type SearchRequest, topCommit } from '@sluice/core';
import type { RawHit } from './fusion.js';
import type { RecordHead } from './record-codec.js';
import type { SeenCommits } from './seen-commits.js';
import type { Pins, VisibleSearchDeps } from './visible-search-deps.js';

/** What is known of a document whose commits were read. */
export interface Known {
  head: RecordHead | undefined;
  /** Attempts whose chunks the caller may be shown. */
  live: readonly string[];
  superseded: ReadonlySet<string>;
  /** The commit existed before the search began that found its document. */
  believed: boolean;
}

/** A moment by both clocks, milliseconds. */
interface Moment {
  wall: number;
  monotonic: number;
}

export interface JudgeDeps extends Pick<VisibleSearchDeps, 'headsOf' | 'createdOf' | 'graceMs' | 'skewMs'> {
  clock: Clock;
  seen: SeenCommits;
  /** False, for tests: a commit that may have landed during the search is believed. */
  checkAge: boolean;
}

/** Reads and judges the commits of hits as they come in; once a document, and never those in `known`, to which it adds. */
export function createJudge(deps: JudgeDeps, request: SearchRequest, known: Map<string, Known>) {
  const began: Moment = { wall: deps.clock.now(), monotonic: deps.clock.monotonic() };
  const asked = new Set<string>();
  const reads: Promise<void>[] = [];
  return {
    read(hits: readonly RawHit[]): void {
      const fresh = [...new Set(hits.map((hit) => hit.doc_uuid))].filter((docUuid) => !known.has(docUuid) && !asked.has(docUuid));
      if (fresh.length === 0) return;
      for (const docUuid of fresh) asked.add(docUuid);
      const read = judgeAll(deps, { docUuids: fresh, request, began }).then((judged) => {
        for (const [docUuid, document] of judged) known.set(docUuid, document);
      });
      // It is awaited below, unless the search itself fails first.
      read.catch(() => {});
      reads.push(read);
    },
    /** The documents asked for, once all of them are judged. */
    async done(): Promise<string[]> {
      await Promise.all(reads);
      return [...asked];
    },
  };
}

/** Reads the commits of documents and says of each what of it may be shown. */
async function judgeAll(
  { headsOf, createdOf, clock, seen, checkAge, graceMs, skewMs }: JudgeDeps,
  { docUuids, request, began }: { docUuids: readonly string[]; request: SearchRequest; began: Moment },
): Promise<Map<string, Known>> {
  const heads = await headsOf(docUuids);
  const moment = clock.monotonic();
  const judged = new Map<string, Known>();
  const unseen: RecordHead[] = [];
  for (const docUuid of docUuids) {
    const records = heads.get(docUuid) ?? [];
    const top = topCommit(records);
    if (top === undefined) {
      judged.set(docUuid, { head: undefined, live: [], superseded: new Set(), believed: false });
      continue;
    }
    const believed = !checkAge || seen.seenBy(top, began.monotonic);
    if (!believed) unseen.push(top);
    seen.note(top, moment);
    const live = maySee(top, records, request) ? top.live : [];
    judged.set(docUuid, { head: top, live, superseded: new Set(top.superseded), believed });
  }
  if (unseen.length === 0) return judged;
  const created = await createdOf(unseen.map((head) => head.id));
  for (const head of unseen) {
    const document = judged.get(head.doc_uuid);
    const age = began.wall - (created.get(head.id) ?? Number.POSITIVE_INFINITY);
    if (document !== undefined) document.believed = age > graceMs + skewMs;
  }
  return judged;
}

/**
 * Fence order is not disk order: an attempt that read the disk before a level was raised may commit after the one that raised it. Until its
 * writer has looked again, clearance is needed for what lies between the top's base and the top too, and for a status record above it.
 */
function maySee(top: RecordHead, records: readonly RecordHead[], request: SearchRequest): boolean {
  return records.every((record) => record.fence <= top.base_fence || request.mayAccess(record)) && request.mayAccess(top);
}

/** Without the hits that are known to be dead. */
export function liveOf(hits: readonly RawHit[], known: ReadonlyMap<string, Known>): RawHit[] {
  return hits.filter((hit) => {
    const document = known.get(hit.doc_uuid);
    return document === undefined || (document.live.includes(hit.rev) && !document.superseded.has(hit.id));
  });
}

/** @param closed nothing but these documents is searched */
export function pinsOf(known: ReadonlyMap<string, Known>, closed: boolean): Pins {
  const superseded = new Set<string>();
  const revs = new Map<string, readonly string[]>();
  for (const [docUuid, document] of known) {
    revs.set(docUuid, document.live);
    if (document.live.length > 0) for (const id of document.superseded) superseded.add(id);
  }
  return { revs, superseded, closed };
}
