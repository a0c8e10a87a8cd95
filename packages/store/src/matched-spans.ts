import { analyseText } from './analyse-text.js';
import { topicTerms } from './function-words.js';

interface Span {
  start: number;
  end: number;
}

/** Signs of words as they stand in a text, those that the analysis passes over among them. */
const SIGNS = '[\\p{L}\\p{M}\\p{N}\\u00ad\\u0640\\u200b-\\u200d\\u2060]';
const PIECE = new RegExp(`${SIGNS}+(?:[-_./@:+'&#\\u2010-\\u2015\\u2019\\u2212]+${SIGNS}+)*(?:\\+\\+|#)?`, 'gu');
const WORD = new RegExp(`${SIGNS}+`, 'gu');
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]+/gu;

/** Where a text has the words that keyword search looks for, in order and apart; UTF-16 units. */
export function matchedSpans(query: string, text: string): Span[] {
  const wanted = new Set(topicTerms(analyseText(query, 'query')));
  const spans: Span[] = [];
  const add = (start: number, length: number) => {
    const last = spans.at(-1);
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, start + length);
    else spans.push({ start, end: start + length });
  };
  for (const { 0: piece, index } of text.matchAll(PIECE)) {
    // The first term is the piece as a whole, be it a word or a compound.
    const [whole] = analyseText(piece, 'document');
    if (whole !== undefined && wanted.has(whole) && piece.search(UNSPACED) < 0) {
      add(index, piece.length);
      continue;
    }
    for (const { 0: word, index: at } of piece.matchAll(WORD)) {
      if (word.search(UNSPACED) >= 0) markSigns(word, wanted, (start, length) => add(index + at + start, length));
      else if (analyseText(word, 'document').some((term) => wanted.has(term))) add(index + at, word.length);
    }
  }
  return spans;
}

/** In scripts without spaces the terms are pairs of signs, and signs alone. */
function markSigns(word: string, wanted: ReadonlySet<string>, add: (start: number, length: number) => void): void {
  for (const { 0: run, index } of word.matchAll(UNSPACED)) {
    const signs = [...run];
    let at = index;
    for (const [n, sign] of signs.entries()) {
      const pair = sign + (signs[n + 1] ?? '');
      const [term = ''] = analyseText(pair, 'query');
      if (wanted.has(term)) add(at, pair.length);
      else if (wanted.has(sign)) add(at, sign.length);
      at += sign.length;
    }
  }
}
