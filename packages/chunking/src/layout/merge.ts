import type { Layout } from './context.js';
import type { Piece } from './finish.js';
import type { Heading } from './outline.js';

/** Joins pieces under `min_tokens` with a neighbour where both fit in one chunk. Parts of tables and the like are left alone. */
export function* mergeSmall(layout: Layout, pieces: Iterable<Piece>): Generator<Piece> {
  const { min } = layout.sizes;
  if (min === 0) {
    yield* pieces;
    return;
  }
  const sizeOf = (start: number, end: number) => layout.counter.count(layout.outline.text.slice(start, end));
  let last: { piece: Piece; size: number } | undefined;
  for (const piece of pieces) {
    const size = sizeOf(piece.start, piece.end);
    if (
      last !== undefined &&
      (last.size < min || size < min) &&
      isPlain(last.piece) &&
      isPlain(piece) &&
      (layout.sizes.minAcross || last.piece.path === piece.path)
    ) {
      const joined = sizeOf(last.piece.start, piece.end);
      if (joined <= layout.limit) {
        last = { piece: join(last.piece, piece), size: joined };
        continue;
      }
    }
    if (last !== undefined) yield last.piece;
    last = { piece, size };
  }
  if (last !== undefined) yield last.piece;
}

function isPlain(piece: Piece): boolean {
  return piece.run.cut === undefined && piece.run.say === undefined;
}

function join(a: Piece, b: Piece): Piece {
  const context = a.run.context === b.run.context ? a.run.context : '';
  return { ...a, end: b.end, path: commonPath(a.path, b.path), run: { context } };
}

function commonPath(a: readonly Heading[], b: readonly Heading[]): Heading[] {
  const path: Heading[] = [];
  for (let index = 0; index < a.length && a[index]?.start === b[index]?.start; index++) {
    const heading = a[index];
    if (heading !== undefined) path.push(heading);
  }
  return path;
}
