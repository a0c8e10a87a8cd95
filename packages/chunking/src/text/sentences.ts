import { isGraphemeEdge, trimmed } from './graphemes.js';
import { endsSentence } from './sentence-ends.js';
import { isSpace, skipSpace, skipSpaceBack } from './space.js';

/** Splits text into sentences. Every character that is no white space lies in exactly one of them. */
export interface SentenceSplitter {
  /**
   * Sentences of text.slice(start, end), trimmed, as offsets in `text`, in order.
   *
   * @param lang ISO 639-1 code, where it is known: decides on ordinals and abbreviations
   */
  split(text: string, start: number, end: number, lang?: string): Iterable<Span>;
}

export interface Span {
  start: number;
  end: number;
}

/** What may end a sentence. The full stop of Latin text is looked at closely, the others hardly. */
const TERMINATORS = /[.!?…‽。！？｡．।॥؟۔።։၊။។៕༎།]+/g;
const CLOSING = /["'”’»)\]}」』）】》〉›*_`]/;
const CLOSING_QUOTE = /["'”’»」』›]/;
const OPENING = /["'“‘«„‚「『（【《〈([‹]/;
/** These end a sentence without a space after them. */
const UNSPACED = /[。！？｡．।॥؟۔።။។༎།]/;
const MARKER = /^(?:[-*•‣▪–+]|\d{1,3}[.)]|[a-zA-Z][.)]|\(\d{1,3}\))[ \t]/;
const THAI = /[\u0e01-\u0e5b]/;

/** A line this short that ends without punctuation is a line of its own (a field, an address), not a wrapped one. */
const SHORT_LINE = 30;

/**
 * The default splitter: rules for terminators, abbreviations, initials, ordinals, quotes and lists in English, German, French, Spanish,
 * Chinese, Japanese, Korean, Hindi, Arabic and Thai (where a space between phrases ends them). The rules are its own: what
 * Intl.Segmenter says changes with the runtime, and the same text must give the same chunks.
 */
export function createSentenceSplitter(): SentenceSplitter {
  return { split };
}

function* split(text: string, start: number, end: number, lang?: string): Generator<Span> {
  let from = start;
  for (const cut of cuts(text, start, end, lang)) {
    if (!isGraphemeEdge(text, cut)) continue;
    const span = trimmed(text, from, cut);
    if (span !== undefined) yield span;
    from = cut;
  }
  const last = trimmed(text, from, end);
  if (last !== undefined) yield last;
}

/** Cuts by terminators, line breaks and Thai spaces, merged in ascending order. */
function* cuts(text: string, start: number, end: number, lang: string | undefined): Generator<number> {
  const spaces = new RegExp(/\n|(?<=[\u0e01-\u0e5b]) +(?=[\u0e01-\u0e5b])/g);
  spaces.lastIndex = start;
  let breakAt = nextBreak(text, spaces, start, start, end);
  let sentence = start;
  const terminators = new RegExp(TERMINATORS);
  terminators.lastIndex = start;
  for (let match = terminators.exec(text); match !== null && match.index < end; match = terminators.exec(text)) {
    while (breakAt !== undefined && breakAt <= match.index) {
      yield breakAt;
      sentence = breakAt;
      breakAt = nextBreak(text, spaces, sentence, breakAt, end);
    }
    const cut = cutAfter(text, match.index, match.index + match[0].length, sentence, end, lang);
    if (cut === undefined) continue;
    yield cut;
    sentence = cut;
    terminators.lastIndex = Math.max(terminators.lastIndex, cut);
  }
  while (breakAt !== undefined) {
    yield breakAt;
    breakAt = nextBreak(text, spaces, breakAt, breakAt, end);
  }
}

/** Where the terminator at index..behind ends the sentence, its closing quotes and brackets included; undefined where it doesn't. */
function cutAfter(text: string, index: number, behind: number, sentence: number, end: number, lang: string | undefined) {
  let cut = behind;
  let quoted = false;
  while (cut < end && CLOSING.test(text.charAt(cut))) {
    quoted ||= CLOSING_QUOTE.test(text.charAt(cut));
    cut++;
  }
  if (cut >= end) return end;
  const unit = text.charCodeAt(cut);
  const spaced = isSpace(unit);
  if (UNSPACED.test(text.charAt(behind - 1))) {
    // 「はい。」と答えた: what follows a closing quote at once belongs to it.
    return quoted && !spaced && !OPENING.test(text.charAt(cut)) ? undefined : cut;
  }
  if (!spaced) return /[!?…]/.test(text.charAt(behind - 1)) && isWide(unit) ? cut : undefined;
  const next = skipSpace(text, cut, end);
  if (next >= end || isBlankLine(text, cut, next)) return cut;
  return endsSentence({ text, start: skipSpace(text, sentence, end), index, behind, next, end, quoted, lang }) ? cut : undefined;
}

function isWide(unit: number): boolean {
  return unit >= 0x2e80 && unit <= 0xffef;
}

function isBlankLine(text: string, start: number, end: number): boolean {
  const newline = text.indexOf('\n', start);
  if (newline < 0 || newline >= end) return false;
  const second = text.indexOf('\n', newline + 1);
  return second >= 0 && second < end;
}

/** The next line break or Thai space at or behind `from` that parts sentences by itself. */
function nextBreak(text: string, spaces: RegExp, sentence: number, from: number, end: number): number | undefined {
  spaces.lastIndex = Math.max(spaces.lastIndex, from);
  for (let match = spaces.exec(text); match !== null && match.index < end; match = spaces.exec(text)) {
    const at = match.index;
    const behind = at + match[0].length;
    if (match[0] === '\n' ? breaksLine(text, sentence, at, end) : breaksThai(text, sentence, at, behind)) return behind;
  }
  return undefined;
}

function breaksLine(text: string, sentence: number, at: number, end: number): boolean {
  const next = skipSpace(text, at, end);
  if (next >= end) return false;
  if (isBlankLine(text, at, next)) return true;
  if (MARKER.test(text.slice(next, next + 6))) return true;
  const line = Math.max(sentence, text.lastIndexOf('\n', at - 1) + 1);
  const length = at - line;
  const last = text.charAt(skipSpaceBack(text, line, at) - 1);
  return length > 0 && length < SHORT_LINE && !/[,;\-–、，]/.test(last) && !/\p{Ll}/u.test(text.charAt(next));
}

/** Thai has no full stop: a space parts phrases. Short ones (names, numbers, repetition) are left together. */
function breaksThai(text: string, sentence: number, at: number, behind: number): boolean {
  return at - sentence >= 8 && text.charAt(behind) !== 'ๆ' && THAI.test(text.charAt(behind));
}
