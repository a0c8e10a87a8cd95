import type { Tokenizer } from '@sluice/core';
import type { SizeSettings } from '../settings.js';
import { type CountCache, type Counter, createCounter } from '../text/counts.js';
import { edgeAfter, trimmed } from '../text/graphemes.js';
import type { SentenceSplitter } from '../text/sentences.js';
import { skipSpace } from '../text/space.js';
import { createMeasure, type Measure } from './atoms.js';
import type { ExplodeOptions } from './explode.js';
import type { Heading, Outline } from './outline.js';
import type { PackOptions } from './pack.js';

/** What cutting one document needs. */
export interface Layout {
  /** Tells passages of different documents apart; '' where the caller gave none. Never part of what is embedded. */
  documentId: string;
  outline: Outline;
  sizes: SizeSettings;
  counter: Counter;
  measure: Measure;
  sentences: SentenceSplitter;
  separators: readonly string[] | undefined;
  /** The heading path goes in front of what is embedded. */
  headingPrefix: boolean;
  /** Word pieces of a chunk without special tokens, at most: max_tokens, or the model's limit where sizes are in characters. */
  limit: number;
}

/** A layout that cuts to other sizes, as for passages that are not embedded themselves. */
export function resizeLayout(layout: Layout, maxTokens: number): Layout {
  const sizes: SizeSettings = { unit: 'tokens', max: maxTokens, min: 0, minAcross: false, overlap: 0 };
  return {
    ...layout,
    sizes,
    headingPrefix: false,
    limit: maxTokens,
    measure: createMeasure(layout.outline.text, 'tokens', layout.counter),
  };
}

export interface LayoutInput {
  documentId: string;
  outline: Outline;
  sizes: SizeSettings;
  tokenizer: Tokenizer;
  counts: CountCache;
  sentences: SentenceSplitter;
  headingPrefix: boolean;
  separators?: readonly string[] | undefined;
}

export function createLayout(input: LayoutInput): Layout {
  const counter = createCounter(input.tokenizer, input.counts);
  const { sizes, outline } = input;
  return {
    documentId: input.documentId,
    outline,
    sizes,
    counter,
    measure: createMeasure(outline.text, sizes.unit, counter),
    sentences: input.sentences,
    separators: input.separators,
    headingPrefix: input.headingPrefix,
    limit: (sizes.unit === 'tokens' ? sizes.max : counter.modelTokens) - counter.specialTokens,
  };
}

/** A heading path may take this share of what is embedded; outer headings go first when it is longer. */
const LEAD_SHARE = 1 / 4;

/** The heading path as it is embedded above a chunk, or ''. */
export function leadOf(layout: Layout, path: readonly Heading[]): string {
  if (!layout.headingPrefix) return '';
  for (let from = 0; from < path.length; from++) {
    const lead = path
      .slice(from)
      .map((heading) => heading.title)
      .filter((title) => title !== '')
      .join(' > ');
    if (lead !== '' && layout.counter.count(lead) <= layout.limit * LEAD_SHARE) return lead;
  }
  return '';
}

/** Room for text under what is embedded above it. In characters only the chunk's own text counts. */
export function roomUnder(layout: Layout, above: readonly string[]): number {
  if (layout.sizes.unit === 'chars') return layout.sizes.max;
  const taken = above.reduce((sum, text) => sum + layout.counter.count(text), 0);
  return Math.max(1, layout.limit - taken);
}

export function explodeOptions(layout: Layout, room: number, lang?: string): ExplodeOptions {
  return {
    measure: layout.measure,
    room,
    sentences: layout.sentences,
    lang: lang ?? layout.outline.document.lang,
    separators: layout.separators,
  };
}

export function packOptions(layout: Layout, rooms: { first: number; next: number }, overlaps: boolean): PackOptions {
  const { sizes, outline } = layout;
  const overlap = overlaps ? sizes.overlap : 0;
  return {
    text: outline.text,
    unit: sizes.unit,
    roomFirst: rooms.first,
    roomNext: rooms.next,
    overlap,
    ...(overlap > 0 ? { overlapStart: (start, end, most) => findOverlap(layout, start, end, most) } : {}),
  };
}

/** A word piece of common text is seldom longer. */
const UNITS_PER_TOKEN = 24;

/**
 * The longest end of start..end within `most` that begins with a word; where no word fits, with a grapheme. In characters exactly
 * `most` where graphemes allow it.
 */
function findOverlap(layout: Layout, start: number, end: number, most: number) {
  if (most <= 0) return undefined;
  const { text } = layout.outline;
  const { unit } = layout.sizes;
  const from = Math.max(start, end - (unit === 'chars' ? most : most * UNITS_PER_TOKEN));
  const pieces = unit === 'chars' ? [] : layout.counter.pieces(text.slice(from, end));
  const reach = unit === 'chars' ? from : from + (pieces[Math.max(0, pieces.length - most)]?.start ?? end - from);
  const earliest = edgeAfter(text, Math.max(reach, start + 1));
  const begin = wordStart(text, earliest, end) ?? trimmed(text, earliest, end)?.start;
  if (begin === undefined || begin <= start || begin >= end) return undefined;
  return { start: begin, size: unit === 'chars' ? end - begin : pieces.filter((piece) => from + piece.start >= begin).length };
}

/** The first offset in reach..end where a word begins behind white space. */
function wordStart(text: string, reach: number, end: number): number | undefined {
  let at = reach;
  while (at < end && skipSpace(text, at - 1, at) === at - 1) at++;
  const begin = skipSpace(text, at, end);
  return begin < end ? edgeAfter(text, begin) : undefined;
}
