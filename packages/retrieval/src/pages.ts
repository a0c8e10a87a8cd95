import type { PageStart } from '@sluice/core';
import { bestSentence } from './sentences.js';

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

/**
 * Page of the sentence of `text` that answers the query best; the first on a tie. A chunk that spans pages would else be cited by
 * the page it begins on, where a reader finds something else.
 *
 * @param textStart offset of `text` in the parsed text
 */
export function bestPage(pages: readonly PageStart[], text: string, textStart: number, query: string): number | undefined {
  const first = pageAt(pages, textStart);
  if (first === pageAt(pages, textStart + Math.max(0, text.length - 1))) return first;
  return pageAt(pages, textStart + (bestSentence(text, query)?.start ?? 0));
}
