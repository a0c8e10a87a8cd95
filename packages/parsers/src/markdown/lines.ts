import type { Range } from '../source-text.js';

/** A stretch of Markdown at the top level of the document: one plain block, or several that need the full grammar. */
export type Stretch =
  | (Range & { kind: 'paragraph' | 'quote' })
  | (Range & { kind: 'heading'; level: number })
  | (Range & { kind: 'code'; info: string })
  | (Range & { kind: 'table'; rows: Range[] })
  | (Range & { kind: 'list'; items: Range[] })
  | (Range & { kind: 'complex' });

export interface Line extends Range {
  text: string;
  blank: boolean;
}

/** A line that begins (part of) a paragraph whatever stands before it, and can't turn the lines before it into anything else. */
export const PLAIN =
  /^(?:[\p{L}\p{M}"'“”‘’«»„(¿¡…$@%/,;.?{}]|!(?!\[)|\d(?!\d{0,8}[.)](?:[ \t]|$))|\*{1,3}[^\s*_]|_{1,3}[^\s*_]|`{1,2}[^`\s])/u;
export const HEADING = /^#{1,6}(?:[ \t]|$)/;
export const FENCE = /^( {0,3})(`{3,}(?=[^`]*$)|~{3,})[ \t]*(.*)$/;
/** From this length on a list that needs the full grammar is read in pieces, each a list of its own. */
export const LONG_LIST = 8 * 1024;

/** The line that starts here, without its line feed; undefined at the end of the text. */
export function lineAt(text: string, start: number): Line | undefined {
  if (start >= text.length) return undefined;
  const newline = text.indexOf('\n', start);
  const end = newline < 0 ? text.length : newline;
  const line = text.slice(start, end);
  return { start, end, text: line, blank: line.trim() === '' };
}

/** The first line from here on that is not blank. */
export function visibleLineAt(text: string, start: number): Line | undefined {
  let line = lineAt(text, start);
  while (line?.blank) line = lineAt(text, line.end + 1);
  return line;
}

/** Ends a paragraph, and whatever holds it, without a blank line. */
export function interrupts(line: string): boolean {
  return HEADING.test(line) || (FENCE.test(line) && !line.startsWith(' '));
}
