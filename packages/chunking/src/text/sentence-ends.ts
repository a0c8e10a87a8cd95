import { type AbbreviationKind, AFTER_TIMES, abbreviationOf, MONTHS_AND_DAYS, SENTENCE_STARTERS } from './abbreviations.js';

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
  // «Come!» — said he.
  const lower = LOWER.test(following) || /^[—–-]\s+\p{Ll}/u.test(following);
  const mark = text.slice(index, behind);
  if (mark !== '.') {
    // An ellipsis is a pause before a small letter; '!' and '?' inside quotes are part of a longer sentence there.
    if (/^(?:\.{2,}|…+)$/.test(mark)) return !lower;
    return !(lower && (quoted || isName(at, following)));
  }
  if (lower && (quoted || goesOn(at, following))) return false;
  const word = WORD_BEFORE.exec(text.slice(Math.max(at.start, index - REACH), index))?.[0] ?? '';
  // bob@x.org, a/b.c, Ctrl+C and °C are no abbreviations, whatever their last part looks like.
  if (word === '' || /[@/\\°+#=]/.test(text.charAt(index - word.length - 1))) return true;
  if (/^\p{Nd}+$/u.test(word)) return endsAfterNumber(at, word, following);
  return endsAfterWord(at, word, following, lower);
}

/** Yahoo! is a name. */
function isName({ text, start, index }: Candidate, following: string): boolean {
  return (
    /^(?:is|was|has|had|and|or|ist|war|und|et|y|e)\s/.test(following) &&
    /(?<![\p{L}\p{N}])\p{Lu}[\p{L}\p{N}]*$/u.test(text.slice(Math.max(start, index - REACH), index))
  );
}

/** A small letter goes on with a sentence, but not in texts without capitals, and not in names such as iPhone. */
function goesOn(at: Candidate, following: string): boolean {
  return (
    !/^\p{Ll}+\p{Lu}/u.test(following) && !/^\P{L}*\p{Ll}/u.test(at.text.slice(at.start, Math.min(at.index, at.start + REACH)))
  );
}

function endsAfterNumber(at: Candidate, number: string, following: string): boolean {
  const { text, start, index } = at;
  if (isListNumber(text, start, index, number)) return false;
  if (number.length > 2) return true;
  // Art. 5, Nr. 3: counts nothing, so it is no ordinal.
  const before = /(\p{L}+)\.\s+$/u.exec(text.slice(Math.max(start, index - REACH), index - number.length))?.[1];
  if (before !== undefined && abbreviationOf(before.toLowerCase(), at.lang) === 'before-number') return true;
  // German ordinals: am 3. Oktober, im 19. Jahrhundert.
  const after = WORD_AFTER.exec(following)?.[0] ?? '';
  return !(MONTHS_AND_DAYS.has(after.toLowerCase()) || (at.lang === 'de' && !SENTENCE_STARTERS.has(after.toLowerCase())));
}

/** `1. First`: a number that opens the sentence numbers it. */
function isListNumber(text: string, start: number, index: number, number: string): boolean {
  return number.length <= 3 && index - number.length <= start && text.slice(start, index) === number;
}

function endsAfterWord(at: Candidate, word: string, following: string, lower: boolean): boolean {
  // L’art. 5: the article is none of the abbreviation.
  const bare = word.replace(/^(?:\p{L}{1,4}['’]|['’-]+)/u, '');
  const after = WORD_AFTER.exec(following)?.[0] ?? '';
  const starts = SENTENCE_STARTERS.has(after.toLowerCase());
  // p. ex., EE. UU., z. B.: parts of one abbreviation.
  if (
    after !== '' &&
    following.charAt(after.length) === '.' &&
    abbreviationOf(`${bare}.${after}`.toLowerCase(), at.lang) !== undefined
  )
    return false;
  if (ROMAN.test(bare) && (lower || at.index - word.length <= at.start)) return false;
  // J.-P. Martin
  if (/^(?:\p{Lu}\.-?)+\p{Lu}$/u.test(bare) && bare.includes('-')) return starts;
  if (isUnit(at, word)) return !DIGIT.test(following);
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
    case 'list-end':
      // 9 a.m. Monday; at 5 p.m. Mr. Lee left.
      return !(
        lower ||
        /^[\p{Nd}([,;:&–-]/u.test(following) ||
        AFTER_TIMES.has(after.toLowerCase()) ||
        isTitle(after, following, at.lang)
      );
    case 'may-end':
      return endsAfterMayEnd(following, after, starts, lower);
    case undefined:
      return !isDotted(bare) || (starts && !lower);
  }
}

/** `5 m.`, `1950 г.`: a small letter behind a number, before a capital. */
function isUnit({ text, start, index, next }: Candidate, word: string): boolean {
  if (!/^\p{Ll}$/u.test(word) || !/^[\p{Lu}"«“(]/u.test(text.charAt(next)) || /^\p{Lu}\p{L}*\./u.test(text.slice(next, next + 6)))
    return false;
  return /\p{Nd}\s?$/u.test(text.slice(Math.max(start, index - 4), index - 1));
}

const ROMAN = /^[IVXLCM]{2,6}$/;

/** By the word, by it and the part of an abbreviation before it, or by an ending that is short for "street". */
function kindOf({ text, start, index, lang }: Candidate, word: string, bare: string): AbbreviationKind | undefined {
  const behind = index - word.length;
  const before = /(?<!\p{L})(\p{L}{1,3})\.\s$/u.exec(text.slice(Math.max(start, behind - 6), behind))?.[1];
  const joined = before === undefined ? undefined : abbreviationOf(`${before}.${bare}`.toLowerCase(), lang);
  return (
    joined ??
    abbreviationOf((bare.split('.-').at(-1) ?? bare).toLowerCase(), lang) ??
    (/\p{Ll}str$/u.test(bare) ? 'before-number' : undefined)
  );
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

function isTitle(word: string, following: string, lang: string | undefined): boolean {
  return following.charAt(word.length) === '.' && abbreviationOf(word.toLowerCase(), lang) === 'never';
}

/** a.m, U.S, z.B: letters with full stops between. */
function isDotted(word: string): boolean {
  return /^(?:\p{L}{1,3}\.)+\p{L}{1,3}$/u.test(word);
}
