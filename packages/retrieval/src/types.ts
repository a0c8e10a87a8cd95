import type { DocumentMetadata, LlmTokens } from '@sluice/core';

export type SearchMode = 'hybrid' | 'dense' | 'keyword';
export type Expansion = 'none' | 'window' | 'parent';

/** What went less well than asked, while the answer still holds. */
export type Degradation =
  | 'embedding_unavailable'
  | 'rerank_unavailable'
  | 'query_truncated'
  | 'infer_relaxed'
  | 'llm_unavailable';

/** A search as a route hands it over: already validated, defaults of the settings still open. */
export interface SearchQuery {
  query: string;
  /** Finds what is like this document, by the meaning of its chunks; then `query` is empty. */
  like?: { doc_id: string } | undefined;
  mode?: SearchMode | undefined;
  /** Hybrid only; default from the settings. */
  alpha?: number | undefined;
  limit?: number | undefined;
  candidates?: number | undefined;
  /** The caller's filter as JSON; errors are `invalid_filter`. */
  filter?: unknown | undefined;
  /** Adds the conditions that the question implies. */
  infer_filter?: boolean | undefined;
  /** The time that "last month" is relative to, as filters take dates; default the clock's. */
  now?: string | undefined;
  /** Where days begin, as `Europe/Berlin`; default UTC. */
  timezone?: string | undefined;
  rerank?: boolean | undefined;
  expand?: Expansion | undefined;
  group_by?: 'none' | 'document' | undefined;
  /** Weight of unlikeness to the results before, 0 to 1. Above 0 near-duplicates are left out. Default 0. */
  diversity?: number | undefined;
  /** Results to pass over, for `search` alone; offset and limit together reach no further than 100. Default 0. */
  offset?: number | undefined;
  /** Marks the words that matched, for `search` alone. */
  highlight?: boolean | undefined;
  /** Fields whose values are counted, for `search` alone. */
  facets?: readonly string[] | undefined;
  /** Compared with `score`; not applied when a wanted rerank is degraded, since that score has another scale. */
  min_score?: number | undefined;
}

/** Where a text stands in its document. Offsets are UTF-16 units of the parsed text. */
export interface Citation {
  /** Page of the sentence that matches best. */
  page?: number;
  page_start?: number;
  page_end?: number;
  start: number;
  end: number;
  heading_path: string[];
  /** A repeated table header that stands before the cited span in `text`, where there is one. */
  prefix?: string;
  /** True for a proposition: the span is that of the passage it was made from. */
  derived?: true;
}

export interface SearchScores {
  dense?: number;
  keyword?: number;
  fused?: number;
  rerank?: number;
}

export interface SearchResult {
  /** The score that orders. */
  score: number;
  scores: SearchScores;
  doc_id: string;
  /** UUID of the document. */
  doc_uuid: string;
  revision: string;
  chunk_id: string;
  text: string;
  /** Words of the query in `text`, in order; UTF-16 units. */
  highlights?: { start: number; end: number }[];
  title: string;
  source: string;
  citation: Citation;
  metadata: Record<string, unknown>;
}

/** What every answer says of the search behind it. */
export interface About {
  /** The filter that was applied beside the access filter, `{}` without one. */
  applied_filter: unknown;
  /** What of it the question implied, where that was asked for. */
  inferred_filter?: unknown;
  degraded: Degradation[];
  took_ms: number;
}

/** Numbers of documents by value, the most frequent first. */
export type Facets = Record<string, { value: string | number | boolean; count: number }[]>;

export interface SearchAnswer extends About {
  results: SearchResult[];
  /** Results of the search in all, where that is known: when it found fewer than it may. */
  total?: number;
  /** Asked for by name: of the documents within the filter, in a keyword search of those among the 100 best results. */
  facets?: Facets;
}

/** A context as a route hands it over: a search whose results are put together for a language model. Default limit: 20. */
export interface ContextQuery extends SearchQuery {
  /** Largest count of the whole context by the embedding model's tokenizer. Default 2,000. */
  max_tokens?: number | undefined;
  /** Default `score`. */
  order?: 'score' | 'edges' | undefined;
  /** Shows where a source is cut off from the rest of its document. Default false. */
  mark_edges?: boolean | undefined;
}

/** A numbered source of a context. */
export interface ContextSource {
  n: number;
  doc_id: string;
  revision: string;
  title: string;
  source: string;
  citation: Citation;
}

export interface ContextAnswer extends About {
  context: string;
  /** In the order of their numbers, which is that of the context. */
  sources: ContextSource[];
  /** Identity of the tokenizer that counted. */
  tokenizer: string;
  tokens: number;
  /** Results that the token budget left out. */
  omitted: number;
}

/** A passage with its text, for programs that lay contexts out themselves. */
export interface ContextPassage extends ContextSource {
  text: string;
}

export interface PassagesAnswer extends About {
  /** Best first. */
  passages: ContextPassage[];
  /** Tokens of the passages as JSON. */
  tokens: number;
  /** Results that the token budget left out. */
  omitted: number;
}

/** A question as a route hands it over: a context from which a language model answers. */
export type AnswerQuery = ContextQuery;

/** A statement of an answer, and the passage that it rests on. */
export interface AnswerCitation {
  /** Number of the source, as the answer's markers (`[2]`) name it. */
  n: number;
  doc_id: string;
  revision: string;
  /** Span of the sentence of the source that is nearest to the statement; the whole source's where none shares a word with it. */
  citation: Citation;
  /** Text of that span. */
  text: string;
  /** Span of the marker in `answer`. */
  marker: { start: number; end: number };
}

export interface Answer extends About {
  answer: string;
  citations: AnswerCitation[];
  /** False when the documents do not hold the answer, or the model named no source for what it said. */
  found: boolean;
  sources: ContextSource[];
  usage: LlmTokens;
}

export type AnswerEvent =
  | { event: 'sources'; data: { sources: ContextSource[] } }
  | { event: 'token'; data: { text: string } }
  | { event: 'done'; data: Answer };

/** Metadata as programs see it: declared fields beside the built-in ones, as filters name them. */
export function publicMetadata(metadata: DocumentMetadata): Record<string, unknown> {
  const { fields, ...builtIn } = metadata;
  return { ...fields, ...builtIn };
}

/** What a document is called: its title, else its file name. */
export function titleOf(metadata: DocumentMetadata, sourcePath: string): string {
  return metadata.doc_title ?? sourcePath.slice(sourcePath.lastIndexOf('/') + 1);
}
