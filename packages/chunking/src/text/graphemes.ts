import { skipSpace, skipSpaceBack } from './space.js';

/** How far back a safe place to begin segmenting is looked for: longer than any cluster that is not made to annoy. */
const REACH = 512;

const segmenter = new Intl.Segmenter('und', { granularity: 'grapheme' });

/** Units that never join what stands before or after them: Latin without marks, common CJK without voice marks. */
function standsAlone(unit: number): boolean {
  if (unit < 0x300) return unit !== 0x0d && unit !== 0x00a9 && unit !== 0x00ae;
  return (unit >= 0x4e00 && unit <= 0x9fff) || (unit >= 0x3041 && unit <= 0x3096) || (unit >= 0x30a1 && unit <= 0x30fa);
}

/** True when a cut at `at` parts no grapheme cluster of the text. */
export function isGraphemeEdge(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return true;
  const before = text.charCodeAt(at - 1);
  const after = text.charCodeAt(at);
  if (before === 0x0a || after === 0x0a) return !(before === 0x0d && after === 0x0a);
  if (standsAlone(before) && standsAlone(after)) return true;
  return clusterAt(text, at).start === at;
}

/** The cluster that holds the unit at `at`. */
function clusterAt(text: string, at: number): { start: number; end: number } {
  let from = at;
  const floor = Math.max(0, at - REACH);
  while (from > floor) {
    from--;
    if (from === 0) break;
    const unit = text.charCodeAt(from);
    const before = text.charCodeAt(from - 1);
    if (standsAlone(unit) && standsAlone(before)) break;
  }
  const window = text.slice(from, Math.min(text.length, at + REACH));
  const segment = segmenter.segment(window).containing(at - from);
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
  for (const { index, segment } of segmenter.segment(text.slice(start, end))) yield start + index + segment.length;
}

/** Without white space at the edges, but with whole graphemes. */
export function trimmed(text: string, start: number, end: number): { start: number; end: number } | undefined {
  const from = skipSpace(text, start, end);
  const to = skipSpaceBack(text, from, end);
  if (from >= to) return undefined;
  return { start: Math.max(start, edgeBefore(text, from)), end: Math.min(end, edgeAfter(text, to)) };
}
