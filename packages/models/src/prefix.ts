import { sha256, type Tokenizer } from '@sluice/core';

/**
 * A tokenizer that counts a prefix with every text, as a special token that is always there: what `passage: ` takes of the limit is
 * then taken into account wherever texts are cut.
 */
export function countPrefix(tokenizer: Tokenizer, prefix: string): Tokenizer {
  if (prefix === '') return tokenizer;
  const pieces = tokenizer.count(prefix) - tokenizer.specialTokens;
  return {
    id: `${tokenizer.id}:${prefixId(prefix)}`,
    maxTokens: tokenizer.maxTokens,
    specialTokens: tokenizer.specialTokens + pieces,
    count: (text) => tokenizer.count(text) + pieces,
    offsets: (text) => tokenizer.offsets(text),
  };
}

/** A prefix as a part of an identity. */
export function prefixId(prefix: string): string {
  return prefix === '' ? 'none' : sha256(prefix).slice(0, 8);
}
