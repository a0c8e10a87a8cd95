import type { ElementKind } from '@sluice/core';
import { trimmed } from '../text/graphemes.js';
import { type Atom, QUALITY } from './atoms.js';
import { explodeCode, signatureOf } from './code.js';
import { explodeOptions, type Layout, leadOf, roomUnder } from './context.js';
import { explodeProse, explodeWords } from './explode.js';
import type { Block, Heading, Section } from './outline.js';
import { sayRow, sayTable, shapeTable, type TableShape } from './tables.js';

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

/** Where the runs of a section begin and end: a table, list or code that must be cut is one of its own. */
export function* runsOf(layout: Layout, section: Section, options: RunOptions): Generator<Run> {
  let pending: Block[] = [];
  let key = '';
  for (let index = 0; index < section.blocks.length; index++) {
    const block = section.blocks[index];
    if (block === undefined) break;
    const blockKey = keyOf(block);
    if (block.kind !== 'heading') {
      if (blockKey !== key && pending.some((before) => before.kind !== 'heading')) {
        yield textRun(layout, section, pending);
        pending = [];
      }
      key = blockKey;
    }
    if (!standsAlone(layout, section, block, options)) {
      pending.push(block);
      continue;
    }
    const introduced = splitIntroduction(layout, pending, block);
    if (introduced.before.length > 0) yield textRun(layout, section, introduced.before);
    const after = section.blocks[index + 1];
    const caption =
      block.kind === 'table' && after?.kind === 'caption' && section.blocks[index + 2]?.kind !== 'table' ? [after] : [];
    index += caption.length;
    yield blockRun(layout, section, introduced.introduction, block, caption, options);
    pending = [];
  }
  if (pending.length > 0) yield textRun(layout, section, pending);
}

/**
 * The names that enclose a block. Places in a list are left out: a record that is added would change what is embedded of all behind it.
 */
function keyOf(block: Block): string {
  const names = [...(block.element?.path ?? []), ...(block.element?.context ?? [])];
  return names.filter((name) => !/^\d+$/.test(name)).join(' > ');
}

/** Definitions from this share of the room on are chunks of their own; smaller ones are packed together. */
const OWN_SHARE = 1 / 4;

function standsAlone(layout: Layout, section: Section, block: Block, options: RunOptions): boolean {
  if (block.kind === 'table' && options.plain) return true;
  if (block.kind !== 'table' && block.kind !== 'code' && block.kind !== 'list') return false;
  // A record of JSON is found by itself.
  if (options.plain && block.element?.path !== undefined) return true;
  const room = roomUnder(layout, [leadOf(layout, section.path), keyOf(block)]);
  if (!layout.measure.fits(block.start, block.end, room)) return true;
  const defines = options.plain && block.kind === 'code' && block.element?.context !== undefined;
  return defines && !layout.measure.fits(block.start, block.end, room * OWN_SHARE);
}

/** A caption or a line that ends with a colon belongs to what follows it, and a heading that nothing parts from them. */
export function splitIntroduction(layout: Layout, pending: readonly Block[], block: Block) {
  let from = pending.length;
  const last = pending[from - 1];
  if (last !== undefined && introduces(layout, last, block)) from--;
  if (pending.slice(0, from).every((before) => before.kind === 'heading')) from = 0;
  return { before: pending.slice(0, from), introduction: pending.slice(from) };
}

const CAPTION = /^(?:table|tab\.|tabelle|tableau|tabla|figure|fig\.|abbildung|listing|表|图|圖|図)\s*[\d.IVX]+/i;
/** An introduction is short, in units. */
const SHORT = 400;

function introduces(layout: Layout, block: Block, next: Block): boolean {
  if (block.kind === 'heading') return true;
  if (block.end - block.start > SHORT) return false;
  const text = layout.outline.text.slice(block.start, block.end);
  if (next.kind === 'table' && (block.kind === 'caption' || CAPTION.test(text))) return true;
  if (block.kind !== 'paragraph' && block.kind !== 'other') return false;
  return (
    (next.kind === 'table' || next.kind === 'list' || next.kind === 'code' || next.kind === 'formula') && /[:：]\s*$/.test(text)
  );
}

/** Headings of the path that the run itself does not open with. */
function outerPath(path: readonly Heading[], blocks: readonly Block[]): Heading[] {
  const start = blocks[0]?.start ?? 0;
  return path.filter((heading) => heading.start < start);
}

function textRun(layout: Layout, section: Section, blocks: readonly Block[]): Run {
  const context = keyOf(blocks.at(-1) ?? { kind: 'other', start: 0, end: 0, element: undefined });
  const rooms = {
    first: roomUnder(layout, [leadOf(layout, outerPath(section.path, blocks)), context]),
    next: roomUnder(layout, [leadOf(layout, section.path), context]),
  };
  return {
    path: section.path,
    rooms,
    overlaps: blocks.every((block) => block.kind !== 'table' && block.kind !== 'code'),
    atoms: () => blockAtoms(layout, blocks, Math.min(rooms.first, rooms.next)),
    context,
  };
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

function sizeOf(layout: Layout, start: number, end: number): number {
  return layout.sizes.unit === 'chars' ? end - start : layout.measure.tokens(start, end);
}

function explodeBlock(layout: Layout, block: Block, before: number, room: number): Iterable<Atom> {
  const lang = block.kind === 'code' ? undefined : block.element?.lang;
  const options = explodeOptions(layout, room, lang);
  if (block.kind === 'code' && layout.separators === undefined) {
    return layout.measure.fits(block.start, block.end, room)
      ? [{ start: block.start, end: block.end, tokens: layout.measure.tokens(block.start, block.end), before }]
      : explodeCode(block, before, options);
  }
  return explodeProse(block, before, options);
}

/** The run of one block that stands by itself, with what introduces it and a table's caption below it. */
export function blockRun(
  layout: Layout,
  section: Section,
  introduction: readonly Block[],
  block: Block,
  caption: readonly Block[],
  options: RunOptions,
): Run {
  const blocks = [...introduction, block];
  const { text } = layout.outline;
  const shape = block.kind === 'table' ? shapeTable(text, block) : undefined;
  const spoken = options.plain && shape !== undefined;
  const context = keyOf(block);
  const lead = leadOf(layout, section.path);
  const whole = roomUnder(layout, [lead, context]);
  const above = short(layout, whole, aboveParts(layout, introduction, block, shape, spoken));
  const prefix = shape === undefined ? '' : fitPrefix(layout, whole, shape, spoken);
  const rooms = {
    first: roomUnder(layout, [leadOf(layout, outerPath(section.path, blocks)), context]),
    next: Math.max(
      1,
      roomUnder(layout, [lead, context, above, spoken ? '' : prefix]) - (layout.sizes.unit === 'chars' ? prefix.length : 0),
    ),
  };
  const room = Math.min(rooms.first, rooms.next);
  return {
    path: section.path,
    rooms,
    overlaps: false,
    context,
    cut: { kind: block.kind, start: block.start, bodyStart: shape?.bodyStart ?? block.start, prefix, carry: above },
    ...(spoken ? { say: (start: number, end: number) => sayTable(text, shape, start, end) } : {}),
    *atoms() {
      const taken = introduction.length > 0 ? sizeOf(layout, introduction[0]?.start ?? 0, block.start) : 0;
      const glued = taken <= room / 2;
      yield* blockAtoms(layout, introduction, room);
      const before = introduction.length > 0 && glued ? QUALITY.glued : QUALITY.block;
      const left = glued ? room - taken : room;
      if (shape !== undefined) yield* rowAtoms(layout, block, shape, spoken, before, { first: left, next: room });
      else if (block.kind === 'list') yield* itemAtoms(layout, block, before, left);
      else if (block.kind === 'code') yield* explodeCode(block, before, explodeOptions(layout, left));
      else yield* explodeProse(block, before, explodeOptions(layout, left));
      for (const line of caption) yield* explodeBlock(layout, line, QUALITY.glued, room);
    },
  };
}

/** What is embedded above the later parts of a block that is cut: a table's caption, a list's lead-in, a definition's first line. */
function aboveParts(
  layout: Layout,
  introduction: readonly Block[],
  block: Block,
  shape: TableShape | undefined,
  spoken: boolean,
): string {
  const { text } = layout.outline;
  if (block.kind === 'code') {
    const signature = signatureOf(text, block.start, block.end);
    const known = block.element?.context?.at(-1);
    return known !== undefined && signature.includes(known) ? '' : signature;
  }
  if (block.kind === 'table' && (shape === undefined || !spoken)) return '';
  const last = introduction.at(-1);
  return last === undefined || last.kind === 'heading' ? '' : text.slice(last.start, last.end);
}

/** What is repeated may take a quarter of the room, else nothing is. */
function short(layout: Layout, room: number, text: string): string {
  return layout.counter.count(text) <= room / 4 ? text : '';
}

/**
 * A header that leaves no room for rows is not repeated. Where rows are embedded in plain words the header is for the reader alone and may
 * be longer, unless a row has to be parted: its parts are embedded as they stand, below the header.
 */
function fitPrefix(layout: Layout, room: number, shape: TableShape, spoken: boolean): string {
  const { header } = shape;
  if (layout.sizes.unit === 'chars') return header.length <= room * 0.75 ? header : '';
  const { counter } = layout;
  if (counter.count(header) <= room / 2) return header;
  return spoken && shape.rows.every((row) => counter.count(sayRow(shape.names, row.cells)) <= room) ? header : '';
}

function* rowAtoms(
  layout: Layout,
  block: Block,
  shape: TableShape,
  spoken: boolean,
  before: number,
  rooms: { first: number; next: number },
): Generator<Atom> {
  const { measure, counter } = layout;
  let quality = before;
  let start = block.start;
  for (let index = 0; index < shape.rows.length; index++) {
    const row = shape.rows[index];
    if (row === undefined) break;
    const range = { start, end: row.end };
    const room = index === 0 ? rooms.first : rooms.next;
    const tokens = spoken && measure.unit === 'tokens' ? counter.count(sayRow(shape.names, row.cells)) : 0;
    const fits = spoken && measure.unit === 'tokens' ? tokens <= room : measure.fits(range.start, range.end, room);
    if (!fits) yield* explodeWords(range, quality, explodeOptions(layout, room));
    else yield { ...range, tokens: spoken ? tokens : measure.tokens(range.start, range.end), before: quality };
    quality = QUALITY.sentence;
    start = shape.rows[index + 1]?.start ?? row.end;
  }
}

function* itemAtoms(layout: Layout, block: Block, before: number, room: number): Generator<Atom> {
  const { text } = layout.outline;
  const options = explodeOptions(layout, room, block.element?.lang);
  const parts = block.element?.parts ?? [];
  const ends = parts.slice(0, -1).map((part) => Math.min(part.end, block.end));
  let quality = before;
  let from = block.start;
  for (const end of [...ends, block.end]) {
    const item = trimmed(text, from, end);
    if (item !== undefined) yield* explodeProse(item, quality, options);
    quality = QUALITY.sentence + 1;
    from = end;
  }
}
