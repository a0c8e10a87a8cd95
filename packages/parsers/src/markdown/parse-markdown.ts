import type { Element, ParsedDocument, ParseInput } from '@sluice/core';
import { frontMatterOf } from '@sluice/metadata';
import type { Nodes, RootContent } from 'mdast';
import { cleanText } from '../clean-text.js';
import { decodeBytes } from '../encoding/decode-bytes.js';
import { finishSource } from '../finish-document.js';
import { checkAborted, checkTextLength } from '../limits.js';
import { type Range, sliceElement, trimLinesRange, trimRange } from '../source-text.js';
import { parseBlocks, plainTitle } from './blocks.js';
import { markdownSegments } from './segments.js';

/** Markdown with GitHub's tables, footnotes and task lists, and YAML front matter. The text is the file's. */
export async function parseMarkdown(input: ParseInput): Promise<ParsedDocument> {
  const decoded = decodeBytes(input.bytes);
  const text = cleanText(decoded.text);
  checkTextLength(text.length, input.limits);
  const frontMatter = frontMatterOf(text);
  const elements: Element[] = [];
  for (const segment of markdownSegments(text, frontMatter?.end ?? 0)) {
    checkAborted(input);
    for (const node of parseBlocks(text.slice(segment.start, segment.end), input.limits.depth)) {
      const element = elementOf(node, text, segment.start);
      if (element !== undefined) elements.push(element);
    }
    input.onProgress?.(segment.end / text.length);
  }
  const document = finishSource('markdown', text, elements, { metadata: {}, warnings: decoded.warnings });
  return frontMatter === undefined ? document : { ...document, frontMatter: frontMatter.data };
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
  return nodes.map((node) => {
    const place = placeOf(node, shift);
    return { start: Math.min(place.start, range.end), end: Math.min(place.end, range.end) };
  });
}

/** A cell's text without the bars that its place may include. */
function cellText(text: string, place: { start: number; end: number }): string {
  return text
    .slice(place.start, place.end)
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '')
    .replaceAll('\\|', '|')
    .trim();
}
