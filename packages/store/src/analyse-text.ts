import { wellFormed } from './exact-text.js';
import { stemEnglish } from './stem.js';

/**
 * Words of a text as keyword search knows them; the same for documents and queries, but for compound words (see below).
 *
 * NFKC with lower case folds ligatures, full-width and compatibility forms; soft hyphens and zero-width signs go. A word is a run of letters,
 * marks and digits; of an English word its stem stands for it, so that `connection` finds "connected". Scripts written without spaces (Han, kana, Thai, Lao, Khmer, Burmese) and Hangul yield the pairs of adjacent signs,
 * and in documents each Han, kana or Hangul sign too, for queries of one sign.
 *
 * A compound is words joined by `-_./@:+'&#` without space, as `QX-7731`, `node.js` or `a@b.org`. A document yields it whole, the parts
 * between `/@:+&#`, and its words; a query yields it whole only when it is an identifier (it holds a digit or one of `_@:/.#`), so that
 * `QX-7731` finds no text that lacks it, and with its words otherwise, so that `state-of-the-art` finds "state of the art".
 */
export function analyseText(text: string, side: 'document' | 'query'): string[] {
  const terms: string[] = [];
  const folded = fold(text);
  for (const match of folded.matchAll(COMPOUND)) addCompound(match[0], side, terms);
  return terms;
}

function fold(text: string): string {
  return wellFormed(text)
    .replace(/[\u00ad\u200b-\u200d\u2060\ufeff\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
    .normalize('NFKC')
    .replace(/[\u2010-\u2012\u2212]/g, '-')
    .replace(/[\u2018\u2019\u02bc]/g, "'")
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .normalize('NFKC');
}

const WORD = '[\\p{L}\\p{M}\\p{N}]+';
const COMPOUND = new RegExp(`${WORD}(?:[-_./@:+'&#]+${WORD})*`, 'gu');
const WORDS = new RegExp(WORD, 'gu');
const OUTER_JOINTS = /[/@:+&#]+/u;
const INNER_JOINTS = /[-_.']/u;
const IDENTIFIER = /[\p{N}_@:/.#]/u;
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]+/gu;
const IS_UNSPACED = new RegExp(UNSPACED.source, 'u');
/** Scripts in which one sign may be a whole word. */
const ONE_SIGN_WORDS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
/** A term may not be longer: the index takes keys of a bounded size, and nobody types one. */
const MAX_TERM = 256;

function addCompound(found: string, side: 'document' | 'query', terms: string[]): void {
  // A possessive is its noun.
  const compound = found.length > 2 && found.endsWith("'s") ? found.slice(0, -2) : found;
  const words = compound.match(WORDS) ?? [];
  if (words.length === 1) {
    addWord(compound, side, terms);
    return;
  }
  terms.push(compound.slice(0, MAX_TERM));
  if (side === 'document') {
    const parts = compound.split(OUTER_JOINTS);
    if (parts.length > 1) for (const part of parts) if (part.search(INNER_JOINTS) >= 0) terms.push(part.slice(0, MAX_TERM));
  }
  if (side === 'document' || !IDENTIFIER.test(compound)) for (const word of words) addWord(word, side, terms);
}

function addWord(word: string, side: 'document' | 'query', terms: string[]): void {
  if (!IS_UNSPACED.test(word)) {
    terms.push(stemOf(word).slice(0, MAX_TERM));
    return;
  }
  let from = 0;
  for (const run of word.matchAll(UNSPACED)) {
    if (run.index > from) terms.push(word.slice(from, run.index).slice(0, MAX_TERM));
    addPairs([...run[0]], side, terms);
    from = run.index + run[0].length;
  }
  if (from < word.length) terms.push(word.slice(from).slice(0, MAX_TERM));
}

/** Stems of the words met lately: most words of a text were in the one before, and a stem takes 3 microseconds. */
const stems = new Map<string, string>();
const MAX_STEMS = 20_000;

function stemOf(word: string): string {
  let stem = stems.get(word);
  if (stem === undefined) {
    stem = stemEnglish(word);
    if (stems.size >= MAX_STEMS) stems.clear();
    stems.set(word, stem);
  }
  return stem;
}

function addPairs(signs: readonly string[], side: 'document' | 'query', terms: string[]): void {
  if (signs.length === 1) {
    terms.push(signs[0] ?? '');
    return;
  }
  for (let i = 0; i + 1 < signs.length; i++) terms.push(`${signs[i]}${signs[i + 1]}`);
  if (side === 'document') for (const sign of signs) if (ONE_SIGN_WORDS.test(sign)) terms.push(sign);
}
