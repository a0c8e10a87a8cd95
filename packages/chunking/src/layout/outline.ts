import type { Element, ElementKind, ParsedDocument } from '@sluice/core';
import { frontMatterOf } from '@sluice/metadata';
import { edgeAfter, edgeBefore } from '../text/graphemes.js';
import { findNewline, lineStart, skipSpace, skipSpaceBack } from '../text/space.js';

/** An element whose span may have grown over marks beside it that no element covers. Spans ascend and don't overlap. */
export interface Block {
  kind: ElementKind;
  start: number;
  end: number;
  element: Element | undefined;
}

export interface Heading {
  title: string;
  level: number;
  start: number;
  end: number;
}

/** Blocks under one heading path. Headings that have no text of their own stand before the heading that follows. */
export interface Section {
  path: Heading[];
  /** Headings this section opens with, then its text. */
  blocks: Block[];
}

export interface Outline {
  document: ParsedDocument;
  text: string;
  blocks: Block[];
  sections: Section[];
}

/**
 * The parsed document as blocks that cover every character that is neither white space, nor front matter, nor data that is no text
 * (of `data:` addresses), in sections.
 */
export function outlineOf(document: ParsedDocument): Outline {
  const blocks = withoutData(document.text, coverText(document));
  return { document, text: document.text, blocks, sections: sectionsOf(document.text, blocks) };
}

function bodyStart(document: ParsedDocument): number {
  return document.frontMatter === undefined ? 0 : (frontMatterOf(document.text)?.end ?? 0);
}

function coverText(document: ParsedDocument): Block[] {
  const { text } = document;
  const blocks: Block[] = [];
  let covered = bodyStart(document);
  for (const element of document.elements) {
    const block = blockOf(text, element, covered);
    if (block === undefined) continue;
    coverGap(text, covered, block.start, blocks, block);
    blocks.push(block);
    covered = block.end;
  }
  coverGap(text, covered, text.length, blocks, undefined);
  return blocks;
}

/** Pictures and the like within the text: base64 of some length. */
const DATA = /(?<=\bdata:[\w.+-]{1,60}\/[\w.+-]{1,60}(?:;[\w.+-]{1,40}(?:=[\w.+-]{1,40})?){0,4};base64,)[A-Za-z0-9+/=%]{100,}/g;

/** Blocks without the data in them: what stands on either side is parted. */
function withoutData(text: string, blocks: readonly Block[]): Block[] {
  if (!text.includes(';base64,')) return [...blocks];
  return blocks.flatMap((block) => {
    const parts: Block[] = [];
    let from = block.start;
    const add = (end: number): void => {
      const start = skipSpace(text, from, end);
      const to = skipSpaceBack(text, start, end);
      if (start < to) parts.push({ kind: block.kind === 'table' ? 'other' : block.kind, start, end: to, element: undefined });
    };
    for (const match of text.slice(block.start, block.end).matchAll(DATA)) {
      add(block.start + match.index);
      from = block.start + match.index + match[0].length;
    }
    if (from === block.start) return [block];
    add(block.end);
    return parts;
  });
}

/** The element's span without white space at its edges, behind what is covered; code keeps the indentation of its first line. */
function blockOf(text: string, element: Element, covered: number): Block | undefined {
  const from = Math.max(element.start, covered);
  let start = skipSpace(text, from, element.end);
  const end = edgeAfter(text, skipSpaceBack(text, start, element.end));
  if (start >= end) return undefined;
  if (element.kind === 'code') {
    const line = lineStart(text, start, covered);
    if (skipSpace(text, line, start) === start) start = line;
  }
  return { kind: element.kind, start: Math.max(covered, edgeBefore(text, start)), end, element };
}

const WORD = /[\p{L}\p{N}]/u;

/** Gives what lies between two elements to one of them when it is on the same line or holds no word; else it is a block. */
function coverGap(text: string, start: number, end: number, blocks: Block[], next: Block | undefined): void {
  let from = skipSpace(text, start, end);
  let to = skipSpaceBack(text, from, end);
  if (from >= to) return;
  const previous = blocks.at(-1);
  if (next !== undefined && !text.slice(to, next.start).includes('\n')) {
    next.start = skipSpace(text, lineStart(text, to, from), to);
    to = skipSpaceBack(text, from, next.start);
  }
  if (from < to && previous !== undefined && !text.slice(previous.end, from).includes('\n')) {
    const line = findNewline(text, from, to);
    previous.end = line < 0 ? to : skipSpaceBack(text, from, line);
    from = skipSpace(text, previous.end, to);
  }
  if (from >= to) return;
  from = edgeBefore(text, from);
  to = edgeAfter(text, to);
  if (!WORD.test(text.slice(from, to))) {
    if (previous !== undefined) previous.end = to;
    else if (next !== undefined) next.start = from;
    else blocks.push({ kind: 'other', start: from, end: to, element: undefined });
    return;
  }
  blocks.push({ kind: 'other', start: from, end: to, element: undefined });
}

function sectionsOf(text: string, blocks: readonly Block[]): Section[] {
  const sections: Section[] = [];
  let path: Heading[] = [];
  let current: Section = { path, blocks: [] };
  let hasText = false;
  const close = () => {
    if (current.blocks.length > 0) sections.push(current);
  };
  for (const block of blocks) {
    if (block.kind !== 'heading') {
      current.blocks.push(block);
      hasText = true;
      continue;
    }
    const heading = headingOf(text, block);
    const kept = path.filter((outer) => outer.level < heading.level);
    // A heading without text stays with the next one, unless that one leaves it.
    if (hasText || kept.length < path.length) {
      close();
      current = { path: [], blocks: [] };
    }
    path = [...kept, heading];
    current.path = path;
    current.blocks.push(block);
    hasText = false;
  }
  close();
  return sections;
}

function headingOf(text: string, block: Block): Heading {
  const element = block.element;
  const level = element?.level ?? 1;
  const title = element?.title ?? bareTitle(element?.text ?? text.slice(block.start, block.end), level);
  return { title: title.replace(/\s+/g, ' ').trim(), level, start: block.start, end: block.end };
}

/** A heading's text without the marks of its level, where a parser left them in. */
function bareTitle(text: string, level: number): string {
  const marks = /^(#{1,6})[ \t]+/.exec(text);
  if (marks?.[1]?.length !== level) return text;
  return text.slice(marks[0].length).replace(/[ \t]+#+[ \t]*$/, '');
}

/** Index of the first block that ends behind `at`. */
export function firstBlockAfter(blocks: readonly Block[], at: number): number {
  let low = 0;
  let high = blocks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((blocks[middle]?.end ?? 0) > at) high = middle;
    else low = middle + 1;
  }
  return low;
}
