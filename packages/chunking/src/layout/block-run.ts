import { trimmed } from '../text/graphemes.js';
import { type Atom, QUALITY } from './atoms.js';
import { explodeCode, signatureOf } from './code.js';
import { explodeOptions, type Layout, leadOf, roomUnder } from './context.js';
import { explodeProse, explodeWords } from './explode.js';
import { ancestorsOf, nestedItems } from './nested-items.js';
import type { Block, Section } from './outline.js';
import { blockAtoms, contextOf, explodeBlock, outerPath, type Run, type RunOptions, sizeOf } from './run.js';
import { cellsOf, sayCellPart, sayRow, sayTable, shapeTable, type TableRow, type TableShape } from './tables.js';

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
  const context = contextOf(layout, block);
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
  const namesItems = block.kind === 'list' && options.plain && layout.sizes.unit === 'tokens';
  const aboveItems = namesItems ? deepestAncestors(layout, whole, block) : 0;
  rooms.next = Math.max(1, rooms.next - aboveItems);
  const room = Math.min(rooms.first, rooms.next);
  return {
    path: section.path,
    rooms,
    overlaps: false,
    context,
    cut: { kind: block.kind, start: block.start, bodyStart: shape?.bodyStart ?? block.start, prefix, carry: above },
    ...(spoken
      ? { say: (start: number, end: number) => sayTable(text, shape, start, end) ?? sayCellPart(text, shape, start, end) }
      : {}),
    ...(aboveItems > 0 ? { say: (start: number, end: number) => sayItems(layout, block, { start, end }, aboveItems) } : {}),
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

/** A list is judged by its beginning (UTF-16 units). */
const LIST_HEAD = 20_000;

/** Word pieces that the items around nested ones take at most, where they are embedded above them: a quarter of the room. */
function deepestAncestors(layout: Layout, room: number, block: Block): number {
  const { text } = layout.outline;
  let most = 0;
  const head = { start: block.start, end: Math.min(block.end, block.start + LIST_HEAD) };
  for (const item of nestedItems(text, head)) {
    if (item.depth === 0) continue;
    const tokens = layout.counter.count(ancestorsOf(text, block, item.start));
    if (tokens <= room / 4) most = Math.max(most, tokens);
  }
  return most;
}

/** Nested items below the items they belong to; undefined where the first one is no nested item. */
function sayItems(
  layout: Layout,
  block: Block,
  { start, end }: { start: number; end: number },
  most: number,
): string | undefined {
  const { text } = layout.outline;
  const ancestors = start <= block.start ? '' : ancestorsOf(text, block, start);
  if (ancestors === '' || layout.counter.count(ancestors) > most) return undefined;
  return `${ancestors}\n${text.slice(start, end)}`;
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
    if (!fits) yield* cellAtoms(layout, shape, { range, row }, quality, { room, spoken });
    else yield { ...range, tokens: spoken ? tokens : measure.tokens(range.start, range.end), before: quality };
    quality = QUALITY.sentence;
    start = shape.rows[index + 1]?.start ?? row.end;
  }
}

/** A row over the room, between its cells where they are embedded in plain words and found in the text, else between words. */
function* cellAtoms(
  layout: Layout,
  shape: TableShape,
  { range, row }: { range: { start: number; end: number }; row: TableRow },
  before: number,
  { room, spoken }: { room: number; spoken: boolean },
): Generator<Atom> {
  const { text } = layout.outline;
  const options = explodeOptions(layout, room);
  const cells = spoken && layout.sizes.unit === 'tokens' ? cellsOf(text, row) : undefined;
  if (cells === undefined) {
    yield* explodeWords(range, before, options);
    return;
  }
  const header = trimmed(text, range.start, row.start);
  if (header !== undefined) yield* explodeWords(header, before, options);
  let quality: number = header === undefined ? before : QUALITY.clause;
  for (const cell of cells) {
    const span = trimmed(text, cell.start, cell.end);
    if (span === undefined) continue;
    const tokens = layout.counter.count(sayRow([shape.names[cell.column] ?? ''], [row.cells[cell.column] ?? '']));
    if (tokens <= room) yield { ...span, tokens: tokens + 1, before: quality };
    else yield* explodeWords(span, quality, options);
    quality = QUALITY.clause;
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
    if (item !== undefined) {
      for (const { start, depth, ...range } of layout.measure.fits(item.start, item.end, room)
        ? [{ ...item, depth: 0 }]
        : nestedItems(text, item)) {
        // The outer the item, the better the cut before it.
        yield* explodeProse({ start, end: range.end }, depth === 0 ? quality : QUALITY.sentence + 1 / (depth + 1), options);
      }
    }
    quality = QUALITY.sentence + 1;
    from = end;
  }
}
