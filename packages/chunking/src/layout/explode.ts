import { edgeAfter, graphemeEnds, trimmed } from '../text/graphemes.js';
import type { SentenceSplitter } from '../text/sentences.js';
import { findNewline, isSpace } from '../text/space.js';
import { splitWords } from '../text/words.js';
import { type Atom, type Measure, QUALITY, UNITS_PER_TOKEN } from './atoms.js';

interface Range {
  start: number;
  end: number;
}

export interface ExplodeOptions {
  measure: Measure;
  /** An atom's largest size, in the measure's unit. */
  room: number;
  sentences: SentenceSplitter;
  lang?: string | undefined;
  /** Custom separators in place of paragraphs, sentences, lines and words. */
  separators?: readonly string[] | undefined;
}

/**
 * Cuts a stretch of prose into atoms no larger than `room`: whole when it fits, else by paragraphs, sentences, lines and words, and
 * words by graphemes. The first atom's `before` is the one given.
 */
export function* explodeProse(range: Range, before: number, options: ExplodeOptions): Generator<Atom> {
  const { measure, room } = options;
  const { text } = measure;
  if (measure.fits(range.start, range.end, room)) {
    yield atomOf(measure, range, before);
    return;
  }
  if (options.separators !== undefined) {
    yield* explodeBySeparators(range, before, options, 0);
    return;
  }
  let cut = before;
  for (const paragraph of paragraphs(text, range)) {
    if (measure.fits(paragraph.start, paragraph.end, room)) {
      yield atomOf(measure, paragraph, cut);
    } else {
      let quality = cut;
      for (const sentence of options.sentences.split(text, paragraph.start, paragraph.end, options.lang)) {
        yield* explodeSentence(sentence, quality, options);
        quality = QUALITY.sentence;
      }
    }
    cut = QUALITY.block;
  }
}

/** Cuts a sentence, or anything else without paragraphs, into atoms no larger than `room`. */
function* explodeSentence(range: Range, before: number, options: ExplodeOptions): Generator<Atom> {
  const { measure, room } = options;
  if (measure.fits(range.start, range.end, room)) yield atomOf(measure, range, before);
  else yield* explodeWords(range, before, options);
}

/** Words are tokenised together, this many units at a time, and their pieces told apart by offset. */
const STRETCH = 16_384;

/** Cuts into words, and words over `room` into graphemes. */
export function* explodeWords(range: Range, before: number, options: ExplodeOptions): Generator<Atom> {
  const { measure, room } = options;
  const { text } = measure;
  let first = true;
  let from = range.start;
  while (from < range.end) {
    const to = stretchEnd(text, from, range.end);
    const pieces = measure.unit === 'tokens' ? measure.counter.pieces(text.slice(from, to)) : [];
    let piece = 0;
    for (const word of splitWords(text, from, to)) {
      let tokens = 0;
      while (piece < pieces.length && from + (pieces[piece]?.start ?? 0) < word.end) {
        piece++;
        tokens++;
      }
      const quality = first ? before : cutQuality(text, range.start, word.start);
      first = false;
      const units = word.end - word.start;
      const size = measure.unit === 'tokens' ? Math.max(tokens, units / UNITS_PER_TOKEN) : units;
      if (size <= room) yield { start: word.start, end: word.end, tokens, before: quality };
      else yield* explodeGraphemes(word, tokens, quality, options);
    }
    from = to;
  }
}

/** Ends a stretch at white space where there is some; else, in text without spaces, at a grapheme's edge. */
function stretchEnd(text: string, from: number, end: number): number {
  if (end - from <= STRETCH) return end;
  for (let at = from + STRETCH; at > from + STRETCH / 2; at--) {
    if (isSpace(text.charCodeAt(at))) return at;
  }
  return Math.min(end, edgeAfter(text, from + STRETCH));
}

function cutQuality(text: string, floor: number, start: number): number {
  let at = start;
  let newline = false;
  while (at > floor && isSpace(text.charCodeAt(at - 1))) {
    at--;
    if (text.charCodeAt(at) === 0x0a) newline = true;
  }
  if (newline) return QUALITY.line;
  if (at <= floor) return QUALITY.word;
  return ',;:—–)]}、，；：،؛'.includes(text.charAt(at - 1)) ? QUALITY.clause : QUALITY.word;
}

/** Pieces that end where a word was cut differ from those of the whole: what is a little less than the limit is not parted again. */
const CUT_MARGIN = 1.15;

/** @param tokens word pieces of the whole word, from which those of its graphemes are taken by length: exact counts come when a chunk is made */
function* explodeGraphemes(word: Range, tokens: number, before: number, options: ExplodeOptions): Generator<Atom> {
  const { measure, room } = options;
  const { text } = measure;
  const perUnit = measure.unit === 'chars' ? 0 : Math.max((tokens * CUT_MARGIN) / (word.end - word.start), 1 / UNITS_PER_TOKEN);
  let quality = before;
  let start = word.start;
  for (const end of graphemeEnds(text, word.start, word.end)) {
    // A cluster that no model could take is parted all the same: better than a document that can't be embedded.
    if (end - start > room && measure.tokens(start, end) > room) yield* explodeUnits(start, end, quality, options);
    else yield { start, end, tokens: (end - start) * perUnit, before: quality };
    quality = QUALITY.grapheme;
    start = end;
  }
}

function* explodeUnits(start: number, end: number, before: number, options: ExplodeOptions): Generator<Atom> {
  const { measure } = options;
  let quality = before;
  let at = start;
  for (const point of measure.text.slice(start, end)) {
    yield { start: at, end: at + point.length, tokens: measure.tokens(at, at + point.length), before: quality };
    quality = QUALITY.grapheme;
    at += point.length;
  }
}

function* explodeBySeparators(range: Range, before: number, options: ExplodeOptions, level: number): Generator<Atom> {
  const { measure, room, separators = [] } = options;
  const separator = separators[level];
  if (measure.fits(range.start, range.end, room)) {
    yield atomOf(measure, range, before);
    return;
  }
  if (separator === undefined) {
    yield* explodeGraphemes(range, measure.tokens(range.start, range.end), before, options);
    return;
  }
  // The first separator is the best place to cut; all are better than none.
  const quality = QUALITY.block - (level / separators.length) * (QUALITY.block - QUALITY.word);
  let cut = before;
  for (const part of splitAt(measure.text, range, separator)) {
    yield* explodeBySeparators(part, cut, options, level + 1);
    cut = quality;
  }
}

/** Parts between separators; what is not white space of a separator stays at the end of the part before it. */
function* splitAt(text: string, range: Range, separator: string): Generator<Range> {
  let from = range.start;
  while (from < range.end) {
    const found = text.slice(from, range.end).indexOf(separator);
    const to = found < 0 ? range.end : Math.min(range.end, edgeAfter(text, from + found + separator.length));
    const part = trimmed(text, from, to);
    if (part !== undefined) yield part;
    from = to;
  }
}

/** Stretches between blank lines. */
function* paragraphs(text: string, range: Range): Generator<Range> {
  let from = range.start;
  while (from < range.end) {
    let newline = findNewline(text, from, range.end);
    let to = range.end;
    while (newline >= 0) {
      const next = skipBlanks(text, newline + 1, range.end);
      if (next >= range.end || text.charCodeAt(next) === 0x0a) {
        to = newline;
        break;
      }
      newline = findNewline(text, next, range.end);
    }
    const part = trimmed(text, from, to);
    if (part !== undefined) yield part;
    from = to + 1;
  }
}

function skipBlanks(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && text.charCodeAt(at) !== 0x0a && isSpace(text.charCodeAt(at))) at++;
  return at;
}

export function atomOf(measure: Measure, range: Range, before: number): Atom {
  return { start: range.start, end: range.end, tokens: measure.tokens(range.start, range.end), before };
}
