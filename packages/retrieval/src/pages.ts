import type { PageStart } from '@sluice/core';

/** Page of an offset; undefined when the document has no pages. `pages` ascend by start. */
export function pageAt(pages: readonly PageStart[], offset: number): number | undefined {
  let low = 0;
  let high = pages.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((pages[middle]?.start ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  return pages[Math.max(0, low - 1)]?.page;
}

const SENTENCES = new Intl.Segmenter(undefined, { granularity: 'sentence' });
const WORDS = new Intl.Segmenter(undefined, { granularity: 'word' });

function wordsOf(text: string): Set<string> {
  const words = new Set<string>();
  for (const { segment, isWordLike } of WORDS.segment(text.toLowerCase())) if (isWordLike) words.add(segment);
  return words;
}

/**
 * Page of the sentence of `text` that shares most words with the query, weighted against its length; the first on a tie. A chunk
 * that spans pages would else be cited by the page it begins on, where a reader finds something else.
 *
 * @param textStart offset of `text` in the parsed text
 */
export function bestPage(pages: readonly PageStart[], text: string, textStart: number, query: string): number | undefined {
  const first = pageAt(pages, textStart);
  if (first === pageAt(pages, textStart + Math.max(0, text.length - 1))) return first;
  const wanted = wordsOf(query);
  let best = { score: 0, offset: textStart };
  for (const { segment, index } of SENTENCES.segment(text)) {
    const words = wordsOf(segment);
    if (words.size === 0) continue;
    let shared = 0;
    for (const word of words) if (wanted.has(word)) shared += 1;
    // The F-measure of the two sets of words: neither a long sentence nor a short one wins by its length.
    const score = (2 * shared) / (words.size + wanted.size);
    const leading = segment.length - segment.trimStart().length;
    if (score > best.score) best = { score, offset: textStart + index + leading };
  }
  return pageAt(pages, best.offset);
}
