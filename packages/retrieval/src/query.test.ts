import { createWordEmbedder, createWordTokenizer } from '@sluice/testkit';
import { describe, expect, it } from 'vitest';
import { embedQuery, fitQuery } from './query.js';

const words = (count: number) => Array.from({ length: count }, (_, n) => `w${n}`).join(' ');

describe('a query', () => {
  const tokenizer = createWordTokenizer(10);

  it('that fits is embedded as it is', async () => {
    const embedder = createWordEmbedder(8, 10);
    expect((await embedQuery(words(8), { embedder, tokenizer })).truncated).toBe(false);
    expect(embedder.embedded).toEqual([words(8)]);
  });

  it('over the limit is embedded by its first word pieces, special tokens counted', async () => {
    const embedder = createWordEmbedder(8, 10);
    expect((await embedQuery(words(9), { embedder, tokenizer })).truncated).toBe(true);
    expect(embedder.embedded).toEqual([words(8)]);
  });

  it('is counted again after the cut', () => {
    // A tokenizer that needs one more piece for a word that is cut: here, for any text that does not end in a space.
    const odd = { ...tokenizer, count: (text: string) => tokenizer.count(text) + (text.endsWith('w7') ? 1 : 0) };
    expect(fitQuery(words(20), odd, 10)).toBe(words(7));
  });
});
