import type { Caller, ChunkStore, Clock, Embedder, Llm, Reranker, Tokenizer } from '@sluice/core';
import type { FieldCatalog } from '@sluice/metadata';
import type { Logger, Metrics } from '@sluice/telemetry';
import type { Reading } from './reading.js';
import type { SearchSettings } from './settings.js';
import type {
  Answer,
  AnswerEvent,
  AnswerQuery,
  ContextAnswer,
  ContextQuery,
  PassagesAnswer,
  SearchAnswer,
  SearchQuery,
} from './types.js';

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
  /** The passages of a context with their texts; `max_tokens` bounds them as JSON. Errors: those of `search`. */
  passages(request: ContextQuery, caller: Caller, signal?: AbortSignal): Promise<PassagesAnswer>;
  /** Has the language model answer from a context. Errors: those of `search`, `llm_not_configured`, `llm_failed`. */
  answer(request: AnswerQuery, caller: Caller, signal?: AbortSignal): Promise<Answer>;
  /** The same as it comes; `done` is the last event, with the whole answer. Errors before the first event are those of `answer`. */
  streamAnswer(request: AnswerQuery, caller: Caller, signal?: AbortSignal): AsyncGenerator<AnswerEvent>;
  /** Whole reads of committed revisions, for routes that show chunks and texts. */
  readonly reading: Reading;
}
