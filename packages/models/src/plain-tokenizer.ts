import type { Tokenizer } from '@sluice/core';

/** Grows when the same text may give other counts. */
const VERSION = 1;
/** UTF-16 units of a run of ASCII letters that count as one piece: tokenizers of current models average 4 to 5. */
const LETTERS = 4;
/** UTF-16 units of a run of digits that count as one piece: most tokenizers group up to 3. */
const DIGITS = 3;

const RUN = new RegExp(`[A-Za-z]{1,${LETTERS}}|[0-9]{1,${DIGITS}}|\\S`, 'gu');

/**
 * A tokenizer for models whose own is not known, as those behind an endpoint. It counts more pieces than current tokenizers do for
 * nearly every text, so that chunks stay below the model's limit: 4 ASCII letters, 3 digits, or any other character that is not white
 * space are one piece; a character outside the Basic Multilingual Plane is two.
 *
 * @param maxTokens what the model takes
 */
export function createPlainTokenizer(maxTokens: number): Tokenizer {
  function offsets(text: string): { start: number; end: number }[] {
    const found: { start: number; end: number }[] = [];
    for (const match of text.matchAll(RUN)) {
      const span = { start: match.index, end: match.index + match[0].length };
      found.push(span);
      if (isAstral(match[0])) found.push(span);
    }
    return found;
  }
  return {
    id: `plain-${VERSION}:${maxTokens}`,
    maxTokens,
    // One at each end is what models of this kind add.
    specialTokens: 2,
    offsets,
    count(text) {
      let count = 2;
      for (const [run] of text.matchAll(RUN)) count += isAstral(run) ? 2 : 1;
      return count;
    },
  };
}

function isAstral(run: string): boolean {
  return (run.codePointAt(0) ?? 0) > 0xffff;
}
