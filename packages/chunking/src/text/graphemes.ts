import { skipSpace, skipSpaceBack } from './space.js';

/** How far back a safe place to begin segmenting is looked for: longer than any cluster that is not made to annoy. */
const REACH = 512;

const segmenter = new Intl.Segmenter('und', { granularity: 'grapheme' });

/** Whether a unit lies in one of the ranges first..last, flat and ascending. */
function isAmong(ranges: readonly number[], unit: number): boolean {
  for (let at = 0; at < ranges.length; at += 2) {
    if (unit < (ranges[at] ?? 0)) return false;
    if (unit <= (ranges[at + 1] ?? 0)) return true;
  }
  return false;
}

// Letters and signs of Latin, Greek, Cyrillic, Hebrew, Arabic, Thai, Chinese, Japanese and Korean that no rule of UAX #29 joins to what
// stands before them, and those (marks too) that no rule joins to a letter behind them. What is in neither is looked up.
const BEGIN = [
  0x20, 0x7e, 0xa0, 0xac, 0xae, 0x2ff, 0x370, 0x482, 0x48a, 0x52f, 0x5d0, 0x5ea, 0x620, 0x64a, 0xe01, 0xe30, 0xe3f, 0xe46, 0xe4f,
  0xe5b, 0x2010, 0x2027, 0x3000, 0x3029, 0x3041, 0x3096, 0x30a1, 0x30fe, 0x3400, 0x4dbf, 0x4e00, 0x9fff, 0xac00, 0xd7a3, 0xff01,
  0xff9d,
];
const END = [
  0x20, 0x7e, 0xa0, 0xac, 0xae, 0x52f, 0x5d0, 0x5ea, 0x620, 0x65f, 0xe01, 0xe5b, 0x2010, 0x2027, 0x3000, 0x3029, 0x3041, 0x3096,
  0x3099, 0x309a, 0x30a1, 0x30fe, 0x3400, 0x4dbf, 0x4e00, 0x9fff, 0xac00, 0xd7a3, 0xff01, 0xff9f,
];

function isSureEdge(before: number, after: number): boolean {
  if (before === 0x0a || after === 0x0a) return !(before === 0x0d && after === 0x0a);
  if (before < 0x7f && after < 0x7f && before >= 0x20 && after >= 0x20) return true;
  return isAmong(BEGIN, after) && isAmong(END, before);
}

/** True when a cut at `at` parts no grapheme cluster of the text. */
export function isGraphemeEdge(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return true;
  return isSureEdge(text.charCodeAt(at - 1), text.charCodeAt(at)) || clusterAt(text, at).start === at;
}

/** The cluster that holds the unit at `at`. */
function clusterAt(text: string, at: number): { start: number; end: number } {
  let from = at;
  const floor = Math.max(0, at - REACH);
  while (from > floor) {
    from--;
    if (from === 0 || isSureEdge(text.charCodeAt(from - 1), text.charCodeAt(from))) break;
  }
  let to = at + 1;
  const ceiling = Math.min(text.length, at + REACH);
  while (to < ceiling && !isSureEdge(text.charCodeAt(to - 1), text.charCodeAt(to))) to++;
  const segment = segmenter.segment(text.slice(from, to)).containing(at - from);
  if (segment === undefined) return { start: at, end: at };
  return { start: from + segment.index, end: from + segment.index + segment.segment.length };
}

/** The nearest offset at or before `at` where no cluster is parted. */
export function edgeBefore(text: string, at: number): number {
  return isGraphemeEdge(text, at) ? at : clusterAt(text, at).start;
}

/** The nearest offset at or behind `at` where no cluster is parted. */
export function edgeAfter(text: string, at: number): number {
  return isGraphemeEdge(text, at) ? at : clusterAt(text, at).end;
}

/** Ends of the clusters of text.slice(start, end), as offsets in text. */
export function* graphemeEnds(text: string, start: number, end: number): Generator<number> {
  let at = start;
  while (at < end) {
    at = Math.min(end, edgeAfter(text, at + 1));
    yield at;
  }
}

/** Without white space at the edges, but with whole graphemes. */
export function trimmed(text: string, start: number, end: number): { start: number; end: number } | undefined {
  const from = skipSpace(text, start, end);
  const to = skipSpaceBack(text, from, end);
  if (from >= to) return undefined;
  return { start: Math.max(start, edgeBefore(text, from)), end: Math.min(end, edgeAfter(text, to)) };
}
