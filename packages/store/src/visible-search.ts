import {
  type Clock,
  type CommitRecord,
  type SearchHit,
  type SearchRequest,
  SluiceError,
  type StoredChunk,
  topCommit,
} from '@sluice/core';
import { type FusedHit, fuse, type RawHit, type RawPool } from './fusion.js';
import type { RecordHead } from './record-codec.js';
import { createSeenCommits, type SeenCommits } from './seen-commits.js';

/** What a search knows of documents it has read the commits of: only these of their chunks may be returned. */
export interface Pins {
  /** Live attempts of each document; none when it has no commit, or one the caller may not see. */
  revs: ReadonlyMap<string, readonly string[]>;
  /** Ids that are live no longer though their attempt is. */
  superseded: ReadonlySet<string>;
  /** True: nothing but pinned documents. */
  closed: boolean;
}

export interface VisibleSearchDeps {
  /**
   * The request's search over what is stored, with `filter AND (document not pinned OR rev pinned) AND NOT superseded`: of each part the best
   * `wanted` hits, or as many as the store can give at once.
   * @param onPart may be called with the hits of a part that ended before the others, so that their commits are read meanwhile
   */
  rawSearch(request: SearchRequest, pins: Pins, wanted: number, onPart?: (hits: readonly RawHit[]) => void): Promise<RawPool>;
  /** Every record of the documents, reduced to what decides on visibility. */
  headsOf(docUuids: readonly string[]): Promise<Map<string, RecordHead[]>>;
  /** Unix milliseconds, by the store's clock, at which it took the records of these ids. Asked only of commits not seen before. */
  createdOf(ids: readonly string[]): Promise<Map<string, number>>;
  /** Whole records of the documents that are shown. */
  recordsOf(docUuids: readonly string[]): Promise<Map<string, CommitRecord[]>>;
  readChunks(ids: readonly string[]): Promise<StoredChunk[]>;
  clock: Clock;
  /** How long superseded chunks stay, milliseconds. 0 (for tests) sets no bound on a search's time. */
  graceMs: number;
  /** How far the store's clock may be from ours, milliseconds. */
  skewMs: number;
  seen?: SeenCommits;
  /** For tests that show what each rule is for. All true unless said. `checkAge`: a commit that may have landed during the search is doubted. */
  rules?: { checkVisibility?: boolean; pinAndRetry?: boolean; checkAge?: boolean };
}

/** Visible hits of each part of a search, whatever its limit: so that the results of a small limit are the first of a large one's. */
const POOL = 100;
/** The most hits asked for beyond the pool. */
const MAX_SPARE = 400;
/** How much further each round looks while the dead crowd out the living. */
const GROWTH = 4;
const MAX_WANTED = 10_000;
const MAX_ROUNDS = 5;
const MAX_STARTS = 4;

/** Thrown inside to begin again: what was read is too old, or went away. */
class Stale extends Error {}

/**
 * The reader's half of the commit protocol (PROTOCOL.md, Reader): a search that returns whole revisions only, though the store's own search is
 * no snapshot. A document's hits are believed only against a commit that existed before the search began. Where that is not known, or a hit
 * turned out to be dead, the commits just read are pinned and the search is made again over exactly what they name.
 */
export function createVisibleSearch(deps: VisibleSearchDeps): (request: SearchRequest) => Promise<SearchHit[]> {
  const { clock } = deps;
  const seen = deps.seen ?? createSeenCommits();
  const checkVisibility = deps.rules?.checkVisibility ?? true;
  const pinAndRetry = deps.rules?.pinAndRetry ?? true;
  const checkAge = deps.rules?.checkAge ?? true;
  /** Hits asked for beyond the pool, since about as many were dropped lately: a second search costs more. */
  let spare = 0;
  const budgetMs = deps.graceMs > 0 ? deps.graceMs / 2 : Number.POSITIVE_INFINITY;

  return async (request) => {
    for (let start = 1; ; start++) {
      try {
        return await searchOnce(request);
      } catch (error) {
        if (!(error instanceof Stale)) throw error;
        if (start === MAX_STARTS) {
          throw new SluiceError(
            'store_unavailable',
            `a search could not be finished within half the reader grace: ${error.message}`,
          );
        }
      }
    }
  };

  async function searchOnce(request: SearchRequest): Promise<SearchHit[]> {
    const known = new Map<string, Known>();
    const size = Math.max(POOL, request.limit);
    // The grace bounds a search too: what is found late in a long one may have been replaced, and its successor have been looked for before it was.
    const began = clock.monotonic();
    let wanted = size + Math.ceil(spare);
    let pool: RawPool;
    let early: Promise<Contents> | undefined;

    for (let round = 1; ; round++) {
      const reader = createReader(request, known);
      const isQuiet = round === 1 && spare === 0 && checkVisibility && pinAndRetry;
      pool = await deps.rawSearch(request, pinsOf(known, round === MAX_ROUNDS), wanted, isQuiet ? undefined : reader.read);
      const all = [...pool.dense, ...pool.keyword];
      const decisive = isQuiet ? decisiveOf(pool, request) : all;
      reader.read(decisive);
      // Mostly all that was found is live: what is to be shown is read while the heads are.
      if (round === 1) early = readEarly(pool, request);
      let fresh = await reader.done();
      const isDoubtful = (docUuid: string) => known.get(docUuid)?.believed !== true;
      if (isQuiet && (fresh.some(isDoubtful) || liveOf(decisive, known).length < decisive.length)) {
        reader.read(all);
        fresh = await reader.done();
      }
      checkTime(began);
      const live = { dense: liveOf(pool.dense, known), keyword: liveOf(pool.keyword, known) };
      const dropped = Math.max(pool.dense.length - live.dense.length, pool.keyword.length - live.keyword.length);
      if (round === 1) adaptSpare(dropped);
      // What is left of a pool is what a search without the dropped hits would have found, if it is a whole pool or was all there is.
      // Dead hits that the sweep deletes while they are loaded leave their places empty: an answer a little short of the limit may be a cut one.
      // A longer search tells: half of its places can't be emptied in the milliseconds that it takes.
      const whole = (['dense', 'keyword'] as const).every(
        (part) => pool[part].length < pool.limit / 2 || live[part].length >= size,
      );
      const doubtful = fresh.some(isDoubtful);
      if (!(doubtful || (dropped > 0 && !whole)) || !pinAndRetry || round === MAX_ROUNDS) break;
      // Thousands of documents may just have been deleted, each with chunks before the living ones: five rounds must get past them.
      if (!whole) wanted = Math.min(wanted * GROWTH, MAX_WANTED);
    }

    const shown = (part: RawHit[]) => (checkVisibility ? liveOf(part, known) : part).slice(0, size);
    const fused = fuse({ dense: shown(pool.dense), keyword: shown(pool.keyword) }, request);
    const hits = await readHits(firstOf(inOrder(fused, known), request.limit), known, early);
    checkTime(began);
    return hits;
  }

  /**
   * The hits that an answer consists of, and those that its scores depend on: while no dead chunk was met lately, their commits alone are read.
   * What the others belong to may be replaced meanwhile; then the answer is that of the moment at which the search began.
   */
  function decisiveOf(pool: RawPool, request: SearchRequest): RawHit[] {
    const fused = fuse(pool, request).sort((a, b) => b.score - a.score);
    const last = fused[request.limit - 1]?.score ?? Number.NEGATIVE_INFINITY;
    const ends = [pool.dense[0], pool.dense.at(-1), pool.keyword[0]];
    return [...fused.filter((hit) => hit.score >= last), ...ends.filter((hit) => hit !== undefined)];
  }

  /** Reads and judges the commits of hits as they come in; once a document, and never those already known. */
  function createReader(request: SearchRequest, known: Map<string, Known>) {
    const began = { wall: clock.now(), monotonic: clock.monotonic() };
    const asked = new Set<string>();
    const reads: Promise<void>[] = [];
    return {
      read(hits: readonly RawHit[]): void {
        const fresh = [...new Set(hits.map((hit) => hit.doc_uuid))].filter(
          (docUuid) => !known.has(docUuid) && !asked.has(docUuid),
        );
        if (fresh.length === 0) return;
        for (const docUuid of fresh) asked.add(docUuid);
        const read = judgeAll(fresh, request, began).then((judged) => {
          for (const [docUuid, document] of judged) known.set(docUuid, document);
        });
        // It is awaited below, unless the search itself fails first.
        read.catch(() => {});
        reads.push(read);
      },
      async done(): Promise<string[]> {
        await Promise.all(reads);
        return [...asked];
      },
    };
  }

  function adaptSpare(dropped: number): void {
    const decayed = spare * 0.95 < 1 ? 0 : spare * 0.95;
    spare = Math.min(MAX_SPARE, Math.max(dropped * 1.5, decayed));
  }

  /** What hits consist of, by id of chunk and of document. */
  interface Contents {
    chunks: Map<string, StoredChunk>;
    records: Map<string, CommitRecord[]>;
  }

  async function readContents(ids: readonly string[], docUuids: readonly string[]): Promise<Contents> {
    const [chunks, records] = await Promise.all([
      ids.length === 0 ? [] : deps.readChunks(ids),
      docUuids.length === 0 ? new Map<string, CommitRecord[]>() : deps.recordsOf(docUuids),
    ]);
    return { chunks: new Map(chunks.map((chunk) => [chunk.id, chunk])), records };
  }

  function readEarly(pool: RawPool, request: SearchRequest): Promise<Contents> {
    const [dense, keyword] = [pool.dense.slice(0, POOL), pool.keyword.slice(0, POOL)];
    const best = inOrder(fuse({ dense, keyword }, request), new Map()).slice(0, request.limit);
    const docUuids = [...new Set(best.map((hit) => hit.doc_uuid))];
    // What fails here is read again when it is needed, and reported then.
    return readContents(
      best.map((hit) => hit.id),
      docUuids,
    ).catch(() => ({ chunks: new Map(), records: new Map() }));
  }

  async function readHits(
    best: readonly FusedHit[],
    known: ReadonlyMap<string, Known>,
    early: Promise<Contents> | undefined,
  ): Promise<SearchHit[]> {
    const { chunks, records } = (await early) ?? {
      chunks: new Map<string, StoredChunk>(),
      records: new Map<string, CommitRecord[]>(),
    };
    const commitOf = (hit: FusedHit) => {
      const id = known.get(hit.doc_uuid)?.head?.id;
      return records.get(hit.doc_uuid)?.find((record) => record.id === id);
    };
    const missing = best.filter((hit) => !chunks.has(hit.id)).map((hit) => hit.id);
    const unread = best.filter((hit) => commitOf(hit) === undefined).map((hit) => hit.doc_uuid);
    const more = await readContents(missing, [...new Set(unread)]);
    for (const [id, chunk] of more.chunks) chunks.set(id, chunk);
    for (const [docUuid, list] of more.records) records.set(docUuid, list);
    return best.flatMap((hit) => {
      const chunk = chunks.get(hit.id);
      const commit = commitOf(hit);
      if (!checkVisibility && commit === undefined) return [];
      if (chunk === undefined || commit === undefined) throw new Stale('something went away while it was being read');
      return { chunk, commit, score: hit.score, scores: hit.scores };
    });
  }

  interface Known {
    head: RecordHead | undefined;
    /** Attempts whose chunks the caller may be shown. */
    live: readonly string[];
    superseded: ReadonlySet<string>;
    /** The commit existed before the search began that found its document. */
    believed: boolean;
  }

  /** Reads the commits of documents and says of each what of it may be shown. */
  async function judgeAll(
    docUuids: readonly string[],
    request: SearchRequest,
    began: { wall: number; monotonic: number },
  ): Promise<Map<string, Known>> {
    const heads = await deps.headsOf(docUuids);
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
    const created = await deps.createdOf(unseen.map((head) => head.id));
    for (const head of unseen) {
      const document = judged.get(head.doc_uuid);
      const age = began.wall - (created.get(head.id) ?? Number.POSITIVE_INFINITY);
      if (document !== undefined) document.believed = age > deps.graceMs + deps.skewMs;
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
  function liveOf(hits: readonly RawHit[], known: ReadonlyMap<string, Known>): RawHit[] {
    return hits.filter((hit) => {
      const document = known.get(hit.doc_uuid);
      return document === undefined || (document.live.includes(hit.rev) && !document.superseded.has(hit.id));
    });
  }

  function pinsOf(known: ReadonlyMap<string, Known>, closed: boolean): Pins {
    const superseded = new Set<string>();
    const revs = new Map<string, readonly string[]>();
    for (const [docUuid, document] of known) {
      revs.set(docUuid, document.live);
      if (document.live.length > 0) for (const id of document.superseded) superseded.add(id);
    }
    return { revs, superseded, closed };
  }

  function checkTime(began: number): void {
    if (clock.monotonic() - began > budgetMs) throw new Stale('it took too long');
  }

  /** Best first; ties by doc_id, then chunk id. */
  function inOrder(hits: FusedHit[], known: ReadonlyMap<string, Known>): FusedHit[] {
    const docId = (hit: FusedHit) => known.get(hit.doc_uuid)?.head?.doc_id ?? '';
    return hits.sort((a, b) => b.score - a.score || compareText(docId(a), docId(b)) || compareText(a.id, b.id));
  }
}

/** The first `limit` hits, and those of the last one's document that tie with it: only a reader of the manifest can put them in order. */
function firstOf(hits: readonly FusedHit[], limit: number): FusedHit[] {
  const last = hits[limit - 1];
  let end = Math.min(limit, hits.length);
  while (last !== undefined && hits[end]?.score === last.score && hits[end]?.doc_uuid === last.doc_uuid) end++;
  return hits.slice(0, end);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
