import { type SearchHit, type SearchRequest, SluiceError } from '@sluice/core';
import { fuse, type RawHit, type RawPool } from './fusion.js';
import { createJudge, type JudgeDeps, type Known, liveOf, pinsOf } from './judge-documents.js';
import { type Contents, firstOf, inOrder, readEarly, readHits, Stale } from './read-hits.js';
import { createSeenCommits } from './seen-commits.js';
import type { VisibleSearchDeps } from './visible-search-deps.js';

/** Visible hits of each part of a search, whatever its limit: so that the results of a small limit are the first of a large one's. */
const POOL = 100;
/** The most hits asked for beyond the pool. */
const MAX_SPARE = 400;
/** How much further each round looks while the dead crowd out the living. */
const GROWTH = 4;
const MAX_WANTED = 10_000;
const MAX_ROUNDS = 5;
const MAX_STARTS = 4;

/**
 * The reader's half of the commit protocol (PROTOCOL.md, Reader): a search that returns whole revisions only, though the store's own search is
 * no snapshot. A document's hits are believed only against a commit that existed before the search began. Where that is not known, or a hit
 * turned out to be dead, the commits just read are pinned and the search is made again over exactly what they name.
 */
export function createVisibleSearch(deps: VisibleSearchDeps): (request: SearchRequest) => Promise<SearchHit[]> {
  const { clock } = deps;
  const { checkVisibility = true, pinAndRetry = true, checkAge = true } = deps.rules ?? {};
  const judging: JudgeDeps = { ...deps, seen: deps.seen ?? createSeenCommits(), checkAge };
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
      const judge = createJudge(judging, request, known);
      const isQuiet = round === 1 && spare === 0 && checkVisibility && pinAndRetry;
      pool = await deps.rawSearch(request, pinsOf(known, round === MAX_ROUNDS), wanted, isQuiet ? undefined : judge.read);
      const all = [...pool.dense, ...pool.keyword];
      const decisive = isQuiet ? decisiveOf(pool, request) : all;
      judge.read(decisive);
      // Mostly all that was found is live: what is to be shown is read while the heads are.
      if (round === 1) early = readEarly(deps, firstPlaces(pool), request);
      let fresh = await judge.done();
      const isDoubtful = (docUuid: string) => known.get(docUuid)?.believed !== true;
      if (isQuiet && (fresh.some(isDoubtful) || liveOf(decisive, known).length < decisive.length)) {
        judge.read(all);
        fresh = await judge.done();
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
    const best = firstOf(inOrder(fused, known), request.limit);
    const contents = (await early) ?? { chunks: new Map(), records: new Map() };
    const hits = await readHits(deps, best, { known, early: contents, mayLack: !checkVisibility });
    checkTime(began);
    return hits;
  }

  function adaptSpare(dropped: number): void {
    const decayed = spare * 0.95 < 1 ? 0 : spare * 0.95;
    spare = Math.min(MAX_SPARE, Math.max(dropped * 1.5, decayed));
  }

  function checkTime(began: number): void {
    if (clock.monotonic() - began > budgetMs) throw new Stale('it took too long');
  }
}

function firstPlaces(pool: RawPool): RawPool {
  return { ...pool, dense: pool.dense.slice(0, POOL), keyword: pool.keyword.slice(0, POOL) };
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
