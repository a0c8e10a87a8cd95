import type { ParsedDocument } from '@sluice/core';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sentence } from '../src/bench/make-documents.js';
import { makeEpub, makeOdf, makeRtf } from '../src/bench/make-open-formats.js';
import { expectLawful } from './laws.js';
import { docxOf, docxParagraph } from './office-files.js';
import { parseAs } from './parse-file.js';
import { column, type DrawnText, pdfOf } from './pdf-files.js';

type Block =
  | { kind: 'heading'; level: 1 | 2; text: string }
  | { kind: 'paragraph'; text: string }
  | { kind: 'list'; items: string[] }
  | { kind: 'table'; rows: string[][] };

const number = fc.integer({ min: 0, max: 5_000 });
const name = number.map((n) => `Item ${n}`);
const block: fc.Arbitrary<Block> = fc.oneof(
  fc.record({
    kind: fc.constant('heading' as const),
    level: fc.constantFrom(1 as const, 2 as const),
    text: number.map((n) => `Part ${n} of the book`),
  }),
  fc.record({
    kind: fc.constant('paragraph' as const),
    text: fc.array(number.map(sentence), { minLength: 1, maxLength: 4 }).map((parts) => parts.join(' ')),
  }),
  fc.record({ kind: fc.constant('list' as const), items: fc.array(number.map(sentence), { minLength: 2, maxLength: 4 }) }),
  fc.record({
    kind: fc.constant('table' as const),
    rows: fc
      .array(fc.tuple(name, number.map(String), name), { minLength: 3, maxLength: 5 })
      .map((rows) => [['Name', 'Count', 'Other'], ...rows]),
  }),
);

const markdown = (blocks: Block[]): string =>
  blocks
    .map((item) => {
      if (item.kind === 'heading') return `${'#'.repeat(item.level)} ${item.text}`;
      if (item.kind === 'paragraph') return item.text;
      if (item.kind === 'list') return item.items.map((text) => `- ${text}`).join('\n');
      const [header = [], ...rows] = item.rows;
      return [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
    })
    // A comment parts lists and tables that would run together.
    .join('\n\n<!-- -->\n\n');

const html = (blocks: Block[]): string =>
  `<!doctype html><body>${blocks
    .map((item) => {
      if (item.kind === 'heading') return `<h${item.level}>${item.text}</h${item.level}>`;
      if (item.kind === 'paragraph') return `<p>${item.text}</p>`;
      if (item.kind === 'list') return `<ul>${item.items.map((text) => `<li>${text}</li>`).join('')}</ul>`;
      return `<table>${item.rows.map((cells, row) => `<tr>${cells.map((text) => (row === 0 ? `<th>${text}</th>` : `<td>${text}</td>`)).join('')}</tr>`).join('')}</table>`;
    })
    .join('')}</body>`;

const docx = (blocks: Block[]): Uint8Array =>
  docxOf(
    blocks
      .map((item) => {
        if (item.kind === 'heading')
          return `<w:p><w:pPr><w:outlineLvl w:val="${item.level - 1}"/></w:pPr><w:r><w:t>${item.text}</w:t></w:r></w:p>`;
        if (item.kind === 'paragraph') return docxParagraph(item.text);
        if (item.kind === 'list')
          return item.items
            .map(
              (text) =>
                `<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="9"/></w:numPr></w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`,
            )
            .join('');
        return `<w:tbl>${item.rows.map((cells) => `<w:tr>${cells.map((text) => `<w:tc>${docxParagraph(text)}</w:tc>`).join('')}</w:tr>`).join('')}</w:tbl>`;
      })
      .join(''),
  );

const odt = (blocks: Block[]): Uint8Array =>
  makeOdf(
    'text',
    blocks
      .map((item) => {
        if (item.kind === 'heading') return `<text:h text:outline-level="${item.level}">${item.text}</text:h>`;
        if (item.kind === 'paragraph') return `<text:p>${item.text}</text:p>`;
        if (item.kind === 'list')
          return `<text:list>${item.items.map((text) => `<text:list-item><text:p>${text}</text:p></text:list-item>`).join('')}</text:list>`;
        return `<table:table>${item.rows.map((cells) => `<table:table-row>${cells.map((text) => `<table:table-cell><text:p>${text}</text:p></table:table-cell>`).join('')}</table:table-row>`).join('')}</table:table>`;
      })
      .join(''),
  );

const epub = (blocks: Block[]): Uint8Array =>
  makeEpub(blocks.map((item) => html([item]).replace('<!doctype html><body>', '').replace('</body>', '')));

const rtf = (blocks: Block[]): Uint8Array =>
  makeRtf(
    blocks
      .map((item) => {
        if (item.kind === 'heading') return `\\pard\\s${item.level} ${item.text}\\par`;
        if (item.kind === 'paragraph') return `\\pard ${item.text}\\par`;
        if (item.kind === 'list') return item.items.map((text) => `\\pard{\\listtext \\bullet\\tab}${text}\\par`).join('\n');
        return `${item.rows.map((cells) => `\\trowd\\pard\\intbl ${cells.map((text) => `${text}\\cell `).join('')}\\row`).join('\n')}\\pard`;
      })
      .join('\n'),
  );

/** Breaks text into lines as a page does. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + word.length >= width) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}

function pdf(blocks: Block[]): Promise<Uint8Array> {
  const pages: DrawnText[][] = [[]];
  let y = 90;
  const draw = (texts: DrawnText[], height: number): void => {
    if (y + height > 680) {
      pages.push([]);
      y = 90;
    }
    pages.at(-1)?.push(...texts.map((text) => ({ ...text, y: text.y + y })));
    y += height + 14;
  };
  for (const item of blocks) {
    if (item.kind === 'heading') draw([{ text: item.text, x: 72, y: 0, size: item.level === 1 ? 20 : 15, bold: true }], 20);
    else if (item.kind === 'paragraph') {
      const lines = wrap(item.text, 85);
      draw(column(lines, 72, 0, { size: 10, step: 12 }), lines.length * 12);
    } else if (item.kind === 'list') {
      const lines = item.items.flatMap((text) =>
        wrap(text, 80).map((line, index) => ({ text: index === 0 ? `• ${line}` : line, x: index === 0 ? 72 : 79 })),
      );
      draw(
        lines.map((line, index) => ({ ...line, y: index * 12, size: 10 })),
        lines.length * 12,
      );
    } else
      draw(
        item.rows.flatMap((cells, row) =>
          cells.map((text, index) => ({ text, x: [72, 220, 380][index] ?? 0, y: row * 16, size: 10 })),
        ),
        item.rows.length * 16,
      );
  }
  return pdfOf(pages);
}

/** Words without marks of tables and lists. */
function words(document: ParsedDocument): string[] {
  return document.elements
    .map((element) =>
      element.kind === 'other'
        ? ''
        : element.kind === 'table'
          ? (element.rows ?? []).flat().join(' ')
          : (element.title ?? element.text),
    )
    .join(' ')
    .replace(/(?:^|\s)-(?=\s)/g, ' ')
    .split(/\s+/)
    .filter((word) => word !== '');
}

it('gives the same words in the same order, whatever a document is written as', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(block, { minLength: 1, maxLength: 7 }), async (blocks) => {
      const expected = words(await parseAs('a.md', markdown(blocks)));
      for (const [file, content] of [
        ['a.html', html(blocks)],
        ['a.docx', docx(blocks)],
        ['a.odt', odt(blocks)],
        ['a.epub', epub(blocks)],
        ['a.rtf', rtf(blocks)],
        ['a.pdf', await pdf(blocks)],
      ] as const) {
        const document = await parseAs(file, content);
        expectLawful(document);
        expect(words(document), file).toEqual(expected);
      }
    }),
    { numRuns: 25 },
  );
});
