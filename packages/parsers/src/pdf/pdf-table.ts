import type { Row, Segment } from './rows.js';
import { type CellLine, isNumeric, joinHeader, tableRows } from './table-rows.js';

export interface PdfTable {
  rows: string[][];
  /** Rows of the band that the table takes, the end not included. */
  from: number;
  to: number;
  /** Takes the rows at the end of those before the table that are its header, and gives their cells. */
  takeHeader(before: Row[]): string[][];
}

interface Column {
  x0: number;
  x1: number;
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/**
 * Reads a band of rows with several segments each as a table, when it is one: cells that stand in line and are short or numeric.
 * Columns of running text stand in line too, but fill their width with sentences.
 */
export function readPdfTable(band: readonly Row[]): PdfTable | undefined {
  const from = Math.max(
    0,
    band.findIndex((row) => row.segments.length > 1),
  );
  let to = band.findLastIndex((row) => row.segments.length > 1) + 1;
  const columns = columnsOf(band.slice(from, to));
  // Lines on which the last row's cells go on.
  for (let next = band[to]; next !== undefined && goesOn(next, band[to - 1], columns); next = band[to]) to++;
  const rows = band.slice(from, to);
  if (columns.length < 2 || rows.length < 2) return undefined;
  const grid = rows.map((row) => cellsOf(row, columns));
  const full = grid.filter((cells) => cells.filter((cell) => cell !== '').length > 1);
  if (full.length < 2 || full.length < rows.length * 0.5) return undefined;
  if (!looksTabular(grid, rows, columns)) return undefined;
  const takeHeader = (before: Row[]): string[][] => {
    const header: CellLine[] = [];
    let below = rows[0];
    for (let row = before.at(-1); row !== undefined && below !== undefined && header.length < 3; row = before.at(-1)) {
      const columnsHit = new Set(row.segments.map((segment) => nearestColumn(segment, columns)));
      if (columnsHit.size < 2 || columnsHit.size < row.segments.length || below.y - row.y > 2.2 * row.size) break;
      header.unshift({ y: row.y, size: row.size, cells: cellsOf(row, columns) });
      below = row;
      before.pop();
    }
    if (header.length < 2) return header.map(({ cells }) => cells);
    // Lines of the header are judged with those below them.
    const body = rows.slice(0, 2).map((line, index) => ({ y: line.y, size: line.size, cells: grid[index] ?? [] }));
    return joinHeader([...header, ...body])
      .slice(0, -2)
      .map(({ cells }) => cells);
  };
  const lines = rows.map((row, index) => ({ y: row.y, size: row.size, cells: grid[index] ?? [] }));
  return { rows: tableRows(lines), from, to, takeHeader };
}

function goesOn(row: Row, before: Row | undefined, columns: readonly Column[]): boolean {
  const [only] = row.segments;
  if (only === undefined || before === undefined || row.y - before.y > 1.6 * row.size) return false;
  return nearestColumn(only, columns) > 0 && only.x0 > (columns[0]?.x1 ?? 0);
}

/** Columns are the stretches in which segments stand, of the rows that have most. */
function columnsOf(rows: readonly Row[]): Column[] {
  const segments = rows.flatMap((row) => (row.segments.length > 1 ? row.segments : []));
  const columns: Column[] = [];
  for (const segment of [...segments].sort((a, b) => a.x0 - b.x0)) {
    const last = columns.at(-1);
    if (last !== undefined && segment.x0 < last.x1 + segment.size * 0.3) last.x1 = Math.max(last.x1, segment.x1);
    else columns.push({ x0: segment.x0, x1: segment.x1 });
  }
  return columns;
}

function cellsOf(row: Row, columns: readonly Column[]): string[] {
  const cells = columns.map(() => '');
  for (const segment of row.segments) {
    const index = nearestColumn(segment, columns);
    cells[index] = cells[index] === '' ? segment.text : `${cells[index]} ${segment.text}`;
  }
  return cells;
}

function nearestColumn(segment: Segment, columns: readonly Column[]): number {
  const middle = (segment.x0 + segment.x1) / 2;
  let best = 0;
  let distance = Number.POSITIVE_INFINITY;
  for (const [index, column] of columns.entries()) {
    const away = Math.max(column.x0 - middle, middle - column.x1, 0);
    if (away < distance) {
      best = index;
      distance = away;
    }
  }
  return best;
}

function looksTabular(grid: readonly (readonly string[])[], rows: readonly Row[], columns: readonly Column[]): boolean {
  const filled = columns.map((_, index) => grid.map((cells) => cells[index] ?? '').filter((cell) => cell !== ''));
  const lengths = filled.map((cells) => median(cells.map((cell) => cell.length)));
  const numeric = filled.filter((cells) => cells.filter((cell) => isNumeric(cell)).length * 2 > cells.length).length;
  // Running text fills its column, line by line.
  const fill = columns.map((column) => {
    const widths = rows.flatMap((row) =>
      row.segments
        .filter((segment) => segment.x0 >= column.x0 - 1 && segment.x1 <= column.x1 + 1)
        .map((segment) => segment.x1 - segment.x0),
    );
    return median(widths) / Math.max(1, column.x1 - column.x0);
  });
  const prose = columns.filter((_, index) => (lengths[index] ?? 0) > 22 && (fill[index] ?? 0) > 0.8).length;
  if (columns.length >= 3) return prose < columns.length - 1 && median(lengths) <= 30;
  return numeric > 0 || Math.min(...lengths) <= 14;
}
