import type { Element, ParsedDocument, ParseInput } from '@sluice/core';
import { frontMatterOf } from '@sluice/metadata';
import type { Nodes, RootContent } from 'mdast';
import { cleanText } from '../clean-text.js';
import { decodeBytes } from '../encoding/decode-bytes.js';
import { finishSource } from '../finish-document.js';
import { breathe, checkTextLength } from '../limits.js';
import { type Range, sliceElement, trimLinesRange, trimRange } from '../source-text.js';
import { parseBlocks, plainTitle } from './blocks.js';
import type { Stretch } from './lines.js';
import { scanMarkdown } from './scan.js';
import { splitCells } from './table.js';

/** Stretches between two looks at the clock and the signal. */
const STRIDE = 2_000;

/** Markdown with GitHub's tables, footnotes and task lists, and YAML front matter. The text is the file's. */
export async function parseMarkdown(input: ParseInput): Promise<ParsedDocument> {
  const decoded = decodeBytes(input.bytes);
  const text = cleanText(decoded.text);
  checkTextLength(text.length, input.limits);
  const frontMatter = frontMatterOf(text);
  const elements: Element[] = [];
  let count = 0;
  for (const stretch of scanMarkdown(text, frontMatter?.end ?? 0)) {
    for (const element of elementsOf(stretch, text, input.limits.depth)) elements.push(element);
    if (++count % STRIDE === 0) {
      await breathe(input);
      input.onProgress?.(stretch.end / text.length);
    }
  }
  const document = finishSource('markdown', text, elements, { metadata: {}, warnings: decoded.warnings, titleFromHeading: true });
  return frontMatter === undefined ? document : { ...document, frontMatter: frontMatter.data };
}

function elementsOf(stretch: Stretch, text: string, depth: number): Element[] {
  const range = trimRange(text, stretch.start, stretch.end);
  if (range === undefined) return [];
  const source = text.slice(range.start, range.end);
  switch (stretch.kind) {
    case 'paragraph':
    case 'quote':
      return [sliceElement(text, range, { kind: stretch.kind })];
    case 'heading': {
      const { level } = stretch;
      return [sliceElement(text, range, { kind: 'heading', level, title: plainTitle(source) })];
    }
    case 'code': {
      const place = trimLinesRange(text, stretch.start, stretch.end) ?? range;
      const lang = /^\S+/.exec(stretch.info)?.[0];
      return [sliceElement(text, place, { kind: 'code', ...(lang === undefined ? {} : { lang }) })];
    }
    case 'table': {
      const rows = stretch.rows.map((row) => splitCells(text.slice(row.start, row.end)));
      return [sliceElement(text, range, { kind: 'table', rows, parts: within(stretch.rows, range), headerRows: 1 })];
    }
    case 'list':
      return [sliceElement(text, range, { kind: 'list', parts: within(stretch.items, range) })];
    case 'complex':
      // With the line feed at its end: the grammar's own readers of tables and HTML tell a last line from one that ends.
      return parseBlocks(text.slice(stretch.start, stretch.end + 1), depth).flatMap(
        (node) => elementOf(node, text, stretch.start) ?? [],
      );
  }
}

function elementOf(node: RootContent, text: string, shift: number): Element | undefined {
  const { start, end } = placeOf(node, shift);
  const range = node.type === 'code' ? trimLinesRange(text, start, end) : trimRange(text, start, end);
  if (range === undefined) return undefined;
  switch (node.type) {
    case 'heading':
      return sliceElement(text, range, {
        kind: 'heading',
        level: node.depth,
        title: plainTitle(text.slice(range.start, range.end)),
      });
    case 'paragraph':
    case 'footnoteDefinition':
      return sliceElement(text, range, { kind: 'paragraph' });
    case 'list':
      return sliceElement(text, range, { kind: 'list', parts: partsOf(node.children, shift, range) });
    case 'table': {
      const parts = partsOf(node.children, shift, range);
      const rows = node.children.map((row) => row.children.map((cell) => cellText(text, placeOf(cell, shift))));
      return sliceElement(text, range, { kind: 'table', rows, parts, headerRows: 1 });
    }
    case 'code':
      return sliceElement(text, range, { kind: 'code', ...(node.lang ? { lang: node.lang } : {}) });
    case 'blockquote':
      return sliceElement(text, range, { kind: 'quote' });
    default:
      return sliceElement(text, range, { kind: 'other' });
  }
}

function placeOf(node: Nodes, shift: number): Range {
  return { start: shift + (node.position?.start.offset ?? 0), end: shift + (node.position?.end.offset ?? 0) };
}

/** Places of rows or items, within the element: white space at its end belongs to none. */
function partsOf(nodes: readonly Nodes[], shift: number, range: Range): Range[] {
  return within(
    nodes.map((node) => placeOf(node, shift)),
    range,
  );
}

function within(places: readonly Range[], range: Range): Range[] {
  return places.map((place, at) => {
    // An item that ends in unclosed HTML reaches over the line end into the next one by the grammar's own account.
    const next = places[at + 1]?.start ?? range.end;
    return { start: Math.min(place.start, range.end), end: Math.min(place.end, next, range.end) };
  });
}

/** A cell's text without the bars that its place may include. */
function cellText(text: string, place: Range): string {
  return text
    .slice(place.start, place.end)
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
    .replaceAll('\\|', '|')
    .trim();
}
