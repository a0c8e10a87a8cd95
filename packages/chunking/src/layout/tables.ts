import { edgeAfter } from '../text/graphemes.js';
import { findNewline, lineStart, skipSpace, skipSpaceBack } from '../text/space.js';
import type { Block } from './outline.js';

export interface TableRow {
  start: number;
  end: number;
  cells: string[];
  /** Of its cells, once they were looked for. */
  places?: { cells: TableCell[] | undefined };
}

export interface TableShape {
  start: number;
  /** The header as it stands in the text, to be repeated above rows that are parted from it; '' where there is none. */
  header: string;
  /** Where the first row of data begins. */
  bodyStart: number;
  /** Names of the columns, '' where a column has none. */
  names: string[];
  rows: TableRow[];
}

/** The rows of a table in its text; undefined where the parser's rows can't be distinguished there. */
export function shapeTable(text: string, block: Block): TableShape | undefined {
  const element = block.element;
  const rows = element?.rows;
  if (rows === undefined || rows.length === 0) return undefined;
  const parts = element?.parts ?? linesOf(text, block, rows.length);
  if (parts === undefined || parts.length !== rows.length) return undefined;
  const headerRows = Math.min(element?.headerRows ?? 1, rows.length);
  const firstBody = parts[headerRows];
  if (firstBody === undefined) return undefined;
  const bodyStart =
    headerRows === 0 ? block.start : Math.max(block.start, lineStart(text, firstBody.start, parts[headerRows - 1]?.end ?? 0));
  const shaped: TableRow[] = [];
  let from = bodyStart;
  for (let index = headerRows; index < rows.length; index++) {
    const last = index === rows.length - 1;
    const to = last ? block.end : edgeAfter(text, parts[index]?.end ?? block.end);
    const start = skipSpace(text, from, to);
    if (start < to) shaped.push({ start, end: to, cells: rows[index] ?? [] });
    from = to;
  }
  const header = text.slice(block.start, skipSpaceBack(text, block.start, bodyStart));
  return {
    start: block.start,
    header: header === '' ? '' : `${header}\n`,
    bodyStart,
    names: namesOf(rows.slice(0, headerRows)),
    rows: shaped,
  };
}

/** One line a row, a line of dashes below the header left out. */
function linesOf(text: string, block: Block, count: number): { start: number; end: number }[] | undefined {
  const lines: { start: number; end: number }[] = [];
  let at = block.start;
  while (at < block.end) {
    const newline = findNewline(text, at, block.end);
    const end = newline < 0 ? block.end : newline;
    const line = text.slice(at, end);
    if (line.trim() !== '' && !/^[\s|:+=-]+$/.test(line)) lines.push({ start: at, end });
    at = end + 1;
  }
  return lines.length === count ? lines : undefined;
}

function namesOf(header: readonly string[][]): string[] {
  const names: string[] = [];
  const width = Math.max(0, ...header.map((row) => row.length));
  for (let column = 0; column < width; column++) {
    const levels = header.map((row) => (row[column] ?? '').trim()).filter((name) => name !== '');
    names.push([...new Set(levels)].join(', '));
  }
  return names;
}

/** A row in plain words, as it is embedded: `key: k0; note: first bin`. */
export function sayRow(names: readonly string[], cells: readonly string[]): string {
  const said: string[] = [];
  let previous = '';
  cells.forEach((cell, column) => {
    const value = cell.replace(/\s+/g, ' ').trim();
    const name = names[column] ?? '';
    const words = name === '' ? value : `${name}: ${value}`;
    // Merged cells repeat: once is enough.
    if (value !== '' && words !== previous) said.push(words);
    previous = words;
  });
  return said.join('; ');
}

/** The rows from start to end in plain words, with the text around the table; undefined where a cell or the header is parted. */
export function sayTable(text: string, shape: TableShape, start: number, end: number): string | undefined {
  const from = firstEndAfter(shape.rows, start);
  const said: string[] = [];
  if (start < shape.start) said.push(text.slice(start, Math.min(end, shape.start)).trim());
  let covered = start;
  let index = from;
  for (; index < shape.rows.length; index++) {
    const row = shape.rows[index];
    if (row === undefined || row.start >= end) break;
    const words = row.start < start || row.end > end ? sayCells(text, shape, row, start, end) : sayRow(shape.names, row.cells);
    if (words === undefined) return undefined;
    said.push(words);
    covered = Math.min(end, row.end);
  }
  const touchesTable = end > shape.start && start < (shape.rows.at(-1)?.end ?? 0);
  if (touchesTable && (index === from || (from === 0 && start > shape.start && start < shape.bodyStart))) return undefined;
  if (index === shape.rows.length && end > covered) said.push(text.slice(covered, end).trim());
  return said.filter((line) => line !== '').join('\n');
}

/** Index of the first row, or cell, that ends behind `at`. */
function firstEndAfter(rows: readonly { end: number }[], at: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rows[middle]?.end ?? 0) > at) high = middle;
    else low = middle + 1;
  }
  return low;
}

export interface TableCell {
  /** With the marks before it, so that the cells of a row cover it. */
  start: number;
  end: number;
  column: number;
}

/** Where the cells of a row stand in the text; undefined where they aren't found one after the other. */
export function cellsOf(text: string, row: TableRow): TableCell[] | undefined {
  // A wide row becomes many chunks, each of which asks for its cells.
  if (row.places === undefined) row.places = { cells: findCells(text, row) };
  return row.places.cells;
}

function findCells(text: string, row: TableRow): TableCell[] | undefined {
  const found: TableCell[] = [];
  let at = row.start;
  for (const [column, cell] of row.cells.entries()) {
    const value = cell.trim();
    if (value === '') continue;
    const rest = text.slice(at, row.end);
    const escaped = value.replaceAll('|', '\\|');
    const offset = rest.startsWith(value) ? 0 : rest.indexOf(escaped);
    if (offset < 0) return undefined;
    const end = at + offset + (offset === 0 && rest.startsWith(value) ? value.length : escaped.length);
    found.push({ start: found.length === 0 ? row.start : at, end, column });
    at = end;
  }
  const last = found.at(-1);
  if (last === undefined) return undefined;
  last.end = row.end;
  return found;
}

/** Cells that a span touches; cells ascend. */
function cellsWithin(cells: readonly TableCell[], start: number, end: number): readonly TableCell[] {
  const from = firstEndAfter(cells, start);
  let to = from;
  while ((cells[to]?.start ?? end) < end) to++;
  return cells.slice(from, to);
}

function sayCells(text: string, shape: TableShape, row: TableRow, start: number, end: number): string | undefined {
  const within = cellsWithin(cellsOf(text, row) ?? [], start, end);
  if (within.length === 0 || within.some((cell) => skipSpace(text, cell.start, cell.end) < start || cell.end > end))
    return undefined;
  return sayRow(
    within.map((cell) => shape.names[cell.column] ?? ''),
    within.map((cell) => row.cells[cell.column] ?? ''),
  );
}

/** Longest key of a row that is named again (UTF-16 units). */
const MAX_KEY = 80;

/** A part of a cell that was too long, below the key of its row: `part: hinge; note: ...`. Undefined where the part is no such thing. */
export function sayCellPart(text: string, shape: TableShape, start: number, end: number): string | undefined {
  const row = shape.rows[firstEndAfter(shape.rows, start)];
  if (row === undefined || start < row.start || end > row.end) return undefined;
  const cells = cellsOf(text, row) ?? [];
  const at = firstEndAfter(cells, start);
  const [cell, ...later] = cellsWithin(cells.slice(at), start, end);
  const key = cells[0];
  if (cell === undefined || key === undefined || cell === key) return undefined;
  const said = sayRow([shape.names[key.column] ?? ''], [row.cells[key.column] ?? '']);
  const name = shape.names[cell.column] ?? '';
  const rest = sayRow(
    later.map(({ column }) => shape.names[column] ?? ''),
    later.map(({ column }) => row.cells[column] ?? ''),
  );
  const part = text
    .slice(start, Math.min(end, cell.end))
    .replace(/^\s*\|\s*|\s*\|\s*$/g, '')
    .trim();
  if (said.length > MAX_KEY || (later.at(-1)?.end ?? 0) > Math.max(end, row.end)) return undefined;
  return [said, `${name === '' ? '' : `${name}: `}${part}`, rest].filter((words) => words !== '').join('; ');
}
