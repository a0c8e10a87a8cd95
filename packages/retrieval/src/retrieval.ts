import type { Caller, ChunkStore, Clock, Embedder, Llm, Reranker, Tokenizer } from '@sluice/core';
import type { FieldCatalog } from '@sluice/metadata';
import type { Logger, Metrics } from '@sluice/telemetry';
import { createAnswering } from './answer.js';
import {
  buildContext,
  DEFAULT_CONTEXT_PASSAGES,
  DEFAULT_CONTEXT_TOKENS,
  excerptOf,
  renderExcerpt,
  sourcesOf,
} from './context.js';
import { createFinder } from './find.js';
import { createReading, type Reading } from './reading.js';
import type { ScoredPassage } from './rerank.js';
import type { SearchSettings } from './settings.js';
import {
  type Answer,
  type AnswerEvent,
  type AnswerQuery,
  type ContextAnswer,
  type ContextQuery,
  publicMetadata,
  type SearchAnswer,
  type SearchQuery,
  type SearchResult,
  titleOf,
} from './types.js';

/** Results of a search in all: those for a smaller limit are a prefix of these. */
const FURTHEST = 100;

export interface RetrievalDeps {
  store: ChunkStore;
  /** Where a text has the words that the store's keyword search looks for, in order; UTF-16 units. */
  matchedSpans(query: string, text: string): { start: number; end: number }[];
  embedder: Embedder;
  tokenizer: Tokenizer;
  reranker?: Reranker;
  /** The language model that answers; without one `answer` is an error. */
  llm?: Llm;
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
  /** Has the language model answer from a context. Errors: those of `search`, `llm_not_configured`, `llm_failed`. */
  answer(request: AnswerQuery, caller: Caller, signal?: AbortSignal): Promise<Answer>;
  /** The same as it comes; `done` is the last event, with the whole answer. Errors before the first event are those of `answer`. */
  streamAnswer(request: AnswerQuery, caller: Caller, signal?: AbortSignal): AsyncGenerator<AnswerEvent>;
  /** Whole reads of committed revisions, for routes that show chunks and texts. */
  readonly reading: Reading;
}

/** Hybrid, dense and keyword search with access, expansion and citations, and contexts and answers made of what it finds. */
export function createRetrieval(deps: RetrievalDeps): Retrieval {
  const { tokenizer } = deps;
  const reading = createReading(deps);
  const find = createFinder(deps, reading);

  return {
    reading,
    async search(request, caller, signal) {
      const offset = request.offset ?? 0;
      const limit = Math.min(FURTHEST, offset + (request.limit ?? deps.settings.limit));
      const { chosen, about } = await find({ ...request, limit }, caller, signal);
      const marks = (text: string) => ({ highlights: deps.matchedSpans(request.query, text) });
      const results = chosen.slice(offset).map((scored) => ({
        ...resultOf(scored),
        ...(request.highlight === true ? marks(scored.passage.text) : {}),
      }));
      return { results, ...about() };
    },
    async context(request, caller, signal) {
      const limit = request.limit ?? DEFAULT_CONTEXT_PASSAGES;
      const { chosen, about } = await find({ ...request, limit }, caller, signal);
      const { context, excerpts, tokens, omitted } = buildContext(
        chosen.map(({ passage }) => excerptOf(passage)),
        {
          tokenizer,
          maxTokens: request.max_tokens ?? DEFAULT_CONTEXT_TOKENS,
          order: request.order ?? 'score',
          render: (excerpt, n) => renderExcerpt(excerpt, n, request.mark_edges ?? false),
        },
      );
      return { context, sources: sourcesOf(excerpts), tokenizer: tokenizer.id, tokens, omitted, ...about() };
    },
    ...createAnswering(deps, find),
  };
}

function resultOf({ passage, score, rerank }: ScoredPassage): SearchResult {
  const { chunk, commit, scores } = passage.hit;
  return {
    score,
    scores: { ...scores, ...(rerank === undefined ? {} : { rerank }) },
    doc_id: chunk.doc_id,
    doc_uuid: chunk.doc_uuid,
    revision: commit.revision,
    chunk_id: chunk.id,
    text: passage.text,
    title: titleOf(chunk.metadata, chunk.source_path),
    source: chunk.source,
    citation: passage.citation,
    metadata: { ...publicMetadata(chunk.metadata), kind: chunk.kind },
  };
}
