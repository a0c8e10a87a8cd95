import type { Element, ParsedDocument } from '@sluice/core';
import { createParserRegistry } from '@sluice/parsers';

const LIMITS = {
  fileBytes: 1e9,
  textUnits: 1e9,
  parseMs: 600_000,
  parseMemoryMb: 4_096,
  archiveRatio: 200,
  archiveEntries: 10_000,
  depth: 100,
};

/** Parses as the product does. */
export function parse(text: string, name: string): Promise<ParsedDocument> {
  return createParserRegistry().parse({ bytes: new TextEncoder().encode(text), name, limits: LIMITS });
}

/** Plain text as a parser gives it that makes one element of a whole file. */
export function oneElement(text: string, more: Partial<Element> = {}): ParsedDocument {
  const start = text.length - text.trimStart().length;
  const end = text.trimEnd().length;
  const elements: Element[] = start < end ? [{ kind: 'paragraph', text: text.slice(start, end), start, end, ...more }] : [];
  return { text, elements, metadata: {}, warnings: [], format: 'text' };
}

/** Plain text with an element a paragraph. */
export function paragraphsOf(text: string): ParsedDocument {
  const elements: Element[] = [];
  for (const match of text.matchAll(/\S(?:[\s\S]*?\S)??(?=\s*?\n[^\S\n]*\n|\s*$)/g)) {
    elements.push({ kind: 'paragraph', text: match[0], start: match.index, end: match.index + match[0].length });
  }
  return { text, elements, metadata: {}, warnings: [], format: 'text' };
}

/** Builds a text from parts, with an element for each that is not white space. */
export function build(parts: readonly (string | (Omit<Partial<Element>, 'start' | 'end'> & { text: string }))[]): ParsedDocument {
  let text = '';
  const elements: Element[] = [];
  for (const part of parts) {
    const element = typeof part === 'string' ? { text: part } : part;
    if (element.text.trim() !== '') {
      elements.push({ kind: 'paragraph', ...element, start: text.length, end: text.length + element.text.length });
    }
    text += element.text;
  }
  return { text, elements, metadata: {}, warnings: [], format: 'markdown' };
}
