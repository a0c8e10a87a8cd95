import type { Tokenizer } from '@sluice/core';

const WORD = /[\p{L}\p{M}\p{N}]+|[^\s\p{L}\p{M}\p{N}]/gu;
/** A fake word piece is at most this long. */
const PIECE = 5;

/** A word-piece tokenizer in small: words in pieces of five units, every other sign and every ideograph by itself. Counts what it is asked. */
export function createFakeTokenizer(maxTokens = 256): Tokenizer & { asked: { texts: number; units: number } } {
  const asked = { texts: 0, units: 0 };

  function offsets(text: string): { start: number; end: number }[] {
    asked.texts++;
    asked.units += text.length;
    const pieces: { start: number; end: number }[] = [];
    for (const { 0: word, index } of text.matchAll(WORD)) {
      const size = /\p{Script=Han}/u.test(word) ? 1 : PIECE;
      for (let at = 0; at < word.length; at += size)
        pieces.push({ start: index + at, end: index + Math.min(at + size, word.length) });
    }
    return pieces;
  }

  return { id: 'fake-pieces', maxTokens, specialTokens: 2, asked, offsets, count: (text) => offsets(text).length + 2 };
}
