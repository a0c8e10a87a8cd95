import type { Counter } from '../text/counts.js';

/** How good a cut before an atom is. Fractions order the kinds within: indentation of code. */
export const QUALITY = {
  /** Parts what belongs together, as a heading and its text: only where nothing else fits. */
  glued: -1,
  grapheme: 0,
  word: 1,
  clause: 2,
  line: 3,
  sentence: 4,
  block: 6,
} as const;

/** A stretch of the text that a chunk holds whole. */
export interface Atom {
  start: number;
  end: number;
  /** Word pieces of what is embedded of it; 0 where sizes are in characters. */
  tokens: number;
  /** Quality of a cut before it: one of QUALITY. */
  before: number;
}

/** Sizes atoms in the unit that the settings are in. */
export interface Measure {
  unit: 'tokens' | 'chars';
  text: string;
  counter: Counter;
  /** Word pieces of a stretch; 0 in characters, where offsets are all that counts. */
  tokens(start: number, end: number): number;
  /** True when the stretch is surely or exactly within `room`. Stretches far too long are not tokenised. */
  fits(start: number, end: number, room: number): boolean;
}

/**
 * More units a word piece than text has, save long runs of white space or of signs that are one unknown word to the model (a script it
 * never saw, a long string of hex): what it can't tell apart must not pile up in one chunk.
 */
export const UNITS_PER_TOKEN = 8;

export function createMeasure(text: string, unit: 'tokens' | 'chars', counter: Counter): Measure {
  const tokens = (start: number, end: number) => (unit === 'chars' ? 0 : counter.count(text.slice(start, end)));
  return {
    unit,
    text,
    counter,
    tokens,
    fits(start, end, room) {
      if (unit === 'chars') return end - start <= room;
      if (end - start > room * UNITS_PER_TOKEN) return false;
      return tokens(start, end) <= room;
    },
  };
}
