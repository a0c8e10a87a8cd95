import { createHash } from 'node:crypto';
import type { Embedder, Tokenizer } from '@sluice/core';

const WORD = /[\p{L}\p{N}]+/gu;

/** A tokenizer whose word pieces are words, with two special tokens: for tests that need to count by hand. */
export function createWordTokenizer(maxTokens = 256): Tokenizer {
  const offsets = (text: string) =>
    [...text.matchAll(WORD)].map((match) => ({ start: match.index, end: match.index + match[0].length }));
  return {
    id: 'words',
    maxTokens,
    specialTokens: 2,
    offsets,
    count: (text) => offsets(text).length + 2,
  };
}

/**
 * An embedder whose vectors are the sums of one fixed direction a word: texts that share words are near each other. Deterministic,
 * without a model.
 */
export function createWordEmbedder(dimensions = 64, maxTokens = 256): Embedder & { embedded: string[] } {
  const embedded: string[] = [];
  return {
    id: 'words',
    dimensions,
    maxTokens,
    embedded,
    async embed(texts) {
      embedded.push(...texts);
      return texts.map((text) => embedWords(text, dimensions));
    },
  };
}

function embedWords(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  for (const [word] of text.toLowerCase().matchAll(WORD)) {
    const hash = createHash('sha256').update(word).digest();
    for (let index = 0; index < dimensions; index += 1) {
      vector[index] = (vector[index] ?? 0) + ((hash[index % hash.length] ?? 0) - 127.5) * (index < hash.length ? 1 : -0.5);
    }
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}
