import type { Element, ParsedDocument, ParseInput } from '@sluice/core';
import { cleanText } from '../clean-text.js';
import { decodeBytes } from '../encoding/decode-bytes.js';
import { finishSource } from '../finish-document.js';
import { breathe, checkTextLength } from '../limits.js';
import { sliceElement, trimLinesRange, trimRange } from '../source-text.js';
import { itemsOf } from '../text/list-items.js';
import { type MarkupLine, markupLines } from './markup-lines.js';

/** What begins at a line: how many lines it has, and what it is. */
export type MarkupBlock = { lines: number } & (
  | { kind: 'heading'; level: number; title: string }
  | { kind: 'code'; lang?: string }
  | { kind: 'quote' | 'formula' }
  /** Rows with the lines that they take, from the block's first line on. */
  | { kind: 'table'; rows: { cells: string[]; first: number; last: number }[]; headerRows: number }
);

/** The blocks of a markup language. Asked at the first line of each block; undefined for a paragraph or list. */
export type MarkupReader = (lines: readonly MarkupLine[], at: number) => MarkupBlock | undefined;

const STRIDE = 5_000;

/** A text whose blocks a reader knows. The text is the file's. */
export async function parseMarkup(
  input: ParseInput,
  format: string,
  createReader: () => MarkupReader,
  titleOf: (text: string) => string | undefined = () => undefined,
): Promise<ParsedDocument> {
  const decoded = decodeBytes(input.bytes);
  const text = cleanText(decoded.text);
  checkTextLength(text.length, input.limits);
  const lines = markupLines(text);
  const read = createReader();
  const elements: Element[] = [];
  let count = 0;
  for (let at = 0; at < lines.length; ) {
    const line = lines[at];
    if (line === undefined || line.blank) {
      at++;
      continue;
    }
    if (++count % STRIDE === 0) await breathe(input);
    const block = read(lines, at);
    const last = block === undefined ? paragraphEnd(lines, at, read) : Math.min(lines.length, at + Math.max(1, block.lines));
    const range = { start: line.start, end: lines[last - 1]?.end ?? line.end };
    const element = block === undefined ? proseElement(text, range) : blockElement(text, lines, at, range, block);
    if (element !== undefined) elements.push(element);
    at = last;
  }
  const title = titleOf(text);
  const metadata = title === undefined ? {} : { doc_title: title };
  return finishSource(format, text, elements, { metadata, warnings: decoded.warnings, titleFromHeading: true });
}

/** A paragraph ends at a blank line, or where another block begins. */
function paragraphEnd(lines: readonly MarkupLine[], from: number, read: MarkupReader): number {
  let at = from + 1;
  while (at < lines.length && lines[at]?.blank === false && read(lines, at) === undefined) at++;
  return at;
}

function proseElement(text: string, { start, end }: { start: number; end: number }): Element | undefined {
  const range = trimRange(text, start, end);
  if (range === undefined) return undefined;
  const items = itemsOf(text, range);
  return sliceElement(text, range, items === undefined ? { kind: 'paragraph' } : { kind: 'list', parts: items });
}

function blockElement(
  text: string,
  lines: readonly MarkupLine[],
  at: number,
  { start, end }: { start: number; end: number },
  block: MarkupBlock,
): Element | undefined {
  const range = block.kind === 'code' ? trimLinesRange(text, start, end) : trimRange(text, start, end);
  if (range === undefined) return undefined;
  switch (block.kind) {
    case 'heading':
      return sliceElement(text, range, { kind: 'heading', level: block.level, title: block.title });
    case 'code':
      return sliceElement(text, range, { kind: 'code', ...(block.lang === undefined ? {} : { lang: block.lang }) });
    case 'table': {
      const parts = block.rows.map(({ first, last }) => ({
        start: Math.max(range.start, lines[at + first]?.start ?? range.start),
        end: Math.min(range.end, lines[at + last]?.end ?? range.end),
      }));
      const rows = block.rows.map(({ cells }) => cells);
      return rows.length === 0
        ? sliceElement(text, range, { kind: 'paragraph' })
        : sliceElement(text, range, { kind: 'table', rows, parts, headerRows: block.headerRows });
    }
    default:
      return sliceElement(text, range, { kind: block.kind });
  }
}

/** How many lines from `at` on are blank or indented more than `indent`; blank ones at the end are left out. */
export function indentedLines(lines: readonly MarkupLine[], at: number, indent: number): number {
  let last = at;
  for (let next = at; next < lines.length; next++) {
    const line = lines[next];
    if (line === undefined || (!line.blank && line.indent <= indent)) break;
    if (!line.blank) last = next + 1;
  }
  return last - at;
}

/** How many lines there are up to the first one that fits, that one included; undefined when none does. */
export function linesUntil(lines: readonly MarkupLine[], from: number, fits: (line: string) => boolean): number | undefined {
  for (let at = from; at < lines.length; at++) if (fits(lines[at]?.text ?? '')) return at - from + 1;
  return undefined;
}
