import { createFactCache, type FactCache } from './propositions/fact-cache.js';
import { createVectorCache, type VectorCache } from './strategies/sentence-vectors.js';
import { type CountCache, createCountCache } from './text/counts.js';

/** What is worth keeping between calls of `chunkDocument` in one process: an edit then costs what it changes. All in memory, all bounded. */
export interface ChunkingCaches {
  counts: CountCache;
  vectors: VectorCache;
  facts: FactCache;
}

export function createChunkingCaches(): ChunkingCaches {
  return { counts: createCountCache(), vectors: createVectorCache(), facts: createFactCache() };
}
