import { type Caller, type Filter, type SearchHit, SluiceError } from '@sluice/core';
import { accessFilter, compileFilter, mayAccess, parseDate, seesAll } from '@sluice/metadata';
import { alphaFor } from './alpha.js';
import type { RetrievalDeps } from './deps.js';
import { diversify } from './diversify.js';
import { type Passage, passageKey, passageOf } from './expand.js';
import { type Conditions, inferFilters } from './infer/infer-filter.js';
import { createKnownValues } from './infer/values.js';
import { vectorOfDocument } from './like.js';
import { orderHits } from './order.js';
import { embedQuery } from './query.js';
import type { Reading } from './reading.js';
import { rerankPassages, type ScoredPassage } from './rerank.js';
import type { About, Degradation, SearchQuery } from './types.js';

/** Hits that are looked at whatever the limit, so that the results for limit k are a prefix of those for 100. */
const POOL = 100;

/** What a search found, best first, and what its answer says of it. `about` is called when the answer is ready. */
export interface Found {
  chosen: ScoredPassage[];
  /** Number of passages that any limit would give, where the search came to their end. */
  total: number | undefined;
  /** The filter that was applied, access within. */
  filter: Filter;
  about(): About;
}

type FoundPassages = Pick<Found, 'chosen' | 'total'>;

/** One search of a request: a question may be searched again with less of what it implies. */
interface SearchParts {
  request: SearchQuery;
  caller: Caller;
  vector: Promise<Float32Array> | undefined;
  degraded: Set<Degradation>;
  signal: AbortSignal | undefined;
}

/** The search behind every answer: access, filter, hits, passages, rerank. */
export function createFinder(deps: RetrievalDeps, reading: Reading) {
  const { store, clock, settings } = deps;
  const knownValues = createKnownValues(deps);

  async function findHits(request: SearchQuery, wanted: number, filter: Filter, caller: Caller, vector?: Promise<Float32Array>) {
    const hits = await store.search({
      mode: request.like === undefined ? (request.mode ?? 'hybrid') : 'dense',
      query: request.query,
      ...(vector === undefined ? {} : { vector }),
      alpha: request.alpha ?? alphaFor(request.query, settings.alpha),
      limit: wanted,
      filter,
      relativeKeyword: !seesAll(caller),
      mayAccess: (commit) => mayAccess(caller, commit),
    });
    return orderHits(hits, reading);
  }

  async function choosePassages(
    request: SearchQuery,
    hits: readonly SearchHit[],
    degraded: Set<Degradation>,
    signal?: AbortSignal,
  ) {
    const { diversity = 0, limit = settings.limit } = request;
    if (diversity === 0) return bestPassages(request, hits, degraded, signal);
    // Of the whole pool, so that the choice for a smaller limit is a prefix of that for a larger one.
    return diversify(await bestPassages({ ...request, limit: POOL }, hits, degraded, signal), limit, diversity);
  }

  async function bestPassages(
    request: SearchQuery,
    hits: readonly SearchHit[],
    degraded: Set<Degradation>,
    signal?: AbortSignal,
  ) {
    const limit = request.limit ?? settings.limit;
    const expansion = request.expand ?? 'none';
    if (request.rerank !== true) return collect(hits, limit, request);

    const head = hits.slice(0, request.candidates ?? settings.candidates);
    const tail = hits.slice(head.length);
    const passages = distinct(await Promise.all(head.map((hit) => passageOf(reading, hit, expansion, request.query))));
    const reranked = await rerankPassages(request.query, passages, {
      reranker: deps.reranker,
      logger: deps.logger,
      signal,
    });
    if (reranked === undefined) {
      degraded.add('rerank_unavailable');
      const { min_score: _ignored, ...rest } = request;
      return collect(hits, limit, rest);
    }
    const chosen = take(reranked, limit, request);
    // Scores of the rest are on another scale: a threshold for reranked scores can't be asked of them.
    if (chosen.length >= limit || request.min_score !== undefined) return chosen;
    return collect(tail, limit, request, chosen);
  }

  /** Passages of the hits in their order, as many as are wanted: hits further down are not read. */
  async function collect(hits: readonly SearchHit[], limit: number, request: SearchQuery, before: ScoredPassage[] = []) {
    let chosen = before;
    for (let from = 0; from < hits.length && chosen.length < limit; from += limit) {
      const batch = hits.slice(from, from + limit);
      const passages = await Promise.all(batch.map((hit) => passageOf(reading, hit, request.expand ?? 'none', request.query)));
      chosen = take([...chosen, ...passages.map((passage) => ({ passage, score: passage.hit.score }))], limit, request);
    }
    return chosen;
  }

  async function find(request: SearchQuery, caller: Caller, signal?: AbortSignal): Promise<Found> {
    const begun = clock.monotonic();
    const own = [request.filter ?? {}, ...(request.like === undefined ? [] : [{ doc_id: { $ne: request.like.doc_id } }])];
    const compiled = own.map((filter) => compileFilter(filter, deps.catalog));
    const degraded = new Set<Degradation>();
    const embedding = needsEmbedding(request) ? startEmbedding(request.query, signal) : undefined;
    const vector =
      request.like === undefined ? embedding?.then((embedded) => embedded.vector) : likeVector(request.like.doc_id, caller);
    // The search fails with it.
    vector?.catch(() => {});
    const steps = await inferredSteps(request, caller);
    const stop = deps.metrics.stageSeconds.startTimer({ stage: 'query_search' });
    let inferred: Conditions | undefined;
    let filter: Filter = { op: 'const', value: false };
    let found: FoundPassages = { chosen: [], total: undefined };
    for (const step of steps) {
      inferred = step;
      const implied = step === undefined ? [] : [compileFilter(step, deps.catalog)];
      filter = { op: 'and', of: [accessFilter(caller), ...compiled, ...implied] };
      found = await searchOrFallBack(filter, { request, caller, vector, degraded, signal });
      if (found.chosen.length > 0) break;
    }
    stop();
    if (!degraded.has('embedding_unavailable') && (await embedding)?.truncated) degraded.add('query_truncated');
    // A condition that leaves nothing was not meant, or is not known of the documents.
    if (inferred !== steps[0] && (await isRelaxed(steps[0], inferred, request, caller))) degraded.add('infer_relaxed');
    const about = () => ({
      applied_filter: bothOf(request.filter, inferred),
      ...(request.infer_filter === true ? { inferred_filter: inferred ?? {} } : {}),
      degraded: [...degraded],
      took_ms: Math.round((clock.monotonic() - begun) * 10) / 10,
    });
    return { ...found, filter, about };
  }

  async function startEmbedding(query: string, signal: AbortSignal | undefined) {
    const stop = deps.metrics.stageSeconds.startTimer({ stage: 'query_embed' });
    const embedded = await embedQuery(query, deps, signal);
    stop();
    return embedded;
  }

  async function inferredSteps(request: SearchQuery, caller: Caller, maxAgeMs?: number): Promise<(Conditions | undefined)[]> {
    if (request.infer_filter !== true) return [undefined];
    const now = request.now === undefined ? clock.now() : (parseDate(request.now)?.start ?? clock.now());
    const known = await knownValues(caller, maxAgeMs);
    return inferFilters(request.query, { now, timezone: request.timezone ?? 'UTC', known });
  }

  /** A value that was dropped may be that of a document which was hidden a moment ago: then nobody may hear of it, so it is read again. */
  async function isRelaxed(first: Conditions | undefined, kept: Conditions | undefined, request: SearchQuery, caller: Caller) {
    const dropped = Object.keys(first ?? {}).filter((field) => kept?.[field] === undefined);
    if (dropped.every((field) => field === 'created_at')) return true;
    const [fresh] = await inferredSteps(request, caller, 0);
    return Object.keys(fresh ?? {}).some((field) => kept?.[field] === undefined);
  }

  /** A hybrid search whose question can't be embedded finds by words alone: `score` keeps its scale. */
  async function searchOrFallBack(filter: Filter, parts: SearchParts): Promise<FoundPassages> {
    const byWords = { ...parts, request: { ...parts.request, alpha: 0 }, vector: undefined };
    if (parts.degraded.has('embedding_unavailable')) return searchWithin(filter, byWords);
    try {
      return await searchWithin(filter, parts);
    } catch (thrown) {
      if (!isHybrid(parts.request) || !isEmbeddingAway(thrown)) throw thrown;
      deps.logger.warn({ cause: thrown.message }, 'the question could not be embedded: hybrid search uses words alone');
      parts.degraded.add('embedding_unavailable');
      return searchWithin(filter, byWords);
    }
  }

  function likeVector(docId: string, caller: Caller): Promise<Float32Array> {
    return reading.whole(() => vectorOfDocument(deps, reading, { docId, caller }));
  }

  function searchWithin(filter: Filter, { request, caller, vector, degraded, signal }: SearchParts): Promise<FoundPassages> {
    return reading.whole(async () => {
      const limit = request.limit ?? settings.limit;
      const all = Math.max(POOL, request.candidates ?? settings.candidates);
      const some = Math.min(all, hitsToRead(request, limit));
      signal?.throwIfAborted();
      const hits = await findHits(request, some, filter, caller, vector);
      const chosen = await choosePassages(request, hits, degraded, signal);
      // Mostly the first hits give enough; where they fall together in a passage or a document, all are read.
      const worst = hits.at(-1)?.score ?? 0;
      const isEnd = hits.length < some || worst < (request.min_score ?? worst);
      if (chosen.length >= limit || some === all || isEnd) return { chosen, total: totalOf(chosen, { hits, limit, isEnd }) };
      signal?.throwIfAborted();
      const everything = await findHits(request, all, filter, caller, vector);
      const more = await choosePassages(request, everything, degraded, signal);
      return { chosen: more, total: totalOf(more, { hits: everything, limit, isEnd: everything.length < all }) };
    });
  }

  return find;
}

function isHybrid(request: SearchQuery): boolean {
  return (request.mode ?? 'hybrid') === 'hybrid';
}

function needsEmbedding(request: SearchQuery): boolean {
  if (request.like !== undefined) return false;
  return request.mode === 'dense' || (isHybrid(request) && request.alpha !== 0);
}

function isEmbeddingAway(thrown: unknown): thrown is SluiceError {
  return thrown instanceof SluiceError && (thrown.code === 'embed_failed' || thrown.code === 'model_unavailable');
}

/** How many hits are read at first: reading one costs a fifth of a millisecond of the store's time, and most of a pool is never shown. */
function hitsToRead(request: SearchQuery, limit: number): number {
  if (request.rerank === true || (request.diversity ?? 0) > 0) return Number.POSITIVE_INFINITY;
  const merging = request.group_by === 'document' || (request.expand ?? 'none') !== 'none';
  return merging ? limit * 4 : limit + 5;
}

/** Number of passages that any limit would give: known when the hits came to their end, and none of them was left over. */
function totalOf(
  chosen: readonly ScoredPassage[],
  { hits, limit, isEnd }: { hits: readonly SearchHit[]; limit: number; isEnd: boolean },
): number | undefined {
  return isEnd && (chosen.length < limit || chosen.length === hits.length) ? chosen.length : undefined;
}

function distinct(passages: readonly Passage[]): Passage[] {
  const seen = new Map<string, Passage>();
  for (const passage of passages) if (!seen.has(passageKey(passage))) seen.set(passageKey(passage), passage);
  return [...seen.values()];
}

/** The first `limit` passages that are new, good enough and, when grouped, the best of their document. */
function take(passages: readonly ScoredPassage[], limit: number, request: SearchQuery): ScoredPassage[] {
  const seen = new Set<string>();
  const chosen: ScoredPassage[] = [];
  for (const scored of passages) {
    if (chosen.length >= limit) break;
    if (request.min_score !== undefined && scored.score < request.min_score) continue;
    const key = request.group_by === 'document' ? scored.passage.hit.chunk.doc_id : passageKey(scored.passage);
    if (seen.has(key)) continue;
    seen.add(key);
    chosen.push(scored);
  }
  return chosen;
}

/** The caller's filter and the inferred one as one filter. */
function bothOf(filter: unknown, inferred: Conditions | undefined): unknown {
  if (inferred === undefined) return filter ?? {};
  return filter === undefined ? inferred : { $and: [filter, inferred] };
}
