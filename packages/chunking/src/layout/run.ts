import type { ElementKind } from '@sluice/core';
import { type Atom, QUALITY } from './atoms.js';
import { explodeCode } from './code.js';
import { explodeOptions, type Layout } from './context.js';
import { explodeProse } from './explode.js';
import type { Block, Heading } from './outline.js';

/** Blocks that are packed together. A chunk never crosses from one run into the next. */
export interface Run {
  path: readonly Heading[];
  rooms: { first: number; next: number };
  /** Chunks may repeat the end of the one before. Never rows, items or lines of code. */
  overlaps: boolean;
  atoms(): Iterable<Atom>;
  /** Symbols or keys that enclose all of it: embedded above each chunk. */
  context: string;
  /** The block that is cut, where it is one: what stands above its later parts. */
  cut?: { kind: ElementKind; start: number; bodyStart: number; prefix: string; carry: string };
  /** What is embedded in place of a chunk's text. */
  say?: (start: number, end: number) => string | undefined;
}

export interface RunOptions {
  /** Tables stand by themselves and are embedded in plain words; definitions of code stand by themselves. */
  plain: boolean;
}

/** The names that enclose a block. Places in a list are left out: a record that is added would change what is embedded of all behind it. */
function namesOf(block: Block): string[] {
  const names = [...(block.element?.path ?? []), ...(block.element?.context ?? [])];
  return names.filter((name) => !/^\d+$/.test(name));
}

/** Tells blocks that are enclosed by the same names. */
export function keyOf(block: Block): string {
  return namesOf(block).join(' > ');
}

/** Names that enclose a block may take this share of what is embedded; outer ones go first when they are longer. */
const CONTEXT_SHARE = 1 / 2;

/** The names that enclose a block as they are embedded above it, or ''. */
export function contextOf(layout: Layout, block: Block): string {
  const names = namesOf(block);
  for (let from = 0; from < names.length; from++) {
    const context = names.slice(from).join(' > ');
    if (layout.counter.count(context) <= layout.limit * CONTEXT_SHARE) return context;
  }
  return '';
}

/** "Table 1: bins", in emphasis too. */
const CAPTION = /^[*_]{0,3}(?:table|tab\.|tabelle|tableau|tabla|figure|fig\.|abbildung|listing|表|图|圖|図)\s*[\d.IVX]+/i;
/** An introduction is short, in units. */
const SHORT = 400;

/** A caption by its kind, or by how it begins, where the format knows no captions. */
export function isCaption(layout: Layout, { kind, start, end }: Block): boolean {
  if (kind === 'caption') return true;
  return (
    (kind === 'paragraph' || kind === 'other') && end - start <= SHORT && CAPTION.test(layout.outline.text.slice(start, end))
  );
}

export function introduces(layout: Layout, block: Block, next: Block): boolean {
  if (block.kind === 'heading') return true;
  if (block.end - block.start > SHORT) return false;
  const text = layout.outline.text.slice(block.start, block.end);
  if (next.kind === 'table' && isCaption(layout, block)) return true;
  if (block.kind !== 'paragraph' && block.kind !== 'other') return false;
  return (
    (next.kind === 'table' || next.kind === 'list' || next.kind === 'code' || next.kind === 'formula') && /[:：]\s*$/.test(text)
  );
}

/** Headings of the path that the run itself does not open with. */
export function outerPath(path: readonly Heading[], blocks: readonly Block[]): Heading[] {
  const start = blocks[0]?.start ?? 0;
  return path.filter((heading) => heading.start < start);
}

/** Atoms of blocks that are packed together: whole where they fit. */
export function* blockAtoms(layout: Layout, blocks: readonly Block[], room: number): Generator<Atom> {
  let before: number = QUALITY.block;
  let gluedFrom: number | undefined;
  for (let index = 0; index < blocks.length; index++) {
    const block = blocks[index];
    const next = blocks[index + 1];
    if (block === undefined) break;
    // What is glued to the atoms before it must leave room for them.
    const taken = gluedFrom === undefined ? 0 : sizeOf(layout, gluedFrom, block.start);
    const left = taken <= room / 2 ? room - taken : room;
    yield* explodeBlock(layout, block, taken <= room / 2 ? before : QUALITY.block, left);
    const glues = next !== undefined && introduces(layout, block, next);
    before = glues ? QUALITY.glued : QUALITY.block;
    gluedFrom = glues ? (gluedFrom ?? block.start) : undefined;
  }
}

export function sizeOf(layout: Layout, start: number, end: number): number {
  return layout.sizes.unit === 'chars' ? end - start : layout.measure.tokens(start, end);
}

export function explodeBlock(layout: Layout, block: Block, before: number, room: number): Iterable<Atom> {
  const lang = block.kind === 'code' ? undefined : block.element?.lang;
  const options = explodeOptions(layout, room, lang);
  if (block.kind === 'code' && layout.separators === undefined) {
    return layout.measure.fits(block.start, block.end, room)
      ? [{ start: block.start, end: block.end, tokens: layout.measure.tokens(block.start, block.end), before }]
      : explodeCode(block, before, options);
  }
  return explodeProse(block, before, options);
}
