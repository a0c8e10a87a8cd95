import type { ParsedDocument } from '@sluice/core';
import { expect, it } from 'vitest';
import { expectLawful } from './laws.js';
import { parseAs } from './parse-file.js';
import { type DrawnText, pdfOf } from './pdf-files.js';
import { tables } from './pdf-tables.js';
import { taggedPdf } from './tagged-pdf.js';

/** What share of the cells and headings of the fixtures must be found, and of the headings found must be some. */
const LEAST = 0.85;

const prose = (y: number, lines: number): DrawnText[] =>
  Array.from({ length: lines }, (_, line) => ({
    text: `The quarterly report of the harbour describes what each berth took in, line ${line} of the text on this page.`,
    x: 60,
    y: y + line * 13,
    size: 10,
  }));

/** The share of cells that stand beside another cell of their row. */
function cellRecall(rows: readonly string[][], document: ParsedDocument): number {
  const found = document.elements.flatMap((element) => element.rows ?? []);
  const hits = rows.map((row) => {
    const best = Math.max(0, ...found.map((cells) => row.filter((cell) => cell !== '' && cells.includes(cell)).length));
    return best > 1 ? best : 0;
  });
  const cells = rows.flat().filter((cell) => cell !== '').length;
  return hits.reduce((sum, count) => sum + count, 0) / cells;
}

it.each(tables)('finds the cells of a table without rules: $name', async ({ rows, draw }) => {
  const heading = { text: 'Heading of this page', x: 60, y: 100, size: 16, bold: true };
  const pages = [draw, [heading, ...prose(130, 3), ...draw, ...prose(330, 4)]];
  for (const page of pages) {
    const document = await parseAs('a.pdf', await pdfOf([page]));
    expectLawful(document);
    expect(cellRecall(rows, document)).toBeGreaterThanOrEqual(LEAST);
    // The text around it is none of it.
    const inside = document.elements.filter(({ kind }) => kind === 'table').map(({ text }) => text);
    expect(inside.join()).not.toContain('quarterly');
  }
});

const lines = (page: DrawnText[]): Promise<Uint8Array> => pdfOf([page]);
const text = (y: number) => prose(y, 3);

/** Pages with their headings. */
const headed: { name: string; headings: string[]; make: () => Promise<Uint8Array> | Uint8Array }[] = [
  {
    name: 'by size',
    headings: ['Harbour rules', 'Berths', 'Fees of 2024'],
    make: () =>
      lines([
        { text: 'Harbour rules', x: 60, y: 60, size: 20 },
        ...text(90),
        { text: 'Berths', x: 60, y: 150, size: 14 },
        ...text(170),
        { text: 'Fees of 2024', x: 60, y: 230, size: 14 },
        ...text(250),
      ]),
  },
  {
    name: 'bold, of the size of the text, over it without a gap',
    headings: ['Berths and moorings', 'Fees of 2024'],
    make: () =>
      lines([
        { text: 'Berths and moorings', x: 60, y: 87, size: 10, bold: true },
        ...text(100),
        { text: 'Fees of 2024', x: 60, y: 157, size: 10, bold: true },
        ...text(170),
      ]),
  },
  {
    name: 'numbered',
    headings: ['1. Berths', '1.1 North quay', '2. Fees'],
    make: () =>
      lines([
        { text: '1. Berths', x: 60, y: 60, size: 14, bold: true },
        ...text(80),
        { text: '1.1 North quay', x: 60, y: 140, size: 12, bold: true },
        ...text(160),
        { text: '2. Fees', x: 60, y: 220, size: 14, bold: true },
        ...text(240),
      ]),
  },
  {
    name: 'beside code, which has none',
    headings: ['Queries'],
    make: () =>
      lines([
        { text: 'Queries', x: 60, y: 60, size: 16, bold: true },
        ...text(80),
        { text: 'SELECT name FROM berths', x: 60, y: 150, size: 10, mono: true },
        { text: 'WHERE fee > 40 ORDER BY name', x: 60, y: 162, size: 10, mono: true },
        ...text(190),
      ]),
  },
  {
    name: 'by tags, whatever their size',
    headings: ['Harbour rules', 'Berths and moorings', 'Fees'],
    make: () =>
      taggedPdf([
        { role: 'H1', text: 'Harbour rules' },
        { role: 'P', text: 'Ships wait outside until the harbour master calls them.' },
        { role: 'P', text: 'DIAGRAM LABEL', size: 18 },
        { role: 'H2', text: 'Berths and moorings' },
        { role: 'P', text: 'Each has a number.' },
        { role: 'H2', text: 'Fees' },
        { role: 'P', text: 'SELECT * FROM fees', size: 14 },
      ]),
  },
];

it('finds headings by tags, size and font, and few that are none', async () => {
  let [hits, wanted, found] = [0, 0, 0];
  for (const { headings, make } of headed) {
    const document = await parseAs('a.pdf', await make());
    expectLawful(document);
    const titles = document.elements.filter(({ kind }) => kind === 'heading').map(({ text: own }) => own);
    hits += headings.filter((heading) => titles.includes(heading)).length;
    wanted += headings.length;
    found += titles.length;
  }
  expect(hits / wanted).toBeGreaterThanOrEqual(LEAST);
  expect(hits / found).toBeGreaterThanOrEqual(LEAST);
});

it('takes the levels of headings from the tags', async () => {
  const document = await parseAs('a.pdf', (await headed.at(-1)?.make()) ?? '');
  expect(document.elements.filter(({ kind }) => kind === 'heading').map(({ level }) => level)).toEqual([1, 2, 2]);
});
