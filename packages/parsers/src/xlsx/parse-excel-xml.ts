import type { ParsedDocument, ParseInput } from '@sluice/core';
import { createDocumentBuilder } from '../document-builder.js';
import { decodeBytes } from '../encoding/decode-bytes.js';
import { finishBuilt } from '../finish-document.js';
import { declaredCharset } from '../html/parse-html.js';
import { breathe } from '../limits.js';
import type { XmlNode } from '../xml/xml-events.js';
import { xmlEvents } from '../xml/xml-events.js';
import { attribute, attributeOf, child, childNodes, textContent } from '../xml/xml-node.js';
import { formatCell, meaningOf, type NumberMeaning } from './number-format.js';
import { type SheetRow, withoutLeadingColumns } from './read-sheet.js';
import { showText } from './shown-number.js';
import { writeSheet } from './write-sheet.js';

const MAX_COLUMNS = 16_384;
const MAX_ROWS = 1_048_576;
const STRIDE = 2_000;

/** Workbooks of Excel 2003 as one XML file, which many programs write under the name `.xls`. */
export async function parseExcelXml(input: ParseInput): Promise<ParsedDocument> {
  const decoded = decodeBytes(input.bytes, declaredCharset(input.bytes));
  const builder = createDocumentBuilder(input.limits);
  const styles = new Map<string, NumberMeaning>();
  let name = '';
  let sheet = createSheet(styles);
  let count = 0;
  for await (const event of xmlEvents(piecesOf(decoded.text), (tag) => tag === 'Row' || tag === 'Style', input.limits)) {
    if (event.type === 'open' && event.name === 'Worksheet') {
      name = attributeOf(event.attributes, 'Name') ?? '';
      sheet = createSheet(styles);
    } else if (event.type === 'close' && event.name === 'Worksheet') writeSheet(builder, name, sheet.rows());
    else if (event.type === 'node' && event.node.name === 'Row') sheet.add(event.node);
    else if (event.type === 'node') {
      const code = attribute(child(event.node, 'NumberFormat'), 'Format');
      styles.set(attribute(event.node, 'ID') ?? '', meaningOf(0, code));
    }
    if (++count % STRIDE === 0) await breathe(input);
  }
  return finishBuilt('excel-xml', builder, { metadata: {}, warnings: decoded.warnings });
}

async function* piecesOf(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text.replace(/^\s+(?=<\?xml)/, ''));
}

/** The rows of a sheet; places that are left out count, and merged cells repeat. */
function createSheet(styles: ReadonlyMap<string, NumberMeaning>): { add(node: XmlNode): void; rows(): SheetRow[] } {
  const rows: SheetRow[] = [];
  /** Texts of merged cells that reach into rows below, by column. */
  const merged = new Map<number, { left: number; text: string }>();
  let next = 1;
  return {
    add(node) {
      const number = Math.min(MAX_ROWS, numberOf(node, 'Index') ?? next);
      next = number + 1;
      const cells: string[] = [];
      for (const [column, span] of merged) {
        cells[column] = span.text;
        if (--span.left <= 0) merged.delete(column);
      }
      let column = 0;
      for (const cell of childNodes(node, 'Cell')) {
        column = (numberOf(cell, 'Index') ?? column + 1) - 1;
        const across = numberOf(cell, 'MergeAcross') ?? 0;
        const down = numberOf(cell, 'MergeDown') ?? 0;
        const text = cellText(cell, styles);
        for (const end = Math.min(column + across, MAX_COLUMNS - 1); column <= end; column++) {
          if (text !== '') cells[column] = text;
          if (down > 0 && text !== '') merged.set(column, { left: down, text });
        }
      }
      const line = Array.from(cells, (cell) => cell ?? '');
      if (line.some((cell) => cell !== '')) rows.push({ number, cells: line });
    },
    rows: () => withoutLeadingColumns(rows),
  };
}

function numberOf(node: XmlNode, name: string): number | undefined {
  const value = Number(attribute(node, name) ?? Number.NaN);
  return Number.isInteger(value) && value >= 0 ? value : undefined;
}

function cellText(cell: XmlNode, styles: ReadonlyMap<string, NumberMeaning>): string {
  const data = child(cell, 'Data');
  const text = textContent(data).trim();
  const meaning = styles.get(attribute(cell, 'StyleID') ?? '') ?? { kind: 'number' };
  switch (attribute(data, 'Type')) {
    case 'Number':
      return text === '' || Number.isNaN(Number(text)) ? text : formatCell(Number(text), meaning, false);
    case 'DateTime':
      return text
        .replace(/T00:00:00(?:\.0+)?$/, '')
        .replace(/^1899-12-31T/, '')
        .replace('T', ' ')
        .replace(/\.0+$/, '');
    case 'Boolean':
      return text === '1' ? 'TRUE' : 'FALSE';
    default:
      return meaning.kind === 'shown' && text !== '' ? showText(text, meaning.format) : text;
  }
}
