import type { XmlNode } from '../xml/xml-events.js';
import { attribute, childNodes } from '../xml/xml-node.js';

/** Cells that repeated and merged ones may become in one row, and rows in one table. */
const MAX_COLUMNS = 16_384;
const MAX_REPEATED_ROWS = 1_000;

/** Collects the rows of a table; merged cells repeat, and so do cells and rows that are written once for several. */
export interface OdfRows {
  /** The cells of a row, and for how many rows they stand. */
  read(row: XmlNode): { cells: string[]; repeat: number };
}

export function createOdfRows(textOf: (cell: XmlNode) => string): OdfRows {
  /** Texts of merged cells that reach into rows below, by column. */
  const merged = new Map<number, { left: number; text: string }>();
  return {
    read(row) {
      const cells: string[] = [];
      for (const cell of childNodes(row)) {
        if (cell.name !== 'table-cell' && cell.name !== 'covered-table-cell') continue;
        const repeat = Math.min(numberOf(cell, 'number-columns-repeated'), MAX_COLUMNS - cells.length);
        const text = cell.name === 'table-cell' ? textOf(cell) : '';
        const [across, down] = [numberOf(cell, 'number-columns-spanned'), numberOf(cell, 'number-rows-spanned')];
        for (let index = 0; index < repeat; index++) {
          const column = cells.length;
          const above = cell.name === 'covered-table-cell' ? takeAbove(merged, column) : undefined;
          cells.push(above ?? text);
          if (text === '' || cell.name !== 'table-cell') continue;
          for (let next = column; next < Math.min(column + across, MAX_COLUMNS); next++) {
            if (down > 1) merged.set(next, { left: down - 1, text });
            if (next > column) merged.set(-next, { left: 1, text });
          }
        }
      }
      while (cells.at(-1) === '') cells.pop();
      for (const key of merged.keys()) if (key < 0) merged.delete(key);
      return { cells, repeat: Math.min(numberOf(row, 'number-rows-repeated'), MAX_REPEATED_ROWS) };
    },
  };
}

/** Of the cell to the left in this row, or of one above. */
function takeAbove(merged: Map<number, { left: number; text: string }>, column: number): string | undefined {
  const left = merged.get(-column);
  if (left !== undefined) return left.text;
  const above = merged.get(column);
  if (above !== undefined && --above.left <= 0) merged.delete(column);
  return above?.text;
}

function numberOf(node: XmlNode, name: string): number {
  const value = Number(attribute(node, name) ?? 1);
  return Number.isInteger(value) && value > 0 ? value : 1;
}

/** The rows of a table in groups of header rows and others. */
export function odfRowsOf(table: XmlNode): { rows: XmlNode[]; headerRows: number } {
  const rows: XmlNode[] = [];
  let headerRows = 0;
  const walk = (node: XmlNode, isHeader: boolean): void => {
    for (const inner of childNodes(node)) {
      if (inner.name === 'table-row') {
        rows.push(inner);
        if (isHeader && headerRows === rows.length - 1) headerRows++;
      } else if (/^table-(?:header-rows|rows|row-group)$/.test(inner.name))
        walk(inner, isHeader || inner.name === 'table-header-rows');
    }
  };
  walk(table, false);
  return { rows, headerRows };
}
