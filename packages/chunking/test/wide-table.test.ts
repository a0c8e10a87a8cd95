import type { ParsedDocument } from '@sluice/core';
import { createWordTokenizer } from '@sluice/testkit';
import { expect, it } from 'vitest';
import { chunkDocument } from '../src/index.js';

/** A table whose header alone is longer than a chunk, as exports of measurements have. */
function wideTable(columns: number, rows: number): ParsedDocument {
  const cells = [
    Array.from({ length: columns }, (_, n) => `Measure ${n} unstim`),
    ...Array.from({ length: rows }, (_, row) =>
      Array.from({ length: columns }, (__, n) => `0.${(row * 7919 + n * 104_729) % 1_000_000}`),
    ),
  ];
  const lines = cells.map((row) => `| ${row.join(' | ')} |`);
  lines.splice(1, 0, `|${' --- |'.repeat(columns)}`);
  const text = lines.join('\n');
  let at = 0;
  const parts = lines.flatMap((line, n) => {
    const part = { start: at, end: at + line.length };
    at += line.length + 1;
    return n === 1 ? [] : [part];
  });
  return {
    text,
    elements: [{ kind: 'table', text, start: 0, end: text.length, rows: cells, parts, headerRows: 1 }],
    metadata: {},
    warnings: [],
    format: 'csv',
  };
}

it.each([
  [3, 50],
  [60, 20],
  [400, 5],
])('cuts a table of %i columns into chunks of a fair size', async (columns, rows) => {
  const document = wideTable(columns, rows);
  const { chunks } = await chunkDocument(document, { strategy: 'auto' }, { tokenizer: createWordTokenizer() });
  const covered = chunks.reduce((sum, chunk) => sum + chunk.end - chunk.start, 0);
  // A chunk that is nothing but a few signs of a cell is of no use to anyone.
  expect(covered / chunks.length).toBeGreaterThan(60);
  for (const chunk of chunks) expect(chunk.text).toBe(chunk.prefix + document.text.slice(chunk.start, chunk.end));
});

it('names the row in every part of a cell that is too long', async () => {
  const note = 'a long note about the hinge and how it is made and mended '.repeat(40).trim();
  const text = `| part | note | count |\n| --- | --- | --- |\n| hinge | ${note} | 5 |\n| latch | short | 6 |`;
  const starts = text.split('\n').map((_, index, lines) => lines.slice(0, index).join('\n').length + (index > 0 ? 1 : 0));
  const parts = [0, 2, 3].map((line) => ({
    start: starts[line] ?? 0,
    end: (starts[line] ?? 0) + (text.split('\n')[line]?.length ?? 0),
  }));
  const rows = [
    ['part', 'note', 'count'],
    ['hinge', note, '5'],
    ['latch', 'short', '6'],
  ];
  const element = { kind: 'table' as const, text, start: 0, end: text.length, rows, parts, headerRows: 1 };
  const document: ParsedDocument = { text, elements: [element], metadata: {}, warnings: [], format: 'csv' };
  const { chunks } = await chunkDocument(document, { strategy: 'auto', max_tokens: 60 }, { tokenizer: createWordTokenizer() });
  expect(chunks.length).toBeGreaterThan(5);
  for (const chunk of chunks.filter((one) => one.text.includes('long note')))
    expect(chunk.embeddingText ?? chunk.text).toContain('hinge');
  expect(chunks.some((chunk) => /^part: hinge; note: /.test(chunk.embeddingText ?? ''))).toBe(true);
});
