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
   */
  rawSearch(request: SearchRequest, pins: Pins, wanted: number): Promise<RawPool>;
  recordsOf(docUuids: readonly string[]): Promise<Map<string, CommitRecord[]>>;
  readChunks(ids: readonly string[]): Promise<StoredChunk[]>;
  clock: Clock;
  /** How long superseded chunks stay, milliseconds. 0 (for tests) sets no bound on a search's time. */
  graceMs: number;
  /** How far the store's clock may be from ours, milliseconds. */
  skewMs: number;
  seen?: SeenCommits;
  /** For tests that show what each rule is for. Both true unless said. */
  rules?: { checkVisibility?: boolean; pinAndRetry?: boolean };
}

/** Visible hits of each part of a search, whatever its limit: so that the results of a small limit are the first of a large one's. */
const POOL = 100;
/** The most hits asked for beyond the pool. */
const MAX_SPARE = 400;
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
    let firstRead: number | undefined;
    let early: Promise<Map<string, StoredChunk>> | undefined;
    let pool: RawPool;

    for (let round = 1; ; round++) {
      const began = { wall: clock.now(), monotonic: clock.monotonic() };
      pool = await deps.rawSearch(request, pinsOf(known, round === MAX_ROUNDS), size + Math.ceil(spare));
      const hits = [...pool.dense, ...pool.keyword];
      const fresh = [...new Set(hits.map((hit) => hit.doc_uuid))].filter((docUuid) => !known.has(docUuid));
      if (fresh.length > 0) {
        firstRead ??= clock.monotonic();
        // Mostly nothing is dropped: the best chunks are fetched while the commits are.
        if (round === 1) early = readEarly(bestOf(pool, request));
        const records = await deps.recordsOf(fresh);
        const moment = clock.monotonic();
        for (const docUuid of fresh) known.set(docUuid, judge(records.get(docUuid) ?? [], request, began, moment));
      }
      checkTime(firstRead);
      const parts = [pool.dense, pool.keyword].map((part) => part.filter((hit) => isLive(hit, known)).length);
      const dropped = Math.max(pool.dense.length - (parts[0] ?? 0), pool.keyword.length - (parts[1] ?? 0));
      if (round === 1) spare = Math.min(MAX_SPARE, Math.max(dropped * 1.5, spare * 0.95 < 1 ? 0 : spare * 0.95));
      // What is left of a pool is what a search without the dropped hits would have found, if it still is a whole pool or was all there is.
      const short = [pool.dense, pool.keyword].some(
        (part, i) => part.length >= pool.limit && (parts[i] ?? 0) < Math.min(size, pool.limit),
      );
      const doubtful = fresh.some((docUuid) => known.get(docUuid)?.believed !== true);
      if (!(doubtful || (dropped > 0 && short)) || !pinAndRetry || round === MAX_ROUNDS) break;
    }

    const visible = (part: RawHit[]) => (checkVisibility ? part.filter((hit) => isLive(hit, known)) : part).slice(0, size);
    const fused = fuse({ dense: visible(pool.dense), keyword: visible(pool.keyword) }, request.mode, request.alpha);
    const best = inOrder(fused, known).slice(0, request.limit);
    const chunks = await chunksOf(best, early);
    checkTime(firstRead);
    return best.map((hit) => {
      const chunk = chunks.get(hit.id);
      const commit = known.get(hit.doc_uuid)?.commit;
      if (chunk === undefined || commit === undefined) throw new Stale('a chunk went away while it was being read');
      return { chunk, commit, score: hit.score, scores: hit.scores };
    });
  }

  interface Known {
    commit: CommitRecord | undefined;
    /** Attempts whose chunks the caller may be shown. */
    live: readonly string[];
    superseded: ReadonlySet<string>;
    /** The commit existed before the search began that found its document. */
    believed: boolean;
  }

  function judge(
    records: readonly CommitRecord[],
    request: SearchRequest,
    began: { wall: number; monotonic: number },
    moment: number,
  ): Known {
    const commit = topCommit(records);
    if (commit === undefined) return { commit, live: [], superseded: new Set(), believed: false };
    const old = commit.created_ms !== undefined && commit.created_ms < began.wall - deps.graceMs - deps.skewMs;
    const believed = old || seen.seenBy(commit, began.monotonic);
    seen.note(commit, moment);
    return {
      commit,
      live: maySee(commit, records, request) ? commit.live : [],
      superseded: new Set(commit.superseded),
      believed,
    };
  }

  /**
   * Fence order is not disk order: an attempt that read the disk before a level was raised may commit after the one that raised it. Until its
   * writer has looked again, clearance is needed for what lies between the top's base and the top too, and for a status record above it.
   */
  function maySee(top: CommitRecord, records: readonly CommitRecord[], request: SearchRequest): boolean {
    return records.every((record) => record.fence <= top.base_fence || request.mayAccess(record)) && request.mayAccess(top);
  }

  function isLive(hit: RawHit, known: ReadonlyMap<string, Known>): boolean {
    const document = known.get(hit.doc_uuid);
    return document !== undefined && document.live.includes(hit.rev) && !document.superseded.has(hit.id);
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

  function checkTime(firstRead: number | undefined): void {
    if (firstRead !== undefined && clock.monotonic() - firstRead > budgetMs) throw new Stale('it took too long');
  }

  function bestOf(pool: RawPool, request: SearchRequest): string[] {
    const { dense, keyword } = pool;
    const fused = fuse({ dense: dense.slice(0, POOL), keyword: keyword.slice(0, POOL) }, request.mode, request.alpha);
    return inOrder(fused, new Map())
      .slice(0, request.limit)
      .map((hit) => hit.id);
  }

  /** Best first; ties by doc_id, then chunk id. */
  function inOrder(hits: FusedHit[], known: ReadonlyMap<string, Known>): FusedHit[] {
    const docId = (hit: FusedHit) => known.get(hit.doc_uuid)?.commit?.doc_id ?? '';
    return hits.sort((a, b) => b.score - a.score || compareText(docId(a), docId(b)) || compareText(a.id, b.id));
  }

  async function readEarly(ids: readonly string[]): Promise<Map<string, StoredChunk>> {
    // What fails here is read again when it is needed, and reported then.
    return byId(await deps.readChunks(ids).catch(() => []));
  }

  async function chunksOf(
    hits: readonly FusedHit[],
    early: Promise<Map<string, StoredChunk>> | undefined,
  ): Promise<Map<string, StoredChunk>> {
    const chunks = (await early) ?? new Map<string, StoredChunk>();
    const missing = hits.filter((hit) => !chunks.has(hit.id)).map((hit) => hit.id);
    if (missing.length === 0) return chunks;
    return new Map([...chunks, ...byId(await deps.readChunks(missing))]);
  }
}

function byId(chunks: readonly StoredChunk[]): Map<string, StoredChunk> {
  return new Map(chunks.map((chunk) => [chunk.id, chunk]));
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
