import { findNewline, isSpace, lineStart } from '../text/space.js';

/** A line of a list with what goes on below it, down to the next item. */
export interface NestedItem {
  start: number;
  end: number;
  /** White space before its marker. */
  depth: number;
}

const MARKER = /^(?:[-*+•‣▪]|\(?(?:\d{1,4}|[a-zA-Z]|[ivxIVX]{2,5})[.)])[ \t]/;
/** The items around one are looked for this far before it (UTF-16 units). */
const LOOK_BACK = 20_000;
/** Longest text of an item that is named above its nested ones (UTF-16 units). */
const MAX_NAME = 160;

/** The items of a list, nested ones by themselves. What stands before the first marker is an item too. */
export function nestedItems(text: string, { start, end }: { start: number; end: number }): NestedItem[] {
  const items: NestedItem[] = [];
  for (let at = start; at < end; ) {
    const newline = findNewline(text, at, end);
    const lineEnd = newline < 0 ? end : newline;
    let from = at;
    while (from < lineEnd && isSpace(text.charCodeAt(from))) from++;
    const last = items.at(-1);
    if (last === undefined || (from < lineEnd && MARKER.test(text.slice(from, from + 8))))
      items.push({ start: from, end: lineEnd, depth: from - at });
    else if (from < lineEnd) last.end = lineEnd;
    at = lineEnd + 1;
  }
  return items.filter((item) => item.start < item.end);
}

/** The items around the one at `at`, outermost first, a line each; '' for one at the margin. */
export function ancestorsOf(text: string, block: { start: number; end: number }, at: number): string {
  const from = at - LOOK_BACK <= block.start ? block.start : lineStart(text, at - LOOK_BACK, block.start);
  const items = nestedItems(text, { start: from, end: Math.min(block.end, lineEndAfter(text, at, block.end)) });
  const own = items.findLast((item) => item.start <= at);
  if (own === undefined) return '';
  const names: string[] = [];
  let depth = own.start === at ? own.depth : own.depth + 1;
  for (let index = items.indexOf(own) - (own.start === at ? 1 : 0); index >= 0 && depth > 0; index--) {
    const item = items[index];
    if (item === undefined || item.depth >= depth) continue;
    depth = item.depth;
    names.unshift(nameOf(text.slice(item.start, item.end)));
  }
  return names.join('\n');
}

function nameOf(item: string): string {
  const line = item.split('\n', 1)[0] ?? '';
  return line.length <= MAX_NAME ? line : `${line.slice(0, MAX_NAME).replace(/\s+\S*$/, '')} …`;
}

function lineEndAfter(text: string, at: number, end: number): number {
  const newline = findNewline(text, at, end);
  return newline < 0 ? end : newline;
}
