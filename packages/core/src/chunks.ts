import type { ElementKind } from './parsed.js';

/** `text` where kinds mix. */
export type ChunkKind = ElementKind | 'text';

/**
 * A unit that is embedded. INTERFACES: chunked JSON. Law: `derived || text === prefix + source.slice(start, end)`.
 * Offsets are in UTF-16 units of the parsed text.
 */
export interface Chunk {
  index: number;
  kind: ChunkKind;
  text: string;
  start: number;
  end: number;
  /** A repeated table header, or ''. */
  prefix: string;
  /** True for text that is not a slice of the source (a proposition); its span is that of its passage. */
  derived: boolean;
  /** What is embedded, where it differs from `text`. Depends on content alone, never on path or metadata. */
  embeddingText?: string;
  headingPath: string[];
  pageStart?: number;
  pageEnd?: number;
  /** Word pieces of what is embedded, special tokens included. */
  tokens: number;
  window?: string;
  windowStart?: number;
  windowEnd?: number;
  originalSentence?: string;
  sentenceIndex?: number;
  parentId?: string;
  parentStart?: number;
  parentEnd?: number;
  lang?: string;
  /** Further facts of the chunk, as a code chunk's symbols. Not filterable. */
  metadata: Record<string, unknown>;
}

/** Offsets at which pages begin, so that a citation can name the page of its best sentence. */
export interface PageStart {
  page: number;
  start: number;
}

/** A fact that a proposition chunker dropped, with its reason, for a human to see. */
export interface DroppedFact {
  text: string;
  reason: string;
  start: number;
  end: number;
}

/** What a language model was asked while a document was chunked. */
export interface LlmUsage {
  calls: number;
  /** Passages whose facts were known. */
  cached: number;
  prompt_tokens: number;
  completion_tokens: number;
}

export interface ChunkedDocument {
  chunks: Chunk[];
  dropped: DroppedFact[];
  usage?: LlmUsage;
}
