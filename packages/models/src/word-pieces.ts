/** What one whitespace-free stretch of text becomes: ids of its pieces and their spans, relative to the stretch's start. */
export interface Pieces {
  ids: number[];
  starts: number[];
  ends: number[];
}

export interface WordPieceSettings {
  vocabulary: ReadonlyMap<string, number>;
  unknownId: number;
  /** Put before a piece that does not begin its word, as `##`. */
  continuation: string;
  /** A word of more code points than this is one unknown piece. */
  maxWordLength: number;
  cleanText: boolean;
  lowercase: boolean;
  stripAccents: boolean;
}

/** Text after normalisation; unit n of it came from `source.slice(starts[n], ends[n])`. */
interface Normalized {
  text: string;
  starts: number[];
  ends: number[];
}

const PLAIN = /^[\x21-\x7e]*$/;
const DROPPED = /[\0\uFFFD\p{Cc}\p{Cf}\p{Co}\p{Cs}]/u;
const MARKS = /\p{M}/u;
/** A base with its marks. No canonical decomposition reorders or composes across such a border, so each may be decomposed alone. */
const CLUSTER = /\P{M}\p{M}*|\p{M}+/gu;
const ACCENTS = /[\u0300-\u036f]/g;
/** BERT's words: punctuation (any of Unicode's, and every ASCII character that is neither letter, digit nor white space) stands alone. */
const WORD =
  /[^\s\p{P}\u0021-\u002F\u003A-\u0040\u005B-\u0060\u007B-\u007E]+|[\p{P}\u0021-\u002F\u003A-\u0040\u005B-\u0060\u007B-\u007E]/gu;

/** Greedy longest-match-first word pieces of one whitespace-free stretch (Wu et al. 2016, as BERT applies it). */
export function createWordPieces(settings: WordPieceSettings): (stretch: string) => Pieces {
  const { vocabulary, unknownId, continuation, maxWordLength } = settings;
  let longest = 1;
  for (const piece of vocabulary.keys()) longest = Math.max(longest, piece.length);

  function appendWord(word: string, base: number, from: Normalized, pieces: Pieces): void {
    const first = pieces.ids.length;
    let start = 0;
    // Code points are counted only where units could exceed the limit.
    let known = word.length <= maxWordLength || [...word].length <= maxWordLength;
    while (known && start < word.length) {
      let end = Math.min(word.length, start + longest);
      let id: number | undefined;
      for (; end > start; end--) {
        const piece = word.slice(start, end);
        id = vocabulary.get(start === 0 ? piece : continuation + piece);
        if (id !== undefined) break;
      }
      if (id === undefined) {
        known = false;
        break;
      }
      append(pieces, id, from.starts[base + start] ?? 0, from.ends[base + end - 1] ?? 0);
      start = end;
    }
    if (known) return;
    // One piece without a match makes the whole word unknown.
    pieces.ids.length = pieces.starts.length = pieces.ends.length = first;
    append(pieces, unknownId, from.starts[base] ?? 0, from.ends[base + word.length - 1] ?? 0);
  }

  return (stretch) => {
    const normalized = normalize(stretch, settings);
    const pieces: Pieces = { ids: [], starts: [], ends: [] };
    for (const match of normalized.text.matchAll(WORD)) appendWord(match[0], match.index, normalized, pieces);
    return pieces;
  };
}

function append(pieces: Pieces, id: number, start: number, end: number): void {
  pieces.ids.push(id);
  pieces.starts.push(start);
  pieces.ends.push(end);
}

function normalize(stretch: string, settings: WordPieceSettings): Normalized {
  const identity = PLAIN.test(stretch);
  let state = identity || !settings.cleanText ? asIs(stretch) : clean(stretch);
  if (settings.lowercase) state = lower(state);
  return identity || !settings.stripAccents ? state : withoutAccents(state);
}

function asIs(text: string): Normalized {
  const starts = Array.from({ length: text.length }, (_, index) => index);
  return { text, starts, ends: starts.map((start) => start + 1) };
}

function clean(source: string): Normalized {
  const out: Normalized = { text: '', starts: [], ends: [] };
  let at = 0;
  for (const char of source) {
    const end = at + char.length;
    if (!DROPPED.test(char)) {
      out.text += char;
      for (let unit = 0; unit < char.length; unit++) {
        out.starts.push(at);
        out.ends.push(end);
      }
    }
    at = end;
  }
  return out;
}

function lower(from: Normalized): Normalized {
  // The stretch as a whole, since a final sigma depends on its neighbours.
  const text = from.text.toLowerCase();
  if (text.length === from.text.length) return { ...from, text };
  const out: Normalized = { text, starts: [], ends: [] };
  let at = 0;
  for (const char of from.text) {
    // U+0130 alone grows (by a combining dot) when lower-cased.
    for (let unit = 0; unit < char.toLowerCase().length; unit++) {
      const origin = at + Math.min(unit, char.length - 1);
      out.starts.push(from.starts[origin] ?? 0);
      out.ends.push(from.ends[origin] ?? 0);
    }
    at += char.length;
  }
  return out;
}

function withoutAccents(from: Normalized): Normalized {
  if (!MARKS.test(from.text) && from.text.normalize('NFD') === from.text) return from;
  const out: Normalized = { text: '', starts: [], ends: [] };
  for (const match of from.text.matchAll(CLUSTER)) {
    const cluster = match[0].normalize('NFD').replace(ACCENTS, '');
    const start = from.starts[match.index] ?? 0;
    const end = from.ends[match.index + match[0].length - 1] ?? 0;
    out.text += cluster;
    for (let unit = 0; unit < cluster.length; unit++) {
      out.starts.push(start);
      out.ends.push(end);
    }
  }
  return out;
}
