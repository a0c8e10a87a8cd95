import { ABBREVIATIONS, type AbbreviationKind, MONTHS_AND_DAYS, SENTENCE_STARTERS } from './abbreviations.js';

/** A terminator with what stands around it. */
interface Candidate {
  text: string;
  /** Start of the sentence so far. */
  start: number;
  /** The terminators are text.slice(index, behind). */
  index: number;
  behind: number;
  /** First character of what follows the white space. */
  next: number;
  end: number;
  /** A closing quote stands between. */
  quoted: boolean;
  lang: string | undefined;
}

const LOWER = /^\p{Ll}/u;
const DIGIT = /^\p{Nd}/u;
const WORD_BEFORE = /[\p{L}\p{M}\p{N}.'’-]+$/u;
const WORD_AFTER = /^[\p{L}\p{M}'’]+/u;
/** Words, initials and numbers before a full stop are no longer than this. */
const REACH = 24;

/** Whether a full stop, question mark or the like that white space follows ends its sentence. */
export function endsSentence(at: Candidate): boolean {
  const { text, index, behind, next, quoted } = at;
  const following = text.slice(next, next + REACH);
  const lower = LOWER.test(following);
  const mark = text.slice(index, behind);
  if (mark !== '.') {
    // An ellipsis is a pause before a small letter; '!' and '?' inside quotes are part of a longer sentence there.
    if (/^(?:\.{2,}|…+)$/.test(mark)) return !lower;
    return !(quoted && lower);
  }
  if (quoted && lower) return false;
  const word = WORD_BEFORE.exec(text.slice(Math.max(at.start, index - REACH), index))?.[0] ?? '';
  // bob@x.org, a/b.c and °C are no abbreviations, whatever their last part looks like.
  if (word === '' || /[@/\\°]/.test(text.charAt(index - word.length - 1))) return true;
  if (/^\p{Nd}+$/u.test(word)) return endsAfterNumber(at, word, following);
  return endsAfterWord(at, word, following, lower);
}

function endsAfterNumber(at: Candidate, number: string, following: string): boolean {
  const { text, start, index } = at;
  if (isListNumber(text, start, index, number)) return false;
  if (number.length > 2) return true;
  // Art. 5, Nr. 3: counts nothing, so it is no ordinal.
  const before = /(\p{L}+)\.\s+$/u.exec(text.slice(Math.max(start, index - REACH), index - number.length))?.[1];
  if (before !== undefined && ABBREVIATIONS.get(before.toLowerCase()) === 'before-number') return true;
  // German ordinals: am 3. Oktober, im 19. Jahrhundert.
  const after = WORD_AFTER.exec(following)?.[0] ?? '';
  return !(MONTHS_AND_DAYS.has(after.toLowerCase()) || (at.lang === 'de' && !SENTENCE_STARTERS.has(after.toLowerCase())));
}

/** `1. First`: a number that opens the sentence numbers it. */
function isListNumber(text: string, start: number, index: number, number: string): boolean {
  return number.length <= 3 && index - number.length <= start && text.slice(start, index) === number;
}

function endsAfterWord(at: Candidate, word: string, following: string, lower: boolean): boolean {
  const bare = word.replace(/^['’-]+/, '');
  const after = WORD_AFTER.exec(following)?.[0] ?? '';
  const starts = SENTENCE_STARTERS.has(after.toLowerCase());
  // p. ex., EE. UU., z. B.: parts of one abbreviation.
  if (after !== '' && following.charAt(after.length) === '.' && ABBREVIATIONS.has(`${bare}.${after}`.toLowerCase())) return false;
  if (ROMAN.test(bare) && (lower || at.index - word.length <= at.start)) return false;
  const kind = kindOf(at, word, bare);
  if (/^\p{L}$/u.test(bare) && (kind === undefined || !LOWER.test(bare))) return endsAfterInitial(at, bare, following, lower);
  switch (kind) {
    case 'never':
      return false;
    case 'before-name':
      return starts && !lower;
    case 'before-number':
      // "No. 12", but "No. I won't."
      return !/^[([]?\p{Nd}/u.test(following) && !/^[IVXLC]{2,}\b/.test(following);
    case 'may-end':
      return endsAfterMayEnd(following, after, starts, lower);
    case undefined:
      return !isDotted(bare) || (starts && !lower);
  }
}

const ROMAN = /^[IVXLCM]{2,6}$/;

/** By the word, by it and the part of an abbreviation before it, or by an ending that is short for "street". */
function kindOf({ text, start, index }: Candidate, word: string, bare: string): AbbreviationKind | undefined {
  const behind = index - word.length;
  const before = /(?<!\p{L})(\p{L}{1,3})\.\s$/u.exec(text.slice(Math.max(start, behind - 6), behind))?.[1];
  const joined = before === undefined ? undefined : ABBREVIATIONS.get(`${before}.${bare}`.toLowerCase());
  return joined ?? ABBREVIATIONS.get(bare.toLowerCase()) ?? (/\p{Ll}str$/u.test(bare) ? 'before-number' : undefined);
}

/** J. R. Hale; but "Vitamin C. It helps", and "at 9 h. «Come»". */
function endsAfterInitial(at: Candidate, letter: string, following: string, lower: boolean): boolean {
  if (at.index - 1 <= at.start || lower || DIGIT.test(following)) return false;
  const after = WORD_AFTER.exec(following)?.[0] ?? '';
  if (letter === 'I' || SENTENCE_STARTERS.has(after.toLowerCase())) return true;
  return after === '' && LOWER.test(letter);
}

function endsAfterMayEnd(following: string, after: string, starts: boolean, lower: boolean): boolean {
  if (lower || DIGIT.test(following) || /^[([,;:&–-]/.test(following)) return false;
  return starts || after === '';
}

/** a.m, U.S, z.B: letters with full stops between. */
function isDotted(word: string): boolean {
  return /^(?:\p{L}{1,3}\.)+\p{L}{1,3}$/u.test(word);
}
