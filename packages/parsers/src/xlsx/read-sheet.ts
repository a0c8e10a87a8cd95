import { type ParseInput, SluiceError } from '@sluice/core';
import { breathe } from '../limits.js';
import type { OfficePackage } from '../office/package.js';
import type { XmlNode } from '../xml/xml-events.js';
import { attribute, attributeOf, child, childNodes, textContent } from '../xml/xml-node.js';
import { formatCell } from './number-format.js';
import { showText } from './shown-number.js';
import { richText, unescapeText, type Workbook } from './workbook.js';

/** A sheet's cells, without the blank rows and columns around them. */
export interface SheetRow {
  /** From 1, as in the sheet. */
  number: number;
  cells: string[];
}

/** Cells one sheet may have once merged cells are written out. */
const MAX_CELLS = 20_000_000;
const MAX_COLUMNS = 16_384;
/** Rows between two looks at the clock and the signal. */
const STRIDE = 2_000;

/** Reads a sheet as a stream of rows. Merged cells repeat. */
export async function readSheet(input: ParseInput, office: OfficePackage, part: string, workbook: Workbook): Promise<SheetRow[]> {
  const rows: SheetRow[] = [];
  const merges: string[] = [];
  let cellCount = 0;
  for await (const event of office.events(part, (name) => name === 'row' || name === 'mergeCell')) {
    if (event.type !== 'node') continue;
    if (event.node.name === 'mergeCell') {
      merges.push(attribute(event.node, 'ref') ?? '');
      continue;
    }
    const row = readRow(event.node, rows.at(-1)?.number ?? 0, workbook);
    cellCount += row.cells.length;
    if (cellCount > MAX_CELLS) throw new SluiceError('limit_exceeded', `a sheet has more than ${MAX_CELLS} cells`);
    if (row.cells.some((cell) => cell !== '')) rows.push(row);
    if (rows.length % STRIDE === 0) await breathe(input);
  }
  writeMerges(rows, merges);
  return withoutLeadingColumns(rows);
}

function readRow(node: XmlNode, before: number, workbook: Workbook): SheetRow {
  const cells: string[] = [];
  for (const cell of childNodes(node, 'c')) {
    const column = columnOf(attributeOf(cell.attributes, 'r')) ?? cells.length;
    if (column >= MAX_COLUMNS) continue;
    const text = cellText(cell, workbook);
    if (text === '') continue;
    while (cells.length < column) cells.push('');
    cells[column] = text;
  }
  return { number: Number(attribute(node, 'r') ?? before + 1) || before + 1, cells };
}

/** Column of a reference as `BC12`, from 0. */
function columnOf(reference: string | undefined): number | undefined {
  const letters = reference === undefined ? undefined : /^[A-Z]{1,3}(?=\d)/i.exec(reference)?.[0].toUpperCase();
  if (letters === undefined) return undefined;
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

function cellText(cell: XmlNode, workbook: Workbook): string {
  const type = attributeOf(cell.attributes, 't') ?? 'n';
  const value = textContent(child(cell, 'v'));
  const meaning = workbook.styles[Number(attributeOf(cell.attributes, 's') ?? 0)] ?? { kind: 'number' };
  const asText = (text: string): string =>
    meaning.kind === 'shown' && text.trim() !== '' ? showText(text.trim(), meaning.format) : text.trim();
  switch (type) {
    case 's':
      return asText(workbook.strings[Number(value)] ?? '');
    case 'inlineStr':
      return asText(richText(child(cell, 'is')));
    case 'b':
      return value === '1' ? 'TRUE' : value === '0' ? 'FALSE' : '';
    case 'str':
      return asText(unescapeText(value));
    case 'e':
      return value.trim();
    case 'd':
      return value.trim().replace(/T00:00:00(?:\.0+)?Z?$/, '');
    default: {
      if (value.trim() === '') return '';
      const number = Number(value);
      return Number.isNaN(number) ? value.trim() : formatCell(number, meaning, workbook.is1904);
    }
  }
}

function writeMerges(rows: SheetRow[], merges: readonly string[]): void {
  const byNumber = new Map(rows.map((row) => [row.number, row]));
  const width = rows.reduce((widest, row) => Math.max(widest, row.cells.length), 0);
  let left = MAX_CELLS;
  for (const reference of merges) {
    const match = /^([A-Z]{1,3})(\d+):([A-Z]{1,3})(\d+)$/i.exec(reference);
    if (match === null) continue;
    const from = columnOf(`${match[1]}1`) ?? 0;
    const to = Math.min(columnOf(`${match[3]}1`) ?? 0, width - 1);
    const top = Number(match[2]);
    const text = byNumber.get(top)?.cells[from] ?? '';
    if (text === '') continue;
    // A title merged over the whole width is one cell; a group merged over some columns names each of them.
    const bottom = Math.min(Number(match[4]), rows.at(-1)?.number ?? 0);
    for (let number = top; number <= bottom && left > 0; number++) {
      const row = byNumber.get(number);
      if (row === undefined) continue;
      for (let column = from; column <= to && left > 0; column++, left--) {
        while (row.cells.length < column) row.cells.push('');
        if ((row.cells[column] ?? '') === '') row.cells[column] = text;
      }
    }
  }
}

/** Columns that no row uses before the first one that some row does are left out. */
export function withoutLeadingColumns(rows: SheetRow[]): SheetRow[] {
  const blank = rows.reduce((least, row) => {
    const first = row.cells.findIndex((cell) => cell !== '');
    return first < 0 ? least : Math.min(least, first);
  }, Number.POSITIVE_INFINITY);
  if (!Number.isFinite(blank) || blank === 0) return rows;
  return rows.map((row) => ({ ...row, cells: row.cells.slice(blank) }));
}
