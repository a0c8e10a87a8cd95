import type { Caller, ChunkStore, Clock, Embedder, Filter, Reranker, SearchHit, Tokenizer } from '@sluice/core';
import { accessFilter, compileFilter, type FieldCatalog, mayAccess, passesGroups } from '@sluice/metadata';
import type { Logger, Metrics } from '@sluice/telemetry';
import { alphaFor } from './alpha.js';
import { buildContext, DEFAULT_CONTEXT_PASSAGES, DEFAULT_CONTEXT_TOKENS, excerptOf, renderExcerpt } from './context.js';
import { type Passage, passageKey, passageOf } from './expand.js';
import { orderHits } from './order.js';
import { embedQuery } from './query.js';
import { createReading, type Reading } from './reading.js';
import { rerankPassages, type ScoredPassage } from './rerank.js';
import type { SearchSettings } from './settings.js';
import {
  type ContextAnswer,
  type ContextQuery,
  type Degradation,
  publicMetadata,
  type SearchAnswer,
  type SearchQuery,
  type SearchResult,
  titleOf,
} from './types.js';

/** Hits that are looked at whatever the limit, so that the results for limit k are a prefix of those for 100. */
const POOL = 100;

export interface RetrievalDeps {
  store: ChunkStore;
  embedder: Embedder;
  tokenizer: Tokenizer;
  reranker?: Reranker;
  /** Filterable fields with their types. */
  catalog: FieldCatalog;
  settings: SearchSettings;
  /** `store.reader_grace_ms`. */
  readerGraceMs: number;
  clock: Clock;
  logger: Logger;
  metrics: Metrics;
}

export interface Retrieval {
  /** Searches what the caller may see. Errors: `invalid_filter`, `store_unavailable`, `embed_failed`. */
  search(request: SearchQuery, caller: Caller, signal?: AbortSignal): Promise<SearchAnswer>;
  /** Searches, and puts what was found together for a language model. Errors: those of `search`. */
  context(request: ContextQuery, caller: Caller, signal?: AbortSignal): Promise<ContextAnswer>;
  /** Whole reads of committed revisions, for routes that show chunks and texts. */
  readonly reading: Reading;
}

/** Hybrid, dense and keyword search with access, expansion and citations. */
export function createRetrieval(deps: RetrievalDeps): Retrieval {
  const { store, clock, settings } = deps;
  const reading = createReading({ store, clock, readerGraceMs: deps.readerGraceMs });

  async function findHits(request: SearchQuery, wanted: number, filter: Filter, caller: Caller, vector?: Float32Array) {
    const hits = await store.search({
      mode: request.mode ?? 'hybrid',
      query: request.query,
      ...(vector === undefined ? {} : { vector }),
      alpha: request.alpha ?? alphaFor(request.query, settings.alpha),
      limit: wanted,
      filter,
      relativeKeyword: !passesGroups(caller),
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

  async function find(request: SearchQuery, caller: Caller, signal?: AbortSignal) {
    const begun = clock.monotonic();
    const own = compileFilter(request.filter ?? {}, deps.catalog);
    const filter: Filter = { op: 'and', of: [accessFilter(caller), own] };
    const degraded = new Set<Degradation>();
    let vector: Float32Array | undefined;
    if (request.mode !== 'keyword') {
      const stop = deps.metrics.stageSeconds.startTimer({ stage: 'query_embed' });
      const embedded = await embedQuery(request.query, deps, signal);
      stop();
      vector = embedded.vector;
      if (embedded.truncated) degraded.add('query_truncated');
    }
    const stop = deps.metrics.stageSeconds.startTimer({ stage: 'query_search' });
    const chosen = await reading.whole(async () => {
      const limit = request.limit ?? settings.limit;
      const all = Math.max(POOL, request.candidates ?? settings.candidates);
      const some = Math.min(all, hitsToRead(request, limit));
      signal?.throwIfAborted();
      const hits = await findHits(request, some, filter, caller, vector);
      const found = await choosePassages(request, hits, degraded, signal);
      // Mostly the first hits give enough; where they fall together in a passage or a document, all are read.
      const worst = hits.at(-1)?.score ?? 0;
      if (found.length >= limit || some === all || hits.length < some || worst < (request.min_score ?? worst)) return found;
      signal?.throwIfAborted();
      return choosePassages(request, await findHits(request, all, filter, caller, vector), degraded, signal);
    });
    stop();
    const about = () => ({
      applied_filter: request.filter ?? {},
      degraded: [...degraded],
      took_ms: Math.round((clock.monotonic() - begun) * 10) / 10,
    });
    return { chosen, about };
  }

  return {
    reading,
    async search(request, caller, signal) {
      const { chosen, about } = await find(request, caller, signal);
      return { results: chosen.map(resultOf), ...about() };
    },
    async context(request, caller, signal) {
      const limit = request.limit ?? DEFAULT_CONTEXT_PASSAGES;
      const { chosen, about } = await find({ ...request, limit }, caller, signal);
      const { tokenizer } = deps;
      const { context, excerpts, tokens, omitted } = buildContext(
        chosen.map(({ passage }) => excerptOf(passage)),
        {
          tokenizer,
          maxTokens: request.max_tokens ?? DEFAULT_CONTEXT_TOKENS,
          order: request.order ?? 'score',
          render: (excerpt, n) => renderExcerpt(excerpt, n, request.mark_edges ?? false),
        },
      );
      const sources = excerpts.map(({ doc_id, revision, title, source, citation }, index) => ({
        n: index + 1,
        doc_id,
        revision,
        title,
        source,
        citation,
      }));
      return { context, sources, tokenizer: tokenizer.id, tokens, omitted, ...about() };
    },
  };
}

/** How many hits are read at first: reading one costs a fifth of a millisecond of the store's time, and most of a pool is never shown. */
function hitsToRead(request: SearchQuery, limit: number): number {
  if (request.rerank === true) return Number.POSITIVE_INFINITY;
  const merging = request.group_by === 'document' || (request.expand ?? 'none') !== 'none';
  return merging ? limit * 4 : limit + 5;
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

function resultOf({ passage, score, rerank }: ScoredPassage): SearchResult {
  const { chunk, commit, scores } = passage.hit;
  return {
    score,
    scores: { ...scores, ...(rerank === undefined ? {} : { rerank }) },
    doc_id: chunk.doc_id,
    revision: commit.revision,
    chunk_id: chunk.id,
    text: passage.text,
    title: titleOf(chunk.metadata, chunk.source_path),
    source: chunk.source,
    citation: passage.citation,
    metadata: { ...publicMetadata(chunk.metadata), kind: chunk.kind },
  };
}
