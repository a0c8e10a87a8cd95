import type { ParsedDocument, ParseInput } from '@sluice/core';
import { CsvError, type Options, parse } from 'csv-parse/sync';
import { cleanText } from '../clean-text.js';
import { createDocumentBuilder } from '../document-builder.js';
import { decodeBytes } from '../encoding/decode-bytes.js';
import { finishBuilt } from '../finish-document.js';
import { breathe } from '../limits.js';
import { headerRowsOf } from '../table-header.js';
import { findDelimiter } from './find-delimiter.js';

/** Text handed to the reader at a time, about (UTF-16 units). */
const PIECE = 1024 * 1024;
/** A first line by which Excel is told the separator: no row. */
const SEPARATOR_LINE = /^"?sep=([,;|\t])"?(?:\n|$)/i;
/** Rows by which the header is judged. */
const SAMPLE_ROWS = 50;

/** Comma, semicolon, tab or bar separated values: one table. Quotes that are never closed are read as ordinary characters. */
export async function parseCsv(input: ParseInput): Promise<ParsedDocument> {
  const decoded = decodeBytes(input.bytes);
  const text = cleanText(decoded.text);
  const told = SEPARATOR_LINE.exec(text);
  const delimiter = told?.[1] ?? findDelimiter(text, input.name);
  const warnings = [...decoded.warnings];
  const builder = createDocumentBuilder(input.limits);
  let table: ReturnType<typeof builder.openTable> | undefined;
  let first: string[][] = [];
  const open = (): void => {
    table = builder.openTable({ headerRows: headerRowsOf(first) });
    for (const row of first) table.row(row);
    first = [];
  };
  for (const piece of pieces(text, told?.[0].length ?? 0)) {
    await breathe(input);
    input.onProgress?.(piece.end / text.length);
    for (const row of readRows(text.slice(piece.start, piece.end), delimiter, warnings)) {
      if (row.every((cell) => cell.trim() === '')) continue;
      if (table !== undefined) table.row(row);
      else if (first.push(row) >= SAMPLE_ROWS) open();
    }
  }
  if (table === undefined) open();
  table?.close();
  return finishBuilt('csv', builder, { metadata: {}, warnings });
}

/** Pieces that end with a row: at a line break with an even number of quotes before it. */
function* pieces(text: string, from: number): Generator<{ start: number; end: number }> {
  let start = from;
  while (start < text.length) {
    const end = text.length - start <= PIECE ? text.length : rowEndAfter(text, start, start + PIECE);
    yield { start, end };
    start = end;
  }
}

/** A row longer than this is no row: a quote was never closed. */
const MAX_ROW = 4 * PIECE;

function rowEndAfter(text: string, start: number, wanted: number): number {
  let open = false;
  let lineEnd = -1;
  for (let at = start; at < text.length && at < wanted + MAX_ROW; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) open = !open;
    else if (code === 0x0a) {
      if (at >= wanted && !open) return at + 1;
      if (at >= wanted && lineEnd < 0) lineEnd = at + 1;
    }
  }
  return lineEnd < 0 ? text.length : lineEnd;
}

function readRows(piece: string, delimiter: string, warnings: string[]): string[][] {
  const options: Options = { delimiter, relax_column_count: true, skip_empty_lines: true, bom: false };
  try {
    return parse(piece, { ...options, relax_quotes: true });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    if (!warnings.includes(UNCLOSED)) warnings.push(UNCLOSED);
    return parse(piece, { ...options, quote: false });
  }
}

const UNCLOSED = 'quotes_not_closed';
