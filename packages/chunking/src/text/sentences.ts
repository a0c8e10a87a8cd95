import { MONTHS_AND_DAYS } from './abbreviations.js';
import { isGraphemeEdge, trimmed } from './graphemes.js';
import { endsSentence } from './sentence-ends.js';
import { findNewline, isSpace, lineStart, skipSpace, skipSpaceBack } from './space.js';

/** Splits text into sentences. Every character that is no white space lies in exactly one of them. */
export interface SentenceSplitter {
  /**
   * Sentences of text.slice(start, end), trimmed, as offsets in `text`, in order.
   *
   * @param lang ISO 639-1 code, where it is known: decides on ordinals and abbreviations
   */
  split(text: string, start: number, end: number, lang?: string): Iterable<Span>;
}

interface Span {
  start: number;
  end: number;
}

/** What may end a sentence. The full stop of Latin text is looked at closely, the others hardly. */
const TERMINATORS = /[.!?…‽。！？｡．।॥؟۔።։၊။។៕༎།]+/g;
const CLOSING = /["'”’»)\]}」』）】》〉›*_`]/;
const CLOSING_LATIN = /["'”’“‘»«)\]}›‹*_`]/;
const CLOSING_QUOTE = /["'”’“‘»«」』›‹]/;
const OPENING = /["'“‘«„‚「『（【《〈([‹]/;
/** The mark of a footnote: `.[12]`. */
const NOTE = /^\[\p{Nd}{1,4}\]/u;
/** These end a sentence without a space after them. */
const UNSPACED = /[。！？｡．।॥؟۔።။។༎།]/;
const MARKER = /^(?:[-*•‣▪–+]|\d{1,3}[.)]|[a-zA-Z][.)]|\(\d{1,3}\))[ \t]/;
/** A line break, a space between Thai letters, or one before a bullet or a number in running text. */
const ITEM = /^\(?(\d{1,2})(\.\)|[.)]) (?=([\p{L}\p{N}"“«(]))/u;
const BREAKS = /\n| +(?=[\u0e01-\u0e5b•▪‣◦●]|\(?\d{1,2}(?:\.\)|[.)]) )/g;
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

/** A formula on lines of its own, in the marks of TeX; marks that are not closed within some lines are none. */
const DISPLAY =
  /^[ \t]*(?:\$\$[^$]{1,4000}\$\$|\\\[[\s\S]{1,4000}?\\\]|\\begin\{(equation|align|gather|multline)\*?\}[\s\S]{1,4000}?\\end\{\1\*?\})[ \t]*[.,;]?[ \t]*$/gm;

function* split(text: string, start: number, end: number, lang?: string): Generator<Span> {
  let from = start;
  for (const match of text.slice(start, end).matchAll(DISPLAY)) {
    const formula = { start: start + match.index, end: start + match.index + match[0].length };
    yield* splitProse(text, from, formula.start, lang);
    const span = trimmed(text, formula.start, formula.end);
    if (span !== undefined) yield span;
    from = formula.end;
  }
  yield* splitProse(text, from, end, lang);
}

function* splitProse(text: string, start: number, end: number, lang?: string): Generator<Span> {
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

/** Cuts by terminators, line breaks and Thai spaces, in ascending order. */
function* cuts(text: string, start: number, end: number, lang: string | undefined): Generator<number> {
  // Patterns are run over the stretch alone: what they look for may be far behind it.
  const part = text.slice(start, end);
  let sentence = start;
  const breaks = part.matchAll(BREAKS);
  let breakAt = nextBreak(text, breaks, start, sentence, end);
  for (const match of part.matchAll(TERMINATORS)) {
    const index = start + match.index;
    if (index < sentence) continue;
    while (breakAt !== undefined && breakAt <= index) {
      yield breakAt;
      sentence = breakAt;
      breakAt = nextBreak(text, breaks, start, sentence, end);
    }
    const cut = cutAfter(text, index, index + match[0].length, sentence, end, lang);
    if (cut === undefined) continue;
    yield cut;
    sentence = cut;
  }
  while (breakAt !== undefined) {
    yield breakAt;
    breakAt = nextBreak(text, breaks, start, breakAt, end);
  }
}

/** Closing quotes and brackets at `from`: where they end, and whether a quote is among them. */
function skipClosing(text: string, from: number, end: number, unspaced: boolean): { cut: number; quoted: boolean } {
  // Directly behind a full stop, German closing quotes are none that open; behind that of Chinese, the next sentence's may stand.
  const closing = unspaced ? CLOSING : CLOSING_LATIN;
  let cut = from;
  let quoted = false;
  for (;;) {
    // French puts a space before the quote.
    const at = /^[ \u00a0\u202f]»/.test(text.slice(cut, cut + 2)) ? cut + 1 : cut;
    const mark = text.charAt(at);
    const note = mark === '[' ? NOTE.exec(text.slice(at, at + 8))?.[0] : undefined;
    if (note !== undefined && at + note.length <= end) {
      cut = at + note.length;
      continue;
    }
    if (at >= end || !closing.test(mark)) return { cut, quoted };
    quoted ||= CLOSING_QUOTE.test(mark) || (unspaced && /[》〉）】]/.test(mark));
    cut = at + 1;
  }
}

/** Where the terminator at index..behind ends the sentence, its closing quotes and brackets included; undefined where it doesn't. */
function cutAfter(text: string, index: number, behind: number, sentence: number, end: number, lang: string | undefined) {
  const unspaced = UNSPACED.test(text.charAt(behind - 1));
  const { cut, quoted } = skipClosing(text, behind, end, unspaced);
  if (cut >= end) return end;
  const unit = text.charCodeAt(cut);
  const spaced = isSpace(unit);
  if (unspaced) {
    if (/[．｡]/.test(text.charAt(index)) && isDigit(text.charAt(index - 1)) && isDigit(text.charAt(cut))) return undefined;
    // 「はい。」と答えた: what follows a closing quote at once belongs to it.
    return quoted && !spaced && !OPENING.test(text.charAt(cut)) && !endsSpeech(text, sentence, cut) ? undefined : cut;
  }
  if (!spaced) return !quoted && /[!?…]/.test(text.charAt(behind - 1)) && isWide(unit) ? cut : undefined;
  const next = skipSpace(text, cut, end);
  if (next >= end || isBlankLine(text, cut, next)) return cut;
  return endsSentence({ text, start: skipSpace(text, sentence, end), index, behind, next, end, quoted, lang }) ? cut : undefined;
}

const isDigit = (char: string): boolean => /[0-9０-９]/.test(char);

/** What goes on with a sentence behind speech. */
const GOES_ON = /^(?:然后|於是|于是|就|便|并|又|地|的|说|說|道|と|って)/;

/** 他说：“好的。”: speech behind a colon ends the sentence with its own, unless what follows goes on with it. */
function endsSpeech(text: string, sentence: number, cut: number): boolean {
  // （注意。）: a sentence of its own in brackets.
  if (/[）】]/.test(text.charAt(cut - 1)) && /^\s*[（【]/.test(text.slice(sentence, sentence + 4))) return true;
  const open = /[：:]\s?[“「『][^“「『]*$/.test(text.slice(Math.max(sentence, cut - SPEECH), cut));
  return open && !GOES_ON.test(text.slice(cut, cut + 3));
}

/** Longest speech whose beginning is looked for (UTF-16 units). */
const SPEECH = 300;

function isWide(unit: number): boolean {
  return unit >= 0x2e80 && unit <= 0xffef;
}

function isBlankLine(text: string, start: number, end: number): boolean {
  const newline = findNewline(text, start, end);
  return newline >= 0 && findNewline(text, newline + 1, end) >= 0;
}

/** The next line break or Thai space that parts sentences by itself: where the text behind it begins. */
function nextBreak(
  text: string,
  breaks: Iterator<RegExpExecArray>,
  start: number,
  sentence: number,
  end: number,
): number | undefined {
  for (let next = breaks.next(); next.done !== true; next = breaks.next()) {
    const at = start + next.value.index;
    const behind = at + next.value[0].length;
    const isThai = THAI.test(text.charAt(behind));
    const breaksHere =
      next.value[0] === '\n'
        ? breaksLine(text, sentence, at, end)
        : isThai
          ? breaksThai(text, sentence, at, behind)
          : breaksItem(text, sentence, behind, end);
    if (breaksHere) return behind;
  }
  return undefined;
}

function breaksLine(text: string, sentence: number, at: number, end: number): boolean {
  const next = skipSpace(text, at, end);
  if (next >= end) return false;
  if (isBlankLine(text, at, next)) return true;
  if (MARKER.test(text.slice(next, next + 6))) return true;
  const line = lineStart(text, at, Math.min(sentence, at));
  const length = at - line;
  const last = text.charAt(skipSpaceBack(text, line, at) - 1);
  return length > 0 && length < SHORT_LINE && !/[,;\-–、，]/.test(last) && !/\p{Ll}/u.test(text.charAt(next));
}

/** `1) Open the lid 2) Pour`: an item that is the next one after that which the sentence begins with. */
function breaksItem(text: string, sentence: number, behind: number, end: number): boolean {
  const next = ITEM.exec(text.slice(behind, Math.min(end, behind + 8)));
  if (next === null) return /[•▪‣◦●]/.test(text.charAt(behind));
  const own = ITEM.exec(text.slice(skipSpace(text, sentence, end), behind).slice(0, 8));
  if (own === null || own[2] !== next[2] || Number(next[1]) !== Number(own[1]) + 1) return false;
  // A bare full stop may be that of a number, as in dates.
  return (
    next[2] !== '.' ||
    (/\p{Lu}/u.test(next[3] ?? '') &&
      !MONTHS_AND_DAYS.has(WORD.exec(text.slice(behind + next[0].length, end))?.[0].toLowerCase() ?? ''))
  );
}

const WORD = /^\p{L}{1,20}/u;

/** Thai has no full stop: a space parts phrases. Short ones (names, numbers, repetition) are left together. */
function breaksThai(text: string, sentence: number, at: number, behind: number): boolean {
  return at - sentence >= 8 && text.charAt(behind) !== 'ๆ' && THAI.test(text.charAt(at - 1));
}
