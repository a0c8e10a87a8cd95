import type { DocumentBuilder } from '../document-builder.js';
import { headerRowsOf } from '../table-header.js';
import type { SheetRow } from './read-sheet.js';

/** A level-1 heading and the tables of a sheet; nothing for a blank one. */
export function writeSheet(builder: DocumentBuilder, name: string, rows: readonly SheetRow[]): void {
  if (rows.length === 0) return;
  builder.heading(1, name);
  for (const block of blocksOf(rows)) writeBlock(builder, block);
}

/**
 * Parts a sheet into blocks: at blank rows after which something that looks like a header begins. Rows of a table that a blank
 * row merely groups stay together, so that each keeps its header.
 */
function blocksOf(rows: readonly SheetRow[]): string[][][] {
  const blocks: string[][][] = [];
  let block: string[][] = [];
  for (const [index, row] of rows.entries()) {
    const before = rows[index - 1];
    const gap = before !== undefined && row.number > before.number + 1;
    if (gap && beginsBlock(rows, index, block)) {
      blocks.push(block);
      block = [];
    }
    block.push(row.cells);
  }
  if (block.length > 0) blocks.push(block);
  return blocks;
}

const filled = (cells: readonly string[]): number => cells.filter((cell) => cell !== '').length;

function beginsBlock(rows: readonly SheetRow[], index: number, before: readonly string[][]): boolean {
  const cells = rows[index]?.cells ?? [];
  const width = Math.max(0, ...before.slice(0, 50).map(filled));
  if (width <= 1 || filled(cells) <= 1) return true;
  const next = rows.slice(index, index + 10).map((row) => row.cells);
  const hasData = next.slice(1).some((line) => line.some((cell) => /^[-+]?[\d.,]+%?$|^\d{4}-\d\d-\d\d/.test(cell)));
  return headerRowsOf(next) === 1 && hasData && cells.every((cell) => cell === '' || !/^[-+]?[\d.,]+%?$/.test(cell));
}

/** Titles and what stands above the header are paragraphs; the rest is a table. */
function writeBlock(builder: DocumentBuilder, rows: readonly string[][]): void {
  const width = rows.reduce((widest, cells) => Math.max(widest, filled(cells)), 0);
  let first = 0;
  if (width > 1) {
    for (let cells = rows[first]; cells !== undefined && isTitle(cells); cells = rows[++first])
      builder.paragraph(cells.find((cell) => cell !== '') ?? '');
    for (const end = first + preambleRows(rows.slice(first)); first < end; first++)
      builder.paragraph(labelled((rows[first] ?? []).filter((cell) => cell !== '')));
  }
  const rest = rows.slice(first);
  if (width <= 1 && rest.length <= 3) for (const cells of rest) builder.paragraph(cells.join(' '));
  else {
    // Rows of one table have the same number of cells.
    const columns = rest.reduce((widest, cells) => Math.max(widest, cells.length), 0);
    const table = builder.openTable({ headerRows: headerRowsOf(rest.slice(0, 50)) });
    for (const cells of rest) table.row(cells.concat(Array.from({ length: columns - cells.length }, () => '')));
    table.close();
  }
}

/** Rows above a header that a report may have: names and dates, each in a few cells. */
const MAX_PREAMBLE = 15;

/** How many rows stand before the header: all have far fewer cells than most rows below them. */
function preambleRows(rows: readonly string[][]): number {
  const counts = rows.slice(0, 200).map(filled);
  const usual = counts.toSorted((a, b) => a - b)[Math.floor(counts.length / 2)] ?? 0;
  const header = counts.findIndex((count) => count >= Math.max(3, usual * 0.7));
  if (header <= 0 || header > MAX_PREAMBLE || header * 2 > counts.length) return 0;
  // A row of groups above the names of the columns belongs to the header.
  const last = rows[header - 1] ?? [];
  const groups = headerRowsOf(rows.slice(header - 1, header + 49)) > 1 && filled(last) > 1 ? header - 1 : header;
  return counts.slice(0, groups).every((count) => count <= usual / 2) ? groups : 0;
}

/** `Region: North`, where a row holds a name and its value. */
function labelled(cells: readonly string[]): string {
  const [name = '', ...values] = cells;
  return values.length === 1 && !/[:：]$/.test(name) ? `${name}: ${values[0]}` : cells.join(' ');
}

/** One text alone in its row, or merged over it. */
function isTitle(cells: readonly string[]): boolean {
  return new Set(cells.filter((cell) => cell !== '')).size <= 1;
}
