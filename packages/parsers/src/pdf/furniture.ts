import type { Row } from './rows.js';

export interface PageRows {
  number: number;
  rows: Row[];
  top: number;
  bottom: number;
}

/** Rows at the edge of a page that may be a header or footer. */
const EDGE_ROWS = 3;
/** Share of the page's height in which they lie. */
const EDGE_SHARE = 0.1;
/** The same for page numbers, which are told by their counting. */
const NUMBER_SHARE = 0.18;
/** Share of the pages on which a header or footer stands. */
const PAGE_SHARE = 0.4;

/** Pages in a row, one left out each at most, that show a running title. */
const RUN = 4;

const PAGE_NUMBER =
  /^(?:page|seite|página|pagina|p\.|стр\.)?\s*[-–—[(]?\s*(?:\d{1,4}|[ivxlc]{1,7})\s*[-–—\])]?\s*(?:(?:of|\/|von|de|sur|из)\s*\d{1,4})?$/i;

interface EdgeRow {
  page: PageRows;
  row: Row;
  /** Its text with all numbers alike, and where it stands. */
  key: string;
  text: string;
  /** Share of the page between it and the edge. */
  distance: number;
}

/**
 * Leaves out what repeats at the top and bottom of pages, and page numbers: text that is the same but for its numbers, at the same
 * height, on many pages; numbers alone that count with the pages.
 */
export function withoutFurniture(pages: readonly PageRows[]): PageRows[] {
  const edges = pages.flatMap(edgeRows);
  const pagesByKey = new Map<string, Set<PageRows>>();
  for (const { key, page } of edges) {
    const set = pagesByKey.get(key) ?? new Set();
    set.add(page);
    pagesByKey.set(key, set);
  }
  const pageNumbers = countingNumbers(edges);
  const needed = Math.max(pages.length <= 3 ? 2 : 3, Math.ceil(pages.length * PAGE_SHARE));
  const dropped = new Set<Row>();
  for (const edge of edges) {
    const on = pagesByKey.get(edge.key) ?? new Set();
    const repeats = edge.distance < EDGE_SHARE && (on.size >= needed || runsOverPages(on));
    if (repeats || pageNumbers.has(edge.row)) dropped.add(edge.row);
  }
  // Pages of a line or two, as of a presentation, are no edges alone.
  const emptied = pages.filter((page) => page.rows.length > 0 && page.rows.every((row) => dropped.has(row)));
  if (emptied.length * 2 > pages.length)
    for (const row of emptied.flatMap((page) => page.rows)) if (!pageNumbers.has(row)) dropped.delete(row);
  return pages.map((page) => ({ ...page, rows: page.rows.filter((row) => !dropped.has(row)) }));
}

/** Titles of chapters, also on every other page only, repeat over some pages in a row. */
function runsOverPages(pages: ReadonlySet<PageRows>): boolean {
  const numbers = [...pages].map((page) => page.number).sort((a, b) => a - b);
  let run = 1;
  for (const [index, number] of numbers.entries()) {
    run = index > 0 && number - (numbers[index - 1] ?? 0) <= 2 ? run + 1 : 1;
    if (run >= RUN) return true;
  }
  return false;
}

function edgeRows(page: PageRows): EdgeRow[] {
  const height = page.bottom - page.top;
  const text = (row: Row): string => row.segments.map((segment) => segment.text).join(' ');
  const edge = (row: Row, at: 'top' | 'bottom'): EdgeRow => {
    const distance = at === 'top' ? row.y - page.top : page.bottom - row.y;
    const alike = text(row).toLowerCase().replace(/\d+/g, '#').replace(/\s+/g, ' ');
    return { page, row, text: text(row), distance: distance / height, key: `${at} ${Math.round(distance / 4)} ${alike}` };
  };
  // A page of a few lines has no edges.
  const rows = page.rows;
  const top = rows.slice(0, EDGE_ROWS).filter((row) => row.y - page.top < height * NUMBER_SHARE);
  const bottom = rows.slice(-EDGE_ROWS).filter((row) => page.bottom - row.y < height * NUMBER_SHARE && !top.includes(row));
  return [...top.map((row) => edge(row, 'top')), ...bottom.map((row) => edge(row, 'bottom'))];
}

/** Rows that are page numbers: alone in their row, and as far from the page's own number as on another page. */
function countingNumbers(edges: readonly EdgeRow[]): Set<Row> {
  const byOffset = new Map<number, EdgeRow[]>();
  const found = new Set<Row>();
  for (const edge of edges) {
    if (!PAGE_NUMBER.test(edge.text.trim())) continue;
    const value = /\d+/.exec(edge.text)?.[0];
    if (value === undefined) {
      if (/^[-–—[(]?\s*[ivxlc]{1,7}\s*[-–—\])]?$/i.test(edge.text.trim()) && /[iv]/i.test(edge.text)) found.add(edge.row);
      continue;
    }
    const offset = Number(value) - edge.page.number;
    byOffset.set(offset, [...(byOffset.get(offset) ?? []), edge]);
    // "Page 3 of 9" says itself what it is.
    if (/page|seite|página|pagina|стр|of|von/i.test(edge.text)) found.add(edge.row);
  }
  for (const [offset, group] of byOffset) if (group.length > 1 || offset === 0) for (const edge of group) found.add(edge.row);
  return found;
}
