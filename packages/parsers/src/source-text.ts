import type { Element } from '@sluice/core';

export interface Range {
  start: number;
  end: number;
}

const BLANK = /\s/;

/** The range without white space at its edges; undefined when nothing is left. */
export function trimRange(text: string, start: number, end: number): Range | undefined {
  let from = start;
  let to = end;
  while (from < to && BLANK.test(text.charAt(from))) from++;
  while (to > from && BLANK.test(text.charAt(to - 1))) to--;
  return from < to ? { start: from, end: to } : undefined;
}

/** The range from its first visible character's line on: code keeps the indentation of its first line. */
export function trimLinesRange(text: string, start: number, end: number): Range | undefined {
  const trimmed = trimRange(text, start, end);
  if (trimmed === undefined) return undefined;
  const lineStart = text.lastIndexOf('\n', trimmed.start - 1) + 1;
  return { start: Math.max(lineStart, start), end: trimmed.end };
}

/** An element that is a slice of a text file. */
export function sliceElement(text: string, range: Range, facts: Omit<Element, 'text' | 'start' | 'end'>): Element {
  return { ...facts, text: text.slice(range.start, range.end), start: range.start, end: range.end };
}

/** Ranges of the paragraphs of plain text: what stands between blank lines. */
export function* paragraphRanges(text: string, start = 0, end = text.length): Generator<Range> {
  const gap = /\n[^\S\n]*\n\s*/g;
  let from = start;
  gap.lastIndex = start;
  while (from < end) {
    const match = gap.exec(text);
    const to = match === null || match.index >= end ? end : match.index;
    const range = trimRange(text, from, to);
    if (range !== undefined) yield range;
    if (match === null || match.index >= end) return;
    from = gap.lastIndex;
  }
}
