import type { ParsedDocument, ParseInput } from '@sluice/core';
import { cleanText } from '../clean-text.js';
import { createDocumentBuilder } from '../document-builder.js';
import { finishBuilt } from '../finish-document.js';
import { settingsOf } from '../format-settings.js';
import { breathe } from '../limits.js';
import { paragraphRanges } from '../source-text.js';
import { createBlockWriter } from './block-writer.js';
import { blocksOf } from './blocks.js';
import { type PageRows, withoutFurniture } from './furniture.js';
import { createVocabulary } from './hyphens.js';
import { readScans } from './ocr.js';
import { openPdf } from './open-pdf.js';
import { pdfMetadata } from './pdf-metadata.js';
import type { PdfDocument, PdfPage } from './pdf-types.js';
import { regionsOf } from './regions.js';
import { rowsOf } from './rows.js';
import { readRuns } from './runs.js';
import { measure } from './statistics.js';

/** Pages after which pdf.js is asked to let go of fonts and images. */
const CLEANUP = 100;

/**
 * PDF: text by page in reading order, with headings, lists and tables as far as the layout shows them. Pages without text, as scanned
 * ones, give nothing.
 */
export async function parsePdf(input: ParseInput): Promise<ParsedDocument> {
  const settings = settingsOf(input).pdf;
  const { document, password, close } = await openPdf(input);
  try {
    const { pages, aside, notes, unmapped } = await readPages(document, input);
    const kept = settings.headers_footers ? pages : withoutFurniture(pages);
    const statistics = measure(
      kept.flatMap((page) => page.rows),
      await document.getOutline().catch(() => null),
    );
    const vocabulary = createVocabulary();
    for (const page of kept) for (const row of page.rows) for (const segment of row.segments) vocabulary.add(segment.text);
    const builder = createDocumentBuilder(input.limits);
    const writer = createBlockWriter(builder, vocabulary);
    const fields = await readFields(document);
    const warnings = unmapped === 0 ? [] : [`glyphs_unmapped: ${unmapped}`];
    const scans = new Map<number, string>();
    if (settings.ocr) {
      const read = new Set(pages.map((page) => page.number));
      const blank = Array.from({ length: document.numPages }, (_, index) => index + 1).filter((number) => !read.has(number));
      const result = blank.length === 0 ? { pages: [] } : await readScans(input, password, blank, settings.ocr_languages);
      if ('unavailable' in result) warnings.push(`ocr_unavailable: ${result.unavailable}`);
      else for (const { number, text } of result.pages) scans.set(number, text);
    }
    const seen = new Set(kept.map((page) => page.number));
    const others = new Set(
      [...scans, ...notes, ...fields, ...aside].map(([number]) => number).filter((number) => !seen.has(number)),
    );
    const bare = [...others].map((number) => ({ number, rows: [], top: 0, bottom: 0 }));
    const inOrder = [...kept, ...bare].sort((a, b) => a.number - b.number);
    for (const page of inOrder) {
      const scan = scans.get(page.number);
      for (const { start, end } of paragraphRanges(cleanText(scan ?? '')))
        writer.block(
          {
            kind: 'paragraph',
            lines: cleanText(scan ?? '')
              .slice(start, end)
              .split('\n'),
          },
          page.number,
        );
      for (const region of regionsOf(page.rows)) {
        if (region.kind === 'table') writer.table(region, page.number);
        else for (const block of blocksOf(region, statistics)) writer.block(block, page.number);
      }
      for (const rows of aside.get(page.number) ?? []) writer.aside(textOf(rows), page.number);
      for (const note of notes.get(page.number) ?? []) writer.aside(note, page.number);
      const filled = fields.get(page.number) ?? [];
      if (filled.length > 0)
        writer.block({ kind: 'list', items: filled.map((line) => ({ marker: '-', lines: [line] })) }, page.number);
      if (page.number % CLEANUP === 0) await breathe(input);
    }
    writer.close();
    const { metadata, lang } = await pdfMetadata(document);
    return finishBuilt('pdf', builder, { metadata, warnings, lang, titleFromHeading: true });
  } finally {
    await close();
  }
}

interface ReadPages {
  /** Text in the main direction of each page. */
  pages: PageRows[];
  /** Text in other directions, by page; what repeats on most pages, as watermarks do, is left out. */
  aside: Map<number, PageRows['rows'][]>;
  /** Free text that was written over the page, by page. */
  notes: Map<number, string[]>;
  /** Glyphs that can't be read. */
  unmapped: number;
}

const textOf = (rows: PageRows['rows']): string => rows.flatMap((row) => row.segments.map((segment) => segment.text)).join(' ');

async function readPages(document: PdfDocument, input: ParseInput): Promise<ReadPages> {
  const pages: PageRows[] = [];
  const aside = new Map<number, PageRows['rows'][]>();
  const notes = new Map<number, string[]>();
  const glyphs = { unmapped: 0 };
  const times = new Map<string, number>();
  for (let number = 1; number <= document.numPages; number++) {
    await breathe(input);
    const page = await document.getPage(number);
    const [main, ...others] = await readRuns(page, glyphs);
    const written = await readNotes(page);
    if (written.length > 0) notes.set(number, written);
    page.cleanup();
    if (main !== undefined) pages.push({ number, rows: rowsOf(main.runs), top: main.top, bottom: main.bottom });
    const turned = others.map((group) => rowsOf(group.runs));
    for (const rows of turned) times.set(textOf(rows), (times.get(textOf(rows)) ?? 0) + 1);
    if (turned.length > 0) aside.set(number, turned);
    if (number % CLEANUP === 0) await document.cleanup();
    input.onProgress?.((number / document.numPages) * 0.9);
  }
  const repeated = Math.max(3, document.numPages * 0.4);
  for (const [number, groups] of aside)
    aside.set(
      number,
      groups.filter((rows) => (times.get(textOf(rows)) ?? 0) < repeated),
    );
  return { pages, aside, notes, unmapped: glyphs.unmapped };
}

/** What was typed onto the page: free-text annotations hold their text beside how it looks. */
async function readNotes(page: PdfPage): Promise<string[]> {
  const annotations = await page.getAnnotations({ intent: 'display' }).catch(() => []);
  return annotations
    .filter(({ subtype }) => subtype === 'FreeText')
    .map(({ contentsObj }) => cleanText(contentsObj?.str ?? '').trim())
    .filter((text) => text !== '');
}

/** Values of filled form fields as `name: value`, by page. */
async function readFields(document: PdfDocument): Promise<Map<number, string[]>> {
  const byPage = new Map<number, string[]>();
  const fields = await document.getFieldObjects().catch(() => null);
  for (const [name, widgets] of Object.entries(fields ?? {}))
    for (const { value, type, page } of widgets) {
      if (typeof value !== 'string' || value.trim() === '' || !['text', 'combobox', 'listbox'].includes(type ?? '')) continue;
      const number = (page ?? 0) + 1;
      byPage.set(number, [...(byPage.get(number) ?? []), `${name}: ${value}`]);
    }
  return byPage;
}
