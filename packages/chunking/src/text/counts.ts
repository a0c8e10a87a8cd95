import type { Tokenizer } from '@sluice/core';
import { hashRange, textKey } from './hash.js';

/**
 * Token counts by text, so that a document that is chunked again after a small edit is tokenised only where it changed. Keys are
 * hashes: the cache holds no text. Give the same one to every call in a process.
 */
export interface CountCache {
  get(key: number): number | undefined;
  set(key: number, count: number): void;
}

/** @param entries how many counts are kept at most (about 50 bytes each); the least used half goes when it is full */
export function createCountCache(entries = 400_000): CountCache {
  const half = Math.max(1, Math.floor(entries / 2));
  let young = new Map<number, number>();
  let old = new Map<number, number>();

  function set(key: number, count: number): void {
    if (young.size >= half) {
      old = young;
      young = new Map();
    }
    young.set(key, count);
  }

  return {
    get(key) {
      const found = young.get(key);
      if (found !== undefined) return found;
      const aged = old.get(key);
      if (aged !== undefined) set(key, aged);
      return aged;
    },
    set,
  };
}

/** Word pieces without the special tokens: additive over texts that white space parts. */
export interface Counter {
  count(text: string): number;
  /** Ends of the word pieces of a text: how many lie before an offset. */
  pieces(text: string): { start: number; end: number }[];
  readonly specialTokens: number;
  readonly modelTokens: number;
}

export function createCounter(tokenizer: Tokenizer, cache: CountCache): Counter {
  // One cache may serve several tokenizers.
  const salt = hashRange(tokenizer.id, 0, tokenizer.id.length);
  return {
    specialTokens: tokenizer.specialTokens,
    modelTokens: tokenizer.maxTokens,
    pieces: (text) => tokenizer.offsets(text),
    count(text) {
      if (text === '') return 0;
      const key = textKey(text) + salt;
      const known = cache.get(key);
      if (known !== undefined) return known;
      const count = tokenizer.count(text) - tokenizer.specialTokens;
      cache.set(key, count);
      return count;
    },
  };
}
