import type { Embedder } from '@sluice/core';
import { hashRange, textKey } from '../text/hash.js';

/** Vectors of sentences, so that the semantic strategy embeds only what changed. Give the same one to every call in a process. */
export interface VectorCache {
  get(key: number): Float32Array | undefined;
  set(key: number, vector: Float32Array): void;
}

/** @param entries vectors kept (1.5 KB each at 384 dimensions); the oldest go first */
export function createVectorCache(entries = 20_000): VectorCache {
  const kept = new Map<number, Float32Array>();
  return {
    get: (key) => kept.get(key),
    set(key, vector) {
      kept.set(key, vector);
      const oldest = kept.size > entries ? kept.keys().next().value : undefined;
      if (oldest !== undefined) kept.delete(oldest);
    },
  };
}

/** Sentences embedded by one call. */
const BATCH = 128;

/** One vector a text; equal texts, and those in the cache, are not embedded again. */
export async function embedSentences(
  texts: readonly string[],
  embedder: Embedder,
  cache: VectorCache | undefined,
  signal: AbortSignal | undefined,
): Promise<Map<string, Float32Array>> {
  const salt = hashRange(embedder.id, 0, embedder.id.length);
  const vectors = new Map<string, Float32Array>();
  const missing = new Set<string>();
  for (const text of texts) {
    const known = cache?.get(textKey(text) + salt);
    if (known === undefined) missing.add(text);
    else vectors.set(text, known);
  }
  const list = [...missing];
  for (let from = 0; from < list.length; from += BATCH) {
    const batch = list.slice(from, from + BATCH);
    const embedded = await embedder.embed(batch, signal);
    batch.forEach((text, index) => {
      const vector = embedded[index];
      if (vector === undefined) return;
      vectors.set(text, vector);
      cache?.set(textKey(text) + salt, vector);
    });
  }
  return vectors;
}
