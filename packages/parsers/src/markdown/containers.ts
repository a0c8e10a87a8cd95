import type { Range } from '../source-text.js';
import { HEADING, interrupts, type Line, LONG_LIST, lineAt, PLAIN, type Stretch } from './lines.js';

const ITEM = /^(?:[-+*]|\d{1,9}([.)])) {1,4}(?=\S)/;
/** Three marks of one kind are a rule, not items within items. */
const RULE = /^(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,})$/;
/** A mark of an item, or of a quote, within an item. */
const INNER_MARK = /^(?:[-+*]|\d{1,9}[.)]) {1,4}(?=\S)/;
/** Quotes nested deeper than this are left to the full grammar, which knows the limit. */
const DEEP_QUOTE = /^(?:>[ \t]?){50}/;

/**
 * A list at the margin with all that its items hold: what they hold may be anything, since whatever is indented far enough lies in the
 * item, and whatever stands at the margin after a blank line, and is no item, does not. Undefined where only the full grammar can tell.
 */
export function listAt(text: string, first: Line): Stretch | undefined {
  const kind = markerKind(first.text);
  if (kind === undefined) return undefined;
  const items: Range[] = [];
  let end = first.start;
  let width = 0;
  let afterBlank = false;
  let open = createParagraph();
  const list = (): Stretch => ({ kind: 'list', start: first.start, end, items });
  for (let line: Line | undefined = first; line !== undefined; line = lineAt(text, line.end + 1)) {
    if (line.blank) {
      afterBlank = true;
      continue;
    }
    const indent = indentOf(line.text);
    if (indent >= width && indent > 0) {
      open.add(line.text.trimStart(), afterBlank && indent >= width + 4);
    } else if (indent === 0 && markerKind(line.text) === kind && !RULE.test(line.text)) {
      const marker = ITEM.exec(line.text)?.[0] ?? '';
      width = marker.length;
      open = createParagraph();
      open.add(line.text.slice(marker.length), false);
      items.push({ start: line.start, end: line.end });
    } else if (indent === 0 && endsList(line.text, kind, afterBlank)) {
      return list();
    } else if (afterBlank || !open.goesOn || !PLAIN.test(line.text.trimStart())) {
      return upToLastItem(text, first, items);
    }
    const last = items.at(-1);
    if (last === undefined) return undefined;
    end = line.end;
    last.end = end;
    afterBlank = false;
  }
  return list();
}

/** What stands at the margin and lies in no item. */
function endsList(line: string, kind: string, afterBlank: boolean): boolean {
  const own = markerKind(line);
  if (own !== undefined && own !== kind && !RULE.test(line)) return true;
  return interrupts(line) || (afterBlank && own === undefined && !/^(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$)/.test(line));
}

/** A long list is parted before the item that needs the full grammar: else each piece of it would be looked through to that item again. */
function upToLastItem(text: string, first: Line, items: readonly Range[]): Stretch | undefined {
  const last = items.at(-1);
  if (last === undefined || last.start - first.start <= LONG_LIST) return undefined;
  const kept = items.slice(0, -1);
  return { kind: 'list', start: first.start, end: kept.at(-1)?.end ?? text.length, items: kept };
}

/** Whether text at the margin goes on with the paragraph that the lines before it are. */
interface OpenParagraph {
  goesOn: boolean;
  add(content: string, isCode: boolean): void;
}

function createParagraph(): OpenParagraph {
  let isPlain = true;
  return {
    get goesOn() {
      return isPlain;
    },
    add(content, isCode) {
      isPlain &&= !isCode && PLAIN.test(content.replace(INNER_MARK, ''));
    },
  };
}

/** Items with the same mark, or numbers with the same sign behind them, are of one list. */
function markerKind(line: string): string | undefined {
  const match = ITEM.exec(line);
  return match === null ? undefined : (match[1] ?? line.charAt(0));
}

/** Columns of white space before the text; a tab reaches to the next fourth column. */
function indentOf(line: string): number {
  let column = 0;
  for (const char of line) {
    if (char === ' ') column++;
    else if (char === '\t') column += 4 - (column % 4);
    else break;
  }
  return column;
}

/** A quote at the margin, with the lines without a mark that go on with its last paragraph. */
export function quoteAt(text: string, first: Line): Stretch | undefined {
  if (!first.text.startsWith('>')) return undefined;
  const open = createParagraph();
  let end = first.start;
  for (let line: Line | undefined = first; line !== undefined && !line.blank; line = lineAt(text, end + 1)) {
    if (line.text.startsWith('>')) {
      if (DEEP_QUOTE.test(line.text)) return undefined;
      const content = line.text.replace(/^(?:> ?)+/, '');
      open.add(content, false);
    } else if (interrupts(line.text)) break;
    else if (!open.goesOn || !PLAIN.test(line.text)) return undefined;
    end = line.end;
  }
  return { kind: 'quote', start: first.start, end };
}

/** A paragraph, or the heading that a line under it makes of it. */
export function paragraphAt(text: string, first: Line): Stretch | undefined {
  let end = first.start;
  for (let line: Line | undefined = first; line !== undefined && !line.blank; line = lineAt(text, end + 1)) {
    if (!PLAIN.test(line.text)) {
      if (end === first.start) return undefined;
      const underline = /^(?:(=+)|-+)[ \t]*$/.exec(line.text);
      if (underline !== null)
        return { kind: 'heading', start: first.start, end: line.end, level: underline[1] === undefined ? 2 : 1 };
      return interrupts(line.text) ? { kind: 'paragraph', start: first.start, end } : undefined;
    }
    // A row of a table without bars at its ends.
    if (line.text.includes('|')) return undefined;
    end = line.end;
  }
  return { kind: 'paragraph', start: first.start, end };
}

/** A heading with its marks before it. */
export function headingAt(line: Line): Stretch | undefined {
  if (!HEADING.test(line.text)) return undefined;
  return { kind: 'heading', start: line.start, end: line.end, level: /^#*/.exec(line.text)?.[0].length ?? 1 };
}
