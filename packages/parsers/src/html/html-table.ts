import { contains, findAll, type HtmlNode, textOf } from './tree.js';

export interface HtmlTable {
  caption: string;
  rows: string[][];
  headerRows: number;
}

/** A span in an attribute, within what browsers take (HTML, section 4.9.11). */
function spanOf(cell: HtmlNode, name: 'colspan' | 'rowspan'): number {
  const value = Number.parseInt(cell.attributes[name] ?? '1', 10);
  return Number.isFinite(value) && value > 0 ? Math.min(value, 1000) : 1;
}

/** Copies of cells that a table may have for its spans; further ones are left out, the cells themselves never. */
const MAX_COPIES = 500_000;

const isCell = (node: Pick<HtmlNode, 'name'>): boolean => node.name === 'td' || node.name === 'th';

/** A cell of data is about this long at most (UTF-16 units). */
const CELL_LENGTH = 120;

/** True when a table only places things on the page: its cells are then read one after the other. */
export function isLayoutTable(table: HtmlNode): boolean {
  const role = table.attributes.role;
  if (role === 'presentation' || role === 'none') return true;
  const rows = rowsOf(table).map((row) =>
    row.children.filter((child): child is HtmlNode => typeof child !== 'string' && isCell(child)),
  );
  // Of the table itself, not of one in its cells.
  const own = findAll(table, ({ name }) => name === 'caption' || name === 'thead' || name === 'table' || isCell({ name }));
  if (own.some(({ name }) => name === 'caption' || name === 'thead')) return false;
  if (rows.some((cells) => cells.some(({ name }) => name === 'th'))) return false;
  if (rows.every((cells) => cells.length <= 1)) return true;
  if (!contains(table, ({ name }) => name === 'table' || /^h[1-6]$/.test(name) || name === 'pre' || name === 'blockquote'))
    return false;
  // With headings or tables in its cells it is one of data only where its rows are even and its cells short.
  const width = rows[0]?.length ?? 0;
  const isGrid = rows.length > 1 && rows.every((cells) => cells.length === width);
  return !isGrid || rows.flat().some((cell) => textOf(cell).trim().length > CELL_LENGTH);
}

function rowsOf(table: HtmlNode): HtmlNode[] {
  return findAll(table, (node) => node.name === 'tr' || node.name === 'table').filter((node) => node.name === 'tr');
}

/** The cells of a table with spans written out (a merged cell repeats) and without columns that are blank throughout. */
export function readTable(table: HtmlNode): HtmlTable {
  const grid: string[][] = [];
  /** Columns in which some cell begins that is not blank: those that only spans run through are layout. */
  const used = new Set<number>();
  let headerRows = 0;
  let copies = 0;
  const pending = new Map<number, { left: number; text: string }>();
  const rows = rowsOf(table);
  const heads = new Set(findAll(table, (node) => node.name === 'thead').flatMap(rowsOf));
  for (const row of rows) {
    const cells = row.children.filter((child): child is HtmlNode => typeof child !== 'string' && isCell(child));
    const line: string[] = [];
    const takeSpans = (): void => {
      for (let span = pending.get(line.length); span !== undefined; span = pending.get(line.length)) {
        if (++copies > MAX_COPIES) pending.clear();
        if (--span.left <= 0) pending.delete(line.length);
        line.push(span.text);
      }
    };
    for (const cell of cells) {
      takeSpans();
      const text = textOf(cell).replace(/\s+/g, ' ').trim();
      const down = spanOf(cell, 'rowspan');
      if (text !== '') used.add(line.length);
      for (let across = 0; across < spanOf(cell, 'colspan') && (across === 0 || copies < MAX_COPIES); across++) {
        if (across > 0) copies++;
        if (down > 1 && copies < MAX_COPIES) pending.set(line.length, { left: down - 1, text });
        line.push(text);
      }
    }
    takeSpans();
    if (line.every((text) => text === '')) continue;
    grid.push(line);
    const isHead = heads.has(row) || (cells.length > 0 && cells.every((cell) => cell.name === 'th'));
    if (isHead && headerRows === grid.length - 1) headerRows = grid.length;
  }
  const caption = findAll(table, (node) => node.name === 'caption' || node.name === 'table').find(
    (node) => node.name === 'caption',
  );
  return {
    caption: caption === undefined ? '' : textOf(caption).replace(/\s+/g, ' ').trim(),
    rows: grid.map((line) => line.filter((_, column) => used.has(column))),
    headerRows: headerRows === 0 || headerRows === grid.length ? 1 : headerRows,
  };
}
