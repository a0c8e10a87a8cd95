import { isOn } from '../office/package.js';
import type { XmlNode } from '../xml/xml-events.js';
import { attribute, child, childNodes } from '../xml/xml-node.js';

/** Cells one row may have once its spans are written out. */
const MAX_SPAN = 1_000;

/** Collects the rows of one table; merged cells repeat, deleted rows and cells are left out. */
export interface RowReader {
  /** Cells of a row, or undefined when the row was deleted. */
  read(row: XmlNode): string[] | undefined;
  /** Leading rows that repeat on each page. */
  readonly headerRows: number;
}

/** @param cellText reads all that a cell holds */
export function createRowReader(cellText: (cell: XmlNode) => string): RowReader {
  let above: string[] = [];
  let rows = 0;
  let headerRows = 0;
  return {
    read(row) {
      const properties = child(row, 'trPr');
      if (child(properties, 'del') !== undefined) return undefined;
      const cells: string[] = [];
      const skipped = Math.min(MAX_SPAN, Number(attribute(child(properties, 'gridBefore'), 'val') ?? 0) || 0);
      for (let index = 0; index < skipped; index++) cells.push('');
      for (const cell of cellsOf(row)) {
        const cellProperties = child(cell, 'tcPr');
        if (child(cellProperties, 'cellDel') !== undefined) continue;
        const merge = child(cellProperties, 'vMerge');
        const continues = merge !== undefined && (attribute(merge, 'val') ?? 'continue') === 'continue';
        const text = continues ? (above[cells.length] ?? '') : cellText(cell);
        const span = Math.min(MAX_SPAN, Number(attribute(child(cellProperties, 'gridSpan'), 'val') ?? 1) || 1);
        for (let index = 0; index < span; index++) cells.push(text);
      }
      if (isOn(child(properties, 'tblHeader')) && headerRows === rows) headerRows++;
      rows++;
      above = cells;
      return cells;
    },
    get headerRows() {
      return headerRows;
    },
  };
}

/** Cells of a row, also those within content controls. */
function cellsOf(row: XmlNode): XmlNode[] {
  return childNodes(row).flatMap((node) => {
    if (node.name === 'tc') return [node];
    return node.name === 'sdt' || node.name === 'sdtContent' || node.name === 'customXml' || node.name === 'ins'
      ? cellsOf(node)
      : [];
  });
}

/** Rows of a nested table. */
export function rowsOf(table: XmlNode): XmlNode[] {
  return childNodes(table).flatMap((node) => {
    if (node.name === 'tr') return [node];
    return node.name === 'sdt' || node.name === 'sdtContent' || node.name === 'customXml' ? rowsOf(node) : [];
  });
}
