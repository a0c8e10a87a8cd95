import { edgeAfter, edgeBefore } from './graphemes.js';
import { isSpace, skipSpace } from './space.js';

/** Scripts that are written without spaces between words: there a dictionary says where words end. */
export const SPACELESS = /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]/;
/** Shorter words are never cut by the dictionary: a few units always fit. */
const SHORT = 8;
/** The dictionary is asked about this many units at a time. */
const STRETCH = 2_048;

let dictionary: Intl.Segmenter | undefined;

/**
 * The words of text.slice(start, end): what white space parts, and in scripts without spaces what the dictionary of the runtime says.
 * Together they cover all that is no white space; no grapheme is parted.
 */
export function* splitWords(text: string, start: number, end: number): Generator<{ start: number; end: number }> {
  let at = skipSpace(text, start, end);
  while (at < end) {
    const from = Math.max(start, edgeBefore(text, at));
    let to = at;
    do {
      while (to < end && !isSpace(text.charCodeAt(to))) to++;
      to = Math.min(end, Math.max(to, edgeAfter(text, to)));
    } while (to < end && !isSpace(text.charCodeAt(to)));
    if (to - from > SHORT && SPACELESS.test(text.slice(from, to))) yield* splitSpaceless(text, from, to);
    else yield { start: from, end: to };
    at = skipSpace(text, to, end);
  }
}

function* splitSpaceless(text: string, start: number, end: number): Generator<{ start: number; end: number }> {
  dictionary ??= new Intl.Segmenter('und', { granularity: 'word' });
  let from = start;
  while (from < end) {
    const to = end - from <= STRETCH ? end : Math.min(end, edgeAfter(text, from + STRETCH));
    let word = from;
    for (const { index, segment, isWordLike } of dictionary.segment(text.slice(from, to))) {
      const segmentEnd = from + index + segment.length;
      // Punctuation stays with the word before it.
      const next = text.charAt(segmentEnd);
      if (segmentEnd < to && isWordLike !== false && /[\p{P}\p{S}]/u.test(next) && !OPENING.test(next)) continue;
      if (OPENING.test(segment) && segmentEnd < to) continue;
      if (edgeAfter(text, segmentEnd) !== segmentEnd) continue;
      yield { start: word, end: segmentEnd };
      word = segmentEnd;
    }
    if (word < to) yield { start: word, end: to };
    from = to;
  }
}

const OPENING = /^[「『（《〈【〔“‘([{]+$/;
