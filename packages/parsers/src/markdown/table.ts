import type { Range } from '../source-text.js';
import { interrupts, type Line, lineAt, PLAIN, type Stretch } from './lines.js';

const DELIMITERS = /^\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;
const ROW = /^\|.*\|[ \t]*$/;
/** `- |---|` begins a list, and what is indented by four goes on with the paragraph above. */
const NO_DELIMITERS = /^(?: {4}| {0,3}(?:\t|-[ \t]))/;

/** A table, with bars at the ends of its lines or without, that a blank line, a heading, a fence or the end of the file ends. */
export function tableAt(text: string, header: Line): Stretch | undefined {
  if (!isRow(header.text) || !header.text.includes('|')) return undefined;
  const delimiters = lineAt(text, header.end + 1);
  if (delimiters === undefined || !delimiters.text.includes('|') || !DELIMITERS.test(delimiters.text)) return undefined;
  if (NO_DELIMITERS.test(delimiters.text)) return undefined;
  if (splitCells(header.text).length !== splitCells(delimiters.text).length) return undefined;
  const rows: Range[] = [{ start: header.start, end: header.end }];
  let end = delimiters.end;
  for (let line = lineAt(text, end + 1); line !== undefined && !line.blank; line = lineAt(text, end + 1)) {
    if (interrupts(line.text)) break;
    if (!isRow(line.text)) return undefined;
    rows.push({ start: line.start, end: line.end });
    end = line.end;
  }
  return { kind: 'table', start: header.start, end, rows };
}

function isRow(line: string): boolean {
  return ROW.test(line) || PLAIN.test(line);
}

/** The cells of a row; an escaped bar is none. */
export function splitCells(row: string): string[] {
  const inner = row
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) => cell.replaceAll('\\|', '|').trim());
}
