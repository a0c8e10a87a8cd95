import type { Range } from '../source-text.js';

const ITEM = /^[ \t]*(?:[-*•+–]|\(?\d{1,3}[.)])[ \t]+\S/;
/** Lists are short; the lines of longer blocks are not looked at. */
const MAX_LIST = 64 * 1024;

/** The items of a block that is a list: its first line and at least one more begin with the same kind of marker. */
export function itemsOf(text: string, range: Range): Range[] | undefined {
  if (range.end - range.start > MAX_LIST || !ITEM.test(text.slice(range.start, range.start + 200))) return undefined;
  const items: Range[] = [];
  for (let at = range.start; at < range.end; ) {
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? range.end : Math.min(newline, range.end);
    const line = text.slice(at, end);
    const last = items.at(-1);
    if (ITEM.test(line)) items.push({ start: at + (line.length - line.trimStart().length), end });
    else if (last !== undefined) last.end = end;
    at = end + 1;
  }
  return items.length > 1 ? items : undefined;
}
