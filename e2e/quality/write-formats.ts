import { makeEpub, makeOdf, makeRtf, rtfText } from '../../packages/parsers/src/bench/make-open-formats.js';
import { docxOf, docxParagraph, pptxOf, xlsxOf } from '../../packages/parsers/test/office-files.js';
import { type DrawnText, pdfOf } from '../../packages/parsers/test/pdf-files.js';
import { type Block, sectionsOf } from './blocks.js';

type Content = string | Uint8Array;

/** What makes a file of each format out of blocks. Formats that are not here hold the library's text as it is. */
export const WRITERS: Readonly<Record<string, (blocks: Block[]) => Content | Promise<Content>>> = {
  html: (blocks) =>
    `<!doctype html><html lang="en"><head><meta charset="utf-8"></head><body><main>${htmlOf(blocks)}</main></body></html>`,
  docx: (blocks) => docxOf(blocks.map(docxBlock).join('')),
  pdf: (blocks) => pdfOf(pagesOf(blocks)),
  pptx: (blocks) => pptxOf(sectionsOf(blocks).map((section) => ({ shapes: section.map(pptxShape).join('') }))),
  xlsx: (blocks) =>
    xlsxOf(
      sectionsOf(blocks).map((section) => ({ name: titleOf(section), rows: tableOf(section).map(xlsxRow).join('') })),
      {},
    ),
  odt: (blocks) => makeOdf('text', blocks.map(odtBlock).join(''), NO_METADATA),
  ods: (blocks) => makeOdf('spreadsheet', sectionsOf(blocks).map(odsSheet).join(''), NO_METADATA),
  epub: (blocks) => makeEpub(sectionsOf(blocks).map(htmlOf)),
  rtf: (blocks) => makeRtf(blocks.map(rtfBlock).join('')),
  ipynb: (blocks) => JSON.stringify({ nbformat: 4, nbformat_minor: 5, metadata: {}, cells: blocks.map(notebookCell) }),
};

const NO_METADATA = { parts: { 'meta.xml': '<?xml version="1.0"?><office:document-meta xmlns:office="o"/>' } };

function xml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

function linesOf(block: Block): string[] {
  if (block.kind === 'list') return block.items.map((item) => `- ${item}`);
  if (block.kind === 'table') return block.rows.map((row) => row.join('   '));
  return block.text.split('\n');
}

function titleOf(section: readonly Block[]): string {
  const [first] = section;
  return first?.kind === 'heading' ? first.text : 'Sheet';
}

function tableOf(section: readonly Block[]): string[][] {
  return section.flatMap((block) => (block.kind === 'table' ? block.rows : []));
}

function htmlOf(blocks: readonly Block[]): string {
  return blocks
    .map((block) => {
      if (block.kind === 'heading') return `<h${block.level}>${xml(block.text)}</h${block.level}>`;
      if (block.kind === 'list') return `<ul>${block.items.map((item) => `<li>${xml(item)}</li>`).join('')}</ul>`;
      if (block.kind === 'code') return `<pre>${xml(block.text)}</pre>`;
      if (block.kind === 'paragraph') return `<p>${xml(block.text)}</p>`;
      const rows = block.rows.map((row, index) => row.map((cell) => cellOf(index === 0 ? 'th' : 'td', cell)).join(''));
      return `<table>${rows.map((row) => `<tr>${row}</tr>`).join('')}</table>`;
    })
    .join('\n');
}

function cellOf(tag: string, text: string): string {
  return `<${tag}>${xml(text)}</${tag}>`;
}

function docxBlock(block: Block): string {
  if (block.kind === 'heading') return docxParagraph(xml(block.text), `Heading${block.level}`);
  if (block.kind !== 'table')
    return linesOf(block)
      .map((line) => docxParagraph(xml(line)))
      .join('');
  const rows = block.rows.map((row) => row.map((cell) => `<w:tc>${docxParagraph(xml(cell))}</w:tc>`).join(''));
  return `<w:tbl>${rows.map((row) => `<w:tr>${row}</w:tr>`).join('')}</w:tbl>`;
}

const LINE = 14;
const WIDTH = 85;
const COLUMN = 200;
const BOTTOM = 720;

function pagesOf(blocks: readonly Block[]): DrawnText[][] {
  const pages: DrawnText[][] = [[]];
  let y = 80;
  const draw = (texts: readonly Omit<DrawnText, 'y'>[]) => {
    if (y > BOTTOM) {
      pages.push([]);
      y = 80;
    }
    pages.at(-1)?.push(...texts.map((text) => ({ ...text, y })));
    y += LINE;
  };
  for (const block of blocks) {
    y += LINE;
    if (block.kind === 'heading') draw([{ text: block.text, x: 60, size: 18, bold: true }]);
    else if (block.kind === 'table') for (const row of block.rows) draw(row.map((text, n) => ({ text, x: 60 + n * COLUMN })));
    else for (const line of linesOf(block)) for (const text of wrapped(line)) draw([{ text, x: 60 }]);
  }
  return pages;
}

function wrapped(text: string): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && last.length + word.length >= WIDTH) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines;
}

function pptxShape(block: Block): string {
  const placeholder = block.kind === 'heading' ? '<p:ph type="title"/>' : '<p:ph type="body" idx="1"/>';
  const lines = block.kind === 'list' ? block.items : linesOf(block);
  if (block.kind === 'table') {
    const rows = block.rows.map((row) =>
      row.map((cell) => `<a:tc><a:txBody><a:p><a:r><a:t>${xml(cell)}</a:t></a:r></a:p></a:txBody></a:tc>`).join(''),
    );
    return `<p:graphicFrame><a:graphic><a:graphicData><a:tbl>${rows.map((row) => `<a:tr>${row}</a:tr>`).join('')}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>`;
  }
  const paragraphs = lines.map((line) => `<a:p><a:r><a:t>${xml(line)}</a:t></a:r></a:p>`).join('');
  return `<p:sp><p:nvSpPr><p:cNvPr id="2" name="n"/><p:cNvSpPr/><p:nvPr>${placeholder}</p:nvPr></p:nvSpPr><p:txBody>${paragraphs}</p:txBody></p:sp>`;
}

function xlsxRow(row: readonly string[], index: number): string {
  const cells = row.map((cell, column) => {
    const reference = `${'ABCDEFGHIJ'[column]}${index + 1}`;
    const isNumber = /^\d+(\.\d+)?$/.test(cell);
    return isNumber
      ? `<c r="${reference}"><v>${cell}</v></c>`
      : `<c r="${reference}" t="inlineStr"><is><t>${xml(cell)}</t></is></c>`;
  });
  return `<row r="${index + 1}">${cells.join('')}</row>`;
}

function odtBlock(block: Block): string {
  if (block.kind === 'heading') return `<text:h text:outline-level="${block.level}">${xml(block.text)}</text:h>`;
  if (block.kind === 'table') return odfTable(block.rows, 'Table');
  return linesOf(block)
    .map((line) => `<text:p>${xml(line)}</text:p>`)
    .join('');
}

function odsSheet(section: Block[]): string {
  return odfTable(tableOf(section), titleOf(section));
}

function odfTable(rows: readonly string[][], name: string): string {
  const cells = (row: readonly string[]) =>
    row.map((cell) => `<table:table-cell><text:p>${xml(cell)}</text:p></table:table-cell>`).join('');
  return `<table:table table:name="${name}">${rows.map((row) => `<table:table-row>${cells(row)}</table:table-row>`).join('')}</table:table>`;
}

function rtfBlock(block: Block): string {
  const style = block.kind === 'heading' ? '\\pard\\s1' : '\\pard\\s0';
  return linesOf(block)
    .map((line) => `${style} ${rtfText(line)}\\par `)
    .join('');
}

function notebookCell(block: Block) {
  if (block.kind === 'code') return { cell_type: 'code', metadata: {}, outputs: [], source: block.text, execution_count: 1 };
  const text = block.kind === 'heading' ? `${'#'.repeat(block.level)} ${block.text}` : linesOf(block).join('\n');
  return { cell_type: 'markdown', metadata: {}, source: text };
}
