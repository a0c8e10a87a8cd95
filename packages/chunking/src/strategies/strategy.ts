import type { Chunk, DroppedFact, Embedder, Llm, LlmUsage } from '@sluice/core';
import type { Layout } from '../layout/context.js';
import type { FactCache } from '../propositions/fact-cache.js';
import type { SettingsOf, Strategy } from '../settings.js';
import type { VectorCache } from './sentence-vectors.js';

export interface StrategyDeps {
  /** Needed by semantic. */
  embedder?: Embedder | undefined;
  /** Needed by propositions. */
  llm?: Llm | undefined;
  facts?: FactCache | undefined;
  vectors?: VectorCache | undefined;
  signal?: AbortSignal | undefined;
}

/** Chunks in document order, numbered by the caller. */
export interface Cut {
  chunks: Iterable<Omit<Chunk, 'index'>> | AsyncIterable<Omit<Chunk, 'index'>>;
  /** Filled while the chunks are read. */
  dropped?: DroppedFact[];
  usage?: LlmUsage;
}

/** One way to cut documents: a file of this folder and a line in the registry. */
export interface ChunkingStrategy<S extends Strategy> {
  /** Grows when the same document and settings give other chunks: part of the fingerprint. */
  readonly version: number;
  cut(layout: Layout, settings: SettingsOf<S>, deps: StrategyDeps): Cut;
}
