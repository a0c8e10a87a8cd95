import type { Chunk, ChunkKind } from '@sluice/core';
import { withoutEscapes } from '../text/escapes.js';
import { edgeAfter, graphemeEnds } from '../text/graphemes.js';
import { explodeOptions, type Layout, leadOf, resizeLayout, roomUnder } from './context.js';
import { explodeWords } from './explode.js';
import { firstBlockAfter, type Heading } from './outline.js';
import { packAtoms } from './pack.js';
import type { Run } from './run.js';

/** A chunk to be: a stretch of the text and the run it was cut from. */
export interface Piece {
  start: number;
  end: number;
  /** Where the text begins that the piece before does not hold; `start` without overlap. */
  fresh?: number;
  path: readonly Heading[];
  run: Pick<Run, 'context' | 'cut' | 'say'>;
  /** Nothing is embedded but the text itself: there is no room for more. */
  bare?: boolean;
  /** What the strategy adds to its chunks. */
  extra?: Partial<Chunk>;
}

/** Makes the chunks of a piece: one, or several where it turns out to be over the limit once it is tokenised as it will be embedded. */
export function* finishPiece(layout: Layout, piece: Piece): Generator<Omit<Chunk, 'index'>> {
  const made = describePiece(layout, piece);
  const over = made.pieces - layout.limit;
  if (over <= 0) {
    yield chunkOf(layout, piece, made);
    return;
  }
  if (piece.fresh !== undefined && piece.fresh > piece.start) {
    yield* finishPiece(layout, { ...piece, start: piece.fresh });
    return;
  }
  for (const part of splitPiece(layout, piece, over)) yield* finishPiece(layout, part);
}

interface Description {
  text: string;
  prefix: string;
  embedded: string;
  /** Word pieces of what is embedded, without special tokens. */
  pieces: number;
}

function describePiece(layout: Layout, piece: Piece): Description {
  const { cut, context, say } = piece.run;
  const slice = layout.outline.text.slice(piece.start, piece.end);
  if (piece.bare === true) return { text: slice, prefix: '', embedded: slice, pieces: layout.counter.count(slice) };
  const prefix = cut !== undefined && piece.start >= cut.bodyStart ? cut.prefix : '';
  const text = prefix + slice;
  const outer = piece.path.filter((heading) => heading.start < piece.start || heading.end > piece.end);
  const carry = cut !== undefined && piece.start > cut.start ? cut.carry : '';
  const above = [leadOf(layout, outer), context, carry].filter((line) => line !== '');
  const body = say?.(piece.start, piece.end) ?? withoutEscapes(text, languageAt(layout, piece.start));
  const embedded = above.length === 0 ? body : `${above.join('\n')}\n\n${body}`;
  return { text, prefix, embedded, pieces: layout.counter.count(embedded) };
}

/** The language of the code at an offset; undefined where none stands. */
function languageAt(layout: Layout, at: number): string | undefined {
  const { blocks } = layout.outline;
  const block = blocks[firstBlockAfter(blocks, at)];
  return block?.kind === 'code' ? block.element?.lang : undefined;
}

function chunkOf(layout: Layout, piece: Piece, made: Description): Omit<Chunk, 'index'> {
  const facts = factsOf(layout, piece);
  // A caption or lead-in doesn't make a table a mixture.
  const cut = piece.run.cut;
  return {
    kind: cut !== undefined && piece.end > cut.start ? cut.kind : facts.kind,
    text: made.text,
    start: piece.start,
    end: piece.end,
    prefix: made.prefix,
    derived: false,
    ...(made.embedded === made.text ? {} : { embeddingText: made.embedded }),
    headingPath: piece.path.map((heading) => heading.title).filter((title) => title !== ''),
    ...facts.pages,
    tokens: made.pieces + layout.counter.specialTokens,
    ...(facts.lang === undefined ? {} : { lang: facts.lang }),
    metadata: facts.metadata,
    ...piece.extra,
  };
}

/** Kind, pages, language and symbols of the elements that a piece overlaps. */
export function factsOf(layout: Layout, { start, end }: { start: number; end: number }) {
  const { blocks, document } = layout.outline;
  const kinds = new Set<ChunkKind>();
  const symbols: string[] = [];
  let heading = false;
  let pageStart: number | undefined;
  let pageEnd: number | undefined;
  let lang: string | undefined;
  let programming: string | undefined;
  for (let index = firstBlockAfter(blocks, start); index < blocks.length; index++) {
    const block = blocks[index];
    if (block === undefined || block.start >= end) break;
    const element = block.element;
    if (element?.page !== undefined) {
      pageStart ??= element.page;
      pageEnd = element.page;
    }
    if (block.kind === 'heading') heading = true;
    else kinds.add(block.kind);
    if (block.kind === 'code') programming ??= element?.lang;
    else lang ??= element?.lang;
    for (const symbol of element?.context ?? []) if (!symbols.includes(symbol)) symbols.push(symbol);
  }
  if (kinds.has('table')) kinds.delete('caption');
  const [only] = kinds;
  const kind: ChunkKind = kinds.size === 1 && only !== undefined ? only : kinds.size === 0 && heading ? 'heading' : 'text';
  return {
    kind,
    pages: pageStart === undefined || pageEnd === undefined ? {} : { pageStart, pageEnd },
    lang: lang === document.lang ? undefined : lang,
    metadata: {
      ...(programming === undefined ? {} : { language: programming }),
      ...(symbols.length === 0 ? {} : { symbols }),
    },
  };
}

/** Parts of a piece that is `over` by some word pieces. A single grapheme is all that can't be parted. */
function* splitPiece(layout: Layout, piece: Piece, over: number): Generator<Piece> {
  const { text } = layout.outline;
  const size = layout.counter.count(text.slice(piece.start, piece.end));
  const above = [leadOf(layout, piece.path), piece.run.context, piece.run.cut?.carry ?? '', piece.run.cut?.prefix ?? ''];
  const counted: Layout = { ...resizeLayout(layout, layout.limit), headingPrefix: layout.headingPrefix };
  const room = Math.max(1, Math.min(roomUnder(counted, above), size - over, Math.ceil(size / 2)));
  const options = explodeOptions(counted, room);
  const parts = [
    ...packAtoms(explodeWords(piece, 0, options), { text, unit: 'tokens', roomFirst: room, roomNext: room, overlap: 0 }),
  ];
  // Nothing parted it: what stands above goes, then graphemes are parted by force.
  if (parts.length < 2) {
    if (piece.bare === true) yield* halves(layout, piece);
    else yield { ...piece, bare: true };
    return;
  }
  for (const [index, part] of parts.entries()) yield { ...piece, start: index === 0 ? piece.start : part.start, end: part.end };
}

function* halves(layout: Layout, piece: Piece): Generator<Piece> {
  const { text } = layout.outline;
  const middle = (piece.start + piece.end) >>> 1;
  let cut = edgeAfter(text, middle);
  if (cut <= piece.start || cut >= piece.end) {
    for (const end of graphemeEnds(text, piece.start, piece.end)) {
      if (end < piece.end) cut = end;
      break;
    }
  }
  if (cut <= piece.start || cut >= piece.end) cut = codePointEdge(text, Math.max(piece.start + 1, middle));
  if (cut <= piece.start || cut >= piece.end) throw new RangeError('a single character is over the limit of the embedding model');
  yield { ...piece, end: cut };
  yield { ...piece, start: cut };
}

function codePointEdge(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at + 1 : at;
}
