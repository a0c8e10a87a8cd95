import type { Range } from '../source-text.js';

/** Segments are about this long (UTF-16 units): the syntax tree of one takes some MB. */
const SEGMENT = 64 * 1024;

const FENCE = /^ {0,3}(`{3,}(?!.*`)|~{3,})/;
/** HTML blocks that run over blank lines (CommonMark 0.31, section 4.6, kinds 1-5), with what ends each. */
const HTML_BLOCKS: readonly (readonly [RegExp, RegExp])[] = [
  [/^ {0,3}<(?:script|pre|style|textarea)(?:[\s>]|$)/i, /<\/(?:script|pre|style|textarea)>/i],
  [/^ {0,3}<!--/, /-->/],
  [/^ {0,3}<\?/, /\?>/],
  [/^ {0,3}<![a-z]/i, />/],
  [/^ {0,3}<!\[CDATA\[/, /\]\]>/],
];
/** A line that belongs to no block before it: after a blank line, at the margin, and no marker of a list or quote. */
const FRESH = /^[^\s>\-+*<[|:=]/;
const LIST_NUMBER = /^\d{1,9}[.)]/;

/**
 * Cuts Markdown into segments that mean the same alone as in the whole, so that a long file never needs one large syntax tree.
 * Cuts lie before a line at the margin that follows a blank line, outside fences and HTML blocks.
 */
export function* markdownSegments(text: string, start: number): Generator<Range> {
  let from = start;
  let at = start;
  let fence: string | undefined;
  let htmlEnd: RegExp | undefined;
  let afterBlank = false;
  while (at < text.length) {
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? text.length : newline + 1;
    // No mark that matters is further in; a long line is not copied for each test.
    const line = text.slice(at, Math.min(newline < 0 ? text.length : newline, at + 200));
    if (fence !== undefined) {
      if (closesFence(line, fence)) fence = undefined;
    } else if (htmlEnd !== undefined) {
      if (htmlEnd.test(text.slice(at, end))) htmlEnd = undefined;
    } else {
      if (at - from >= SEGMENT && afterBlank && FRESH.test(line) && !LIST_NUMBER.test(line)) {
        yield { start: from, end: at };
        from = at;
      }
      fence = FENCE.exec(line)?.[1];
      const html = HTML_BLOCKS.find(([opening]) => opening.test(line));
      if (html !== undefined && !html[1].test(text.slice(at, end))) htmlEnd = html[1];
    }
    afterBlank = line.trim() === '';
    at = end;
  }
  if (from < text.length) yield { start: from, end: text.length };
}

function closesFence(line: string, fence: string): boolean {
  const mark = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1];
  return mark?.startsWith(fence) ?? false;
}
