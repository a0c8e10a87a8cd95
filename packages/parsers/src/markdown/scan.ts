import type { Range } from '../source-text.js';

/** A stretch of Markdown at the top level of the document: one plain block, or several that need the full grammar. */
export type Stretch =
  | (Range & { kind: 'paragraph' | 'heading' })
  | (Range & { kind: 'code'; info: string })
  | (Range & { kind: 'table'; rows: Range[] })
  | (Range & { kind: 'list'; items: Range[] })
  | (Range & { kind: 'complex' });

/** A line that begins (part of) a paragraph whatever stands before it, and can't turn the lines before it into anything else. */
const PLAIN =
  /^(?:[\p{L}\p{M}"'“”‘’«»„(¿¡…$@%/,;.?{}]|!(?!\[)|\d(?!\d{0,8}[.)](?:[ \t]|$))|\*{1,3}[^\s*_]|_{1,3}[^\s*_]|`{1,2}[^`\s])/u;
const HEADING = /^#{1,6}(?:[ \t]|$)/;
const FENCE = /^( {0,3})(`{3,}(?=[^`]*$)|~{3,})[ \t]*(.*)$/;
const TABLE_ROW = /^\|.*\|[ \t]*$/;
const DELIMITERS = /^\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*$/;
const LIST_ITEM = /^(?:[-+*]|\d{1,9}[.)])[ \t]/;
/** HTML blocks that run over blank lines (CommonMark 0.31, section 4.6, kinds 1-5), with what ends each. */
const HTML_BLOCKS: readonly (readonly [RegExp, RegExp])[] = [
  [/^ {0,3}<(?:script|pre|style|textarea)(?:[\s>]|$)/i, /<\/(?:script|pre|style|textarea)>/i],
  [/^ {0,3}<!--/, /-->/],
  [/^ {0,3}<\?/, /\?>/],
  [/^ {0,3}<![a-z]/i, />/i],
  [/^ {0,3}<!\[CDATA\[/, /\]\]>/],
];

/** From this length on a list is read in pieces, each a list of its own. */
const LONG_LIST = 8 * 1024;

interface Line extends Range {
  text: string;
  blank: boolean;
}

/**
 * Cuts Markdown into stretches. Prose, headings, fenced code and simple tables, nearly all of a long file, are recognised here in one
 * pass; what may nest or mean several things (lists, quotes, HTML, definitions) is left to the full grammar, in stretches that
 * mean the same alone as in the whole.
 */
export function* scanMarkdown(text: string, from: number): Generator<Stretch> {
  let line = lineAt(text, from);
  while (line !== undefined) {
    if (line.blank) {
      line = lineAt(text, line.end + 1);
      continue;
    }
    const stretch: Stretch =
      headingAt(line) ??
      codeAt(text, line) ??
      tableAt(text, line) ??
      listAt(text, line) ??
      paragraphAt(text, line) ??
      complexAt(text, line);
    yield stretch;
    line = lineAt(text, stretch.end + 1);
  }
}

function lineAt(text: string, start: number): Line | undefined {
  if (start >= text.length) return undefined;
  const newline = text.indexOf('\n', start);
  const end = newline < 0 ? text.length : newline;
  const line = text.slice(start, end);
  return { start, end, text: line, blank: line.trim() === '' };
}

function headingAt(line: Line): Stretch | undefined {
  return HEADING.test(line.text) ? { kind: 'heading', start: line.start, end: line.end } : undefined;
}

function codeAt(text: string, first: Line): Stretch | undefined {
  const fence = FENCE.exec(first.text);
  if (fence === null) return undefined;
  let end = first.end;
  for (let line = lineAt(text, end + 1); line !== undefined; line = lineAt(text, end + 1)) {
    end = line.end;
    if (closesFence(line.text, fence[2] ?? '')) break;
  }
  return { kind: 'code', start: first.start, end, info: fence[3] ?? '' };
}

function closesFence(line: string, fence: string): boolean {
  const mark = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1];
  return mark?.startsWith(fence) ?? false;
}

/** A table with bars at both ends of each line that a blank line or the end of the file ends. */
function tableAt(text: string, header: Line): Stretch | undefined {
  if (!TABLE_ROW.test(header.text)) return undefined;
  const delimiters = lineAt(text, header.end + 1);
  if (delimiters === undefined || !DELIMITERS.test(delimiters.text)) return undefined;
  if (splitCells(header.text).length !== splitCells(delimiters.text).length) return undefined;
  const rows: Range[] = [{ start: header.start, end: header.end }];
  let end = delimiters.end;
  for (let line = lineAt(text, end + 1); line !== undefined && !line.blank; line = lineAt(text, end + 1)) {
    if (!TABLE_ROW.test(line.text)) return undefined;
    rows.push({ start: line.start, end: line.end });
    end = line.end;
  }
  return { kind: 'table', start: header.start, end, rows };
}

/** The cells of a row with bars at both ends; an escaped bar is none. */
export function splitCells(row: string): string[] {
  const inner = row
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) => cell.replaceAll('\\|', '|').trim());
}

const ITEM = /^([-+*]|\d{1,9}([.)]))[ \t]/;

/** A list of plain items of one line each at the margin, that a blank line and a plain block, or the end of the file, end. */
function listAt(text: string, first: Line): Stretch | undefined {
  const kind = markerKind(first.text);
  if (kind === undefined) return undefined;
  const items: Range[] = [];
  let end = first.start;
  let line: Line | undefined = first;
  for (; line !== undefined && !line.blank; line = lineAt(text, end + 1)) {
    const marker = ITEM.exec(line.text)?.[0] ?? '';
    if (markerKind(line.text) !== kind || !PLAIN.test(line.text.slice(marker.length))) return undefined;
    items.push({ start: line.start, end: line.end });
    end = line.end;
  }
  let after = end;
  while (line?.blank) {
    after = line.end;
    line = lineAt(text, after + 1);
  }
  // Anything else after a blank line may belong to the last item.
  if (line !== undefined && !PLAIN.test(line.text) && !HEADING.test(line.text)) return undefined;
  return { kind: 'list', start: first.start, end, items };
}

/** Items with the same mark, or numbers with the same sign behind them, are of one list. */
function markerKind(line: string): string | undefined {
  const match = ITEM.exec(line);
  return match === null ? undefined : (match[2] ?? match[1]);
}

function paragraphAt(text: string, first: Line): Stretch | undefined {
  let end = first.start;
  for (let line: Line | undefined = first; line !== undefined && !line.blank; line = lineAt(text, end + 1)) {
    if (!PLAIN.test(line.text)) {
      const interrupts = HEADING.test(line.text) || FENCE.test(line.text);
      return end > first.start && interrupts ? { kind: 'paragraph', start: first.start, end } : undefined;
    }
    // A row of a table without bars at its ends.
    if (line.text.includes('|')) return undefined;
    end = line.end;
  }
  return { kind: 'paragraph', start: first.start, end };
}

/** Everything up to a line that stands at the margin after a blank line and begins a plain block. */
function complexAt(text: string, first: Line): Stretch {
  let fence: string | undefined;
  let htmlEnd: RegExp | undefined;
  let afterBlank = false;
  let end = first.end;
  let lastVisible = first.end;
  for (let line: Line | undefined = first; line !== undefined; line = lineAt(text, end + 1)) {
    if (fence !== undefined) {
      if (closesFence(line.text, fence)) fence = undefined;
    } else if (htmlEnd !== undefined) {
      if (htmlEnd.test(line.text)) htmlEnd = undefined;
    } else {
      const fresh = PLAIN.test(line.text) || HEADING.test(line.text) || (FENCE.test(line.text) && !line.text.startsWith(' '));
      if (afterBlank && fresh) break;
      if (line.start - first.start > LONG_LIST && LIST_ITEM.test(line.text) && LIST_ITEM.test(first.text)) break;
      fence = FENCE.exec(line.text)?.[2];
      const current = line.text;
      const html = HTML_BLOCKS.find(([opening]) => opening.test(current));
      if (html !== undefined && !html[1].test(current.replace(/^ {0,3}<!(?:--)?/, ''))) htmlEnd = html[1];
    }
    afterBlank = line.blank;
    end = line.end;
    if (!line.blank) lastVisible = line.end;
  }
  return { kind: 'complex', start: first.start, end: lastVisible };
}
