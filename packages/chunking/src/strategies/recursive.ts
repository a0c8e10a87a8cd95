import { QUALITY } from '../layout/atoms.js';
import { explodeOptions, type Layout, packOptions, roomUnder } from '../layout/context.js';
import { explodeProse } from '../layout/explode.js';
import { finishPiece, type Piece } from '../layout/finish.js';
import { mergeSmall } from '../layout/merge.js';
import type { Heading, Section } from '../layout/outline.js';
import { packAtoms } from '../layout/pack.js';
import type { RunOptions } from '../layout/run.js';
import { runsOf } from '../layout/runs.js';
import type { ChunkingStrategy } from './strategy.js';

/** Headings, tables, lists and code kept whole where they fit, everything embedded as it stands. Without `structure` the plain baseline. */
export const recursive: ChunkingStrategy<'recursive'> = {
  version: 1,
  cut(layout, settings) {
    return { chunks: finishAll(layout, settings.structure ? cutSections(layout, { plain: false }) : cutPlain(layout)) };
  },
};

/** Small pieces joined, then chunks made of them. */
export function finishAll(layout: Layout, pieces: Iterable<Piece>) {
  return finishPieces(layout, mergeSmall(layout, pieces));
}

export function* finishPieces(layout: Layout, pieces: Iterable<Piece>) {
  let last = -1;
  for (const piece of pieces) {
    // Where the piece before had to be parted, its last part may begin where this one's overlap does.
    const start = piece.start <= last ? (piece.fresh ?? piece.start) : piece.start;
    for (const chunk of finishPiece(layout, { ...piece, start })) {
      yield chunk;
      last = chunk.start;
    }
  }
}

/** Cuts section by section, run by run. */
export function* cutSections(
  layout: Layout,
  options: RunOptions,
  sections: readonly Section[] = layout.outline.sections,
): Generator<Piece> {
  for (const section of sections) {
    for (const run of runsOf(layout, section, options)) {
      for (const span of packAtoms(run.atoms(), packOptions(layout, run.rooms, run.overlaps))) {
        yield { start: span.start, end: span.end, fresh: span.fresh, path: run.path, run };
      }
    }
  }
}

/** The text from end to end, whatever its elements are. */
export function* cutPlain(layout: Layout): Generator<Piece> {
  const { blocks } = layout.outline;
  const start = blocks[0]?.start;
  const end = blocks.at(-1)?.end;
  if (start === undefined || end === undefined) return;
  const room = roomUnder(layout, []);
  const atoms = explodeProse({ start, end }, QUALITY.block, explodeOptions(layout, room));
  const pathAt = pathFinder(layout);
  for (const span of packAtoms(atoms, packOptions(layout, { first: room, next: room }, true))) {
    yield { start: span.start, end: span.end, fresh: span.fresh, path: pathAt(span.start), run: { context: '' }, bare: true };
  }
}

/** The heading path at an offset; asked in ascending order. */
function pathFinder(layout: Layout): (at: number) => readonly Heading[] {
  const { sections } = layout.outline;
  let index = 0;
  return (at) => {
    while ((sections[index + 1]?.blocks[0]?.start ?? Number.POSITIVE_INFINITY) <= at) index++;
    return sections[index]?.path ?? [];
  };
}
