import type { ParsedDocument, ParseInput } from '@sluice/core';
import { createDocumentBuilder, type DocumentBuilder } from '../document-builder.js';
import { finishBuilt } from '../finish-document.js';
import { settingsOf } from '../format-settings.js';
import { openPackage } from '../office/package.js';
import { headerRowsOf } from '../table-header.js';
import { readSheet, type SheetRow } from './read-sheet.js';
import { readWorkbook } from './workbook.js';

/** Excel workbooks: a level-1 heading and tables a sheet. */
export async function parseXlsx(input: ParseInput): Promise<ParsedDocument> {
  const office = await openPackage(input);
  const workbook = await readWorkbook(office);
  const readHidden = settingsOf(input).xlsx.hidden_sheets;
  const builder = createDocumentBuilder(input.limits);
  const warnings: string[] = [];
  for (const [index, sheet] of workbook.sheets.entries()) {
    input.onProgress?.(index / workbook.sheets.length);
    if (sheet.hidden && !readHidden) {
      warnings.push(`hidden_sheet_skipped: ${sheet.name}`);
      continue;
    }
    if (sheet.part === undefined || !/worksheets?\//.test(sheet.part)) continue;
    const rows = await readSheet(input, office, sheet.part, workbook);
    if (rows.length === 0) continue;
    builder.heading(1, sheet.name);
    for (const block of blocksOf(rows)) writeBlock(builder, block);
  }
  return finishBuilt('xlsx', builder, { metadata: await office.metadata(), warnings });
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

/** Titles and notes are paragraphs; the rest is a table. */
function writeBlock(builder: DocumentBuilder, rows: readonly string[][]): void {
  const width = rows.reduce((widest, cells) => Math.max(widest, filled(cells)), 0);
  let first = 0;
  if (width > 1)
    for (let cells = rows[first]; cells !== undefined && isTitle(cells); cells = rows[++first])
      builder.paragraph(cells.find((cell) => cell !== '') ?? '');
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

/** One text alone in its row, or merged over it. */
function isTitle(cells: readonly string[]): boolean {
  return new Set(cells.filter((cell) => cell !== '')).size <= 1;
}
