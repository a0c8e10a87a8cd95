import { wellFormed } from './exact-text.js';
import { stemEnglish } from './stem.js';

/**
 * Words of a text as keyword search knows them; the same for documents and queries, but for compound words (see below).
 *
 * NFKC with lower case folds ligatures, full-width and compatibility forms; soft hyphens and zero-width signs are removed. A word is a
 * run of letters, marks and digits; of an English word its stem stands for it, so that `connection` finds "connected". `C++` and `C#`
 * are words of their own. Scripts written without spaces (Han, kana, Thai, Lao, Khmer,
 * Burmese) and Hangul yield the pairs of adjacent signs, and in documents each Han, kana or Hangul sign too, for queries of one sign.
 *
 * A word with accents or vowel marks yields itself and its plain form, on both sides: `resume` finds `résumé`, after texts that have
 * the word as it was asked for.
 *
 * A compound is words joined by `-_./@:+'&#` without space, as `QX-7731`, `node.js` or `a@b.org`; every kind of dash is `-`. A document
 * yields it whole, the parts between `/@:+&#`, and its words, of `camelCase` words their parts too; a query yields it whole only when it
 * is an identifier (it holds a digit or one of `_@:/.#`), so that `QX-7731` finds no text that lacks it, and with its words otherwise, so
 * that `state-of-the-art` finds "state of the art".
 */
export function analyseText(text: string, side: 'document' | 'query'): string[] {
  const terms: string[] = [];
  const folded = foldSigns(text);
  for (const match of folded.matchAll(COMPOUND)) addCompound(match[0], side, terms);
  return terms;
}

/** Folds what differs in form alone; case stays, since it shows the parts of a camelCase word. */
function foldSigns(text: string): string {
  return wellFormed(text)
    .replace(/[\u00ad\u0640\u200b-\u200d\u2060\ufeff\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
    .normalize('NFKC')
    .replace(/[\u058a\u2010-\u2015\u2043\u2212]/g, '-')
    .replace(/[\u2018\u2019\u02bc]/g, "'");
}

function foldCase(text: string): string {
  return text.toLowerCase().replaceAll('ß', 'ss').normalize('NFKC');
}

/** Letters that Unicode does not take apart into a plain letter and a mark. */
const PLAIN: Record<string, string> = { æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ı: 'i' };
const PLAINABLE = /[æœøłđðþı]/g;
const MARKED = /([\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Hebrew}\p{Script=Arabic}])\p{Mn}+/gu;

/** A word without accents and vowel marks. Other scripts keep theirs: there a mark makes another letter. */
function plainForm(word: string): string {
  if (/^[\u0000-\u007f]*$/.test(word)) return word;
  const bare = word.normalize('NFD').replace(MARKED, '$1').normalize('NFC');
  return bare.replace(PLAINABLE, (letter) => PLAIN[letter] ?? letter);
}

const SIGN_WORD = '\\p{L}(?:\\+\\+|#)';
const WORD = `(?:${SIGN_WORD}|[\\p{L}\\p{M}\\p{N}]+)`;
const COMPOUND = new RegExp(`${WORD}(?:(?:[-_./@:+'&#]+|(?<=[+#]))${WORD})*`, 'gu');
const WORDS = new RegExp(WORD, 'gu');
const OUTER_JOINTS = /[/@:+&#]+/u;
const INNER_JOINTS = /[-_.']/u;
const IDENTIFIER = /[\p{N}_@:/.#]/u;
/** Where a part of a camelCase word begins: `get|Invoice`, `XML|Http`. */
const HUMP = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]+/gu;
const IS_UNSPACED = new RegExp(UNSPACED.source, 'u');
/** Scripts in which one sign may be a whole word. */
const ONE_SIGN_WORDS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
/** A term may not be longer: the index takes keys of a bounded size, and nobody types one. */
const MAX_TERM = 256;

function addCompound(found: string, side: 'document' | 'query', terms: string[]): void {
  // A possessive is its noun.
  const cased = found.length > 2 && /'s$/i.test(found) ? found.slice(0, -2) : found;
  const words = cased.match(WORDS) ?? [];
  if (words.length === 1) {
    addWord(cased, side, terms);
    return;
  }
  const compound = foldCase(cased);
  addTerm(compound, terms);
  if (side === 'document') {
    const parts = compound.split(OUTER_JOINTS);
    if (parts.length > 1) for (const part of parts) if (part.search(INNER_JOINTS) >= 0) addTerm(part, terms);
  }
  if (side === 'document' || !IDENTIFIER.test(compound)) for (const word of words) addWord(word, side, terms);
}

/** A term as it stands, and its plain form. */
function addTerm(term: string, terms: string[]): void {
  terms.push(term.slice(0, MAX_TERM));
  const plain = plainForm(term);
  if (plain !== term) terms.push(plain.slice(0, MAX_TERM));
}

/** The same of a word, by its stem. */
function addStem(word: string, terms: string[]): void {
  terms.push(stemOf(word).slice(0, MAX_TERM));
  const plain = plainForm(word);
  if (plain !== word) terms.push(stemOf(plain).slice(0, MAX_TERM));
}

function addWord(cased: string, side: 'document' | 'query', terms: string[]): void {
  const word = foldCase(cased);
  if (!IS_UNSPACED.test(word)) {
    addStem(word, terms);
    // Long runs are no words that anybody writes in humps.
    const humps = side === 'document' && cased.length <= MAX_TERM ? cased.split(HUMP) : [];
    if (humps.length > 1) for (const hump of humps) if (hump.length > 1) addStem(foldCase(hump), terms);
    return;
  }
  let from = 0;
  for (const run of word.matchAll(UNSPACED)) {
    if (run.index > from) addTerm(word.slice(from, run.index), terms);
    addPairs([...run[0]], side, terms);
    from = run.index + run[0].length;
  }
  if (from < word.length) addTerm(word.slice(from), terms);
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
