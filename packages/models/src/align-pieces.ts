import type { Pieces } from './word-pieces.js';

/** A base with its marks: may be normalised alone. */
const CLUSTER = /\P{M}\p{M}*|\p{M}+/gu;
/** What stands for a space in pieces of SentencePiece, and white space itself: no characters of a word. */
const SPACES = /[\u2581\s]+/g;
const BYTE = /^<0x[0-9A-F]{2}>$/;

/** A word after normalisation; unit n of it came from `source.slice(starts[n], ends[n])`. */
interface Normalized {
  text: string;
  starts: number[];
  ends: number[];
}

/** Normalises a word and remembers where each unit came from; where that can't be known exactly, it is shared out by length. */
function normalize(word: string, apply: (text: string) => string): Normalized {
  const clean = (text: string) => apply(text).replace(SPACES, '');
  const whole = clean(word);
  const out: Normalized = { text: '', starts: [], ends: [] };
  for (const { 0: cluster, index } of word.matchAll(CLUSTER)) {
    const text = clean(cluster);
    out.text += text;
    for (let unit = 0; unit < text.length; unit++) {
      out.starts.push(index);
      out.ends.push(index + cluster.length);
    }
  }
  if (out.text === whole) return out;
  const share = (unit: number) => Math.floor((unit * word.length) / whole.length);
  const units = Array.from({ length: whole.length }, (_, unit) => unit);
  return { text: whole, starts: units.map(share), ends: units.map((unit) => Math.max(share(unit + 1), share(unit) + 1)) };
}

/**
 * Where the pieces of a word came from. Pieces are found one after the other in the normalised word; an unknown one covers what lies
 * before the next that is found. Starts and ends never decrease, and no span is empty.
 */
export function alignPieces(
  word: string,
  tokens: readonly string[],
  apply: (text: string) => string,
): Pick<Pieces, 'starts' | 'ends'> {
  const normalized = normalize(word, apply);
  const { text } = normalized;
  const surfaces = tokens.map(surfaceOf);
  const spans = createSpans(word, normalized);
  let at = 0;
  let bytesLeft = 0;
  for (const [n, surface] of surfaces.entries()) {
    if (surface === undefined) {
      // Bytes of one character share its span.
      const char = String.fromCodePoint(text.codePointAt(at) ?? 0);
      if (bytesLeft === 0) bytesLeft = Buffer.byteLength(char);
      spans.add(at, at + char.length);
      if (--bytesLeft === 0) at += char.length;
    } else if (text.startsWith(surface, at)) {
      spans.add(at, at + surface.length);
      at += surface.length;
    } else {
      const next = surfaces.slice(n + 1).find((other) => other !== undefined && other !== '' && text.indexOf(other, at + 1) > 0);
      const end = next === undefined ? text.length : text.indexOf(next, at + 1);
      spans.add(at, end);
      at = end;
    }
  }
  return spans;
}

/** Where the pieces of a byte-level tokenizer came from: each of their characters is a byte, the first one a space before the word. */
export function alignBytes(
  word: string,
  tokens: readonly string[],
  apply: (text: string) => string,
): Pick<Pieces, 'starts' | 'ends'> {
  const normalized = normalize(word, apply);
  const units: number[] = [0];
  for (let at = 0; at < normalized.text.length; ) {
    const char = String.fromCodePoint(normalized.text.codePointAt(at) ?? 0);
    for (let byte = Buffer.byteLength(char); byte > 0; byte--) units.push(at);
    at += char.length;
  }
  const unitAt = (byte: number) => units[byte] ?? normalized.text.length;
  const spans = createSpans(word, normalized);
  let byte = 0;
  for (const token of tokens) {
    const end = byte + token.length;
    spans.add(unitAt(byte), Math.max(unitAt(end - 1) + 1, unitAt(byte)));
    byte = end;
  }
  return spans;
}

function surfaceOf(token: string): string | undefined {
  if (BYTE.test(token)) return undefined;
  return token
    .replace(/^##/, '')
    .replace(/<\/w>$/, '')
    .replace(SPACES, '');
}

/** Collects spans of the original word from spans of the normalised one. */
function createSpans(word: string, { starts: from, ends: to, text }: Normalized) {
  const starts: number[] = [];
  const ends: number[] = [];
  return {
    starts,
    ends,
    add(begin: number, end: number) {
      const start = Math.max(starts.at(-1) ?? 0, Math.min(from[begin] ?? word.length, word.length - 1));
      const last = to[Math.min(Math.max(end, begin + 1), text.length) - 1] ?? word.length;
      starts.push(start);
      ends.push(Math.max(ends.at(-1) ?? 0, last, start + 1));
    },
  };
}
