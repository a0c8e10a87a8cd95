import { trimmed } from '../text/graphemes.js';
import { QUALITY } from './atoms.js';
import { blockRun } from './block-run.js';
import { explodeOptions, type Layout, leadOf, packOptions, roomUnder } from './context.js';
import { explodeProse } from './explode.js';
import type { Piece } from './finish.js';
import type { Block, Section } from './outline.js';
import { packAtoms } from './pack.js';
import { splitIntroduction } from './runs.js';

/** A sentence with the headings that stand right before it, or a part of a table or of code, which has no sentences. */
export interface Unit extends Piece {
  /** Where the sentence begins behind its headings. */
  textStart: number;
  prose: boolean;
  /** Units of one section, and of no table or code between, may share a chunk. */
  group: number;
}

/** Prose under one heading path, or a table or code with what introduces it. */
export type Stretch =
  | { kind: 'prose'; section: Section; blocks: Block[] }
  | { kind: 'block'; section: Section; introduction: Block[]; block: Block };

/** The document parted at its tables and code. */
export function* stretchesOf(layout: Layout): Generator<Stretch> {
  for (const section of layout.outline.sections) {
    let pending: Block[] = [];
    for (const block of section.blocks) {
      if (block.kind !== 'table' && block.kind !== 'code') {
        pending.push(block);
        continue;
      }
      const { before, introduction } = splitIntroduction(layout, pending, block);
      if (before.length > 0) yield { kind: 'prose', section, blocks: before };
      yield { kind: 'block', section, introduction, block };
      pending = [];
    }
    if (pending.length > 0) yield { kind: 'prose', section, blocks: pending };
  }
}

/** The sentences of the document in order; tables and code as `auto` cuts them. */
export function* unitsOf(layout: Layout): Generator<Unit> {
  let group = 0;
  for (const stretch of stretchesOf(layout)) {
    group++;
    if (stretch.kind === 'block') {
      for (const piece of cutBlock(layout, stretch)) yield { ...piece, textStart: piece.start, prose: false, group };
    } else {
      yield* proseUnits(layout, stretch.section, stretch.blocks, group);
    }
  }
}

function* proseUnits(layout: Layout, section: Section, blocks: readonly Block[], group: number): Generator<Unit> {
  let headings: Block[] = [];
  for (const block of blocks) {
    if (block.kind === 'heading') {
      headings.push(block);
      continue;
    }
    yield* sentencesOf(layout, section, headings, block, group);
    headings = [];
  }
  const [first] = headings;
  const last = headings.at(-1);
  if (first !== undefined && last !== undefined) {
    yield { start: first.start, end: last.end, textStart: first.start, path: section.path, run: PLAIN, prose: true, group };
  }
}

const PLAIN = { context: '' };

/** The pieces of a table or of code, as `auto` cuts them. */
export function* cutBlock(layout: Layout, { section, introduction, block }: Stretch & { kind: 'block' }): Generator<Piece> {
  const run = blockRun(layout, section, introduction, block, [], { plain: true });
  for (const span of packAtoms(run.atoms(), packOptions(layout, run.rooms, false))) {
    yield { start: span.start, end: span.end, path: run.path, run };
  }
}

function* sentencesOf(layout: Layout, section: Section, pending: readonly Block[], block: Block, group: number): Generator<Unit> {
  const { text, document } = layout.outline;
  let opening = pending[0]?.start;
  for (const part of partsOf(text, block)) {
    for (const sentence of layout.sentences.split(text, part.start, part.end, block.element?.lang ?? document.lang)) {
      yield {
        start: opening ?? sentence.start,
        end: sentence.end,
        textStart: sentence.start,
        path: section.path,
        run: PLAIN,
        prose: true,
        group,
      };
      opening = undefined;
    }
  }
}

/** A list's items, else the block. */
function* partsOf(text: string, block: Block): Generator<{ start: number; end: number }> {
  const parts = block.kind === 'list' ? (block.element?.parts ?? []) : [];
  let from = block.start;
  for (const part of parts.slice(0, -1)) {
    const to = Math.min(part.end, block.end);
    const item = trimmed(text, from, to);
    if (item !== undefined) yield item;
    from = to;
  }
  const last = trimmed(text, from, block.end);
  if (last !== undefined) yield last;
}

/** The piece, or its parts where it is over the size of a chunk. */
export function* cutToSize<P extends Piece>(layout: Layout, piece: P): Generator<P> {
  const room = roomUnder(layout, [leadOf(layout, piece.path), piece.run.context]);
  if (piece.run.cut !== undefined || layout.measure.fits(piece.start, piece.end, room)) {
    yield piece;
    return;
  }
  const atoms = explodeProse(piece, QUALITY.block, explodeOptions(layout, room));
  for (const span of packAtoms(atoms, packOptions(layout, { first: room, next: room }, false))) {
    yield { ...piece, start: span.start, end: span.end };
  }
}
