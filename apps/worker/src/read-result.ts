import type { Chunk, PageStart, ParsedDocument } from '@sluice/core';

/**
 * The stretches of the parsed text that no chunk's own text covers: with the chunks' texts they make up the whole text again, so that a
 * citation can be checked against the revision it came from.
 */
export function gapsOf(
  text: string,
  chunks: readonly Pick<Chunk, 'start' | 'end' | 'derived'>[],
): { start: number; text: string }[] {
  const spans = chunks
    .filter((chunk) => !chunk.derived)
    .map(({ start, end }) => ({ start, end }))
    .sort((a, b) => a.start - b.start);
  const gaps: { start: number; text: string }[] = [];
  let at = 0;
  for (const { start, end } of spans) {
    if (start > at) gaps.push({ start: at, text: text.slice(at, start) });
    at = Math.max(at, end);
  }
  if (at < text.length) gaps.push({ start: at, text: text.slice(at) });
  return gaps;
}

/** Where each page begins, by the first element on it. */
export function pagesOf(document: Pick<ParsedDocument, 'elements'>): PageStart[] {
  const pages: PageStart[] = [];
  for (const { page, start } of document.elements) {
    if (page !== undefined && page !== pages.at(-1)?.page) pages.push({ page, start });
  }
  return pages;
}
