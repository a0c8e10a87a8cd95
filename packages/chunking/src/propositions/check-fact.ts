import { SENTENCE_STARTERS } from '../text/abbreviations.js';
import { SPACELESS } from '../text/words.js';

/** Why a fact is not believed, with the word that gave it away; undefined when the passage bears it out as far as words can tell. */
export type FactFault = {
  reason: 'number_not_in_passage' | 'date_not_in_passage' | 'name_not_in_passage' | 'words_not_in_passage';
  word: string;
};

/** A fact most of whose longer words the passage lacks is not a rewriting of it. */
const SHARED_WORDS = 0.5;

/**
 * Checks that the names, numbers and dates of a fact stand in its passage: what a language model makes up most often. Spelling
 * differences that mean the same (1,000 and 1000, five and 5, plurals, case) are let through.
 */
export function checkFact(fact: string, passage: string): FactFault | undefined {
  const said = wordsOf(passage);
  const numbers = numbersOf(passage);
  for (const number of numbersOf(fact)) {
    if (!numbers.has(number)) return { reason: 'number_not_in_passage', word: number };
  }
  const text = normalise(passage);
  for (const month of fact.match(MONTH) ?? []) {
    if (!said.has(stem(month)) && !namesMonth(text, month)) return { reason: 'date_not_in_passage', word: month };
  }
  for (const name of namesOf(fact)) {
    if (!said.has(stem(name)) && !text.includes(normalise(name))) return { reason: 'name_not_in_passage', word: name };
  }
  // What looks like a word in a script without spaces is a sentence.
  const content = [...wordsOf(fact)].filter((word) => word.length >= 4 && !SPACELESS.test(word));
  const shared = content.filter((word) => said.has(word) || (word.length >= 5 && text.includes(word.slice(0, 5))));
  if (content.length > 0 && shared.length < content.length * SHARED_WORDS) {
    return { reason: 'words_not_in_passage', word: content.find((word) => !said.has(word)) ?? '' };
  }
  return undefined;
}

const MONTH =
  /\b(?:january|february|march|april|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b/gi;
const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
];

/** 2024-03-05 or 5.3.2024 or "Mar 5" in the passage say March too. */
function namesMonth(passage: string, month: string): boolean {
  const number = MONTHS.indexOf(month.toLowerCase()) + 1;
  if (number === 0) return false;
  if (new RegExp(`\\b${month.slice(0, 3)}\\b`, 'i').test(passage)) return true;
  return new RegExp(`\\d{4}-0?${number}(?:-|\\b)|\\b\\d{1,2}[./]0?${number}[./]|\\b0?${number}/\\d{1,2}/`).test(passage);
}

const NUMBER_WORDS = new Map(
  ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve'].map(
    (word, value) => [word, String(value)],
  ),
);
const ORDINALS = new Map([
  ['first', '1'],
  ['second', '2'],
  ['third', '3'],
  ['fourth', '4'],
  ['fifth', '5'],
  ['once', '1'],
  ['twice', '2'],
]);

/** Numbers as digits without separators of thousands or zeros in front. */
function numbersOf(text: string): Set<string> {
  const plain = text.normalize('NFKC');
  const numbers = new Set<string>();
  for (const match of plain.match(/\p{Nd}+(?:[.,  ’']\p{Nd}{3}(?!\p{Nd}))*(?:[.,]\p{Nd}+)?/gu) ?? []) {
    for (const form of formsOf(match)) numbers.add(form);
  }
  for (const word of plain.toLowerCase().match(/\p{L}+/gu) ?? []) {
    const value = NUMBER_WORDS.get(word) ?? ORDINALS.get(word);
    // "one" is mostly no number.
    if (value !== undefined && value !== '1') numbers.add(value);
  }
  return numbers;
}

/** 1,000.50 and 1.000,50 alike: thousands dropped, the decimal sign a point. */
function formsOf(number: string): string[] {
  const joined = number.replace(/[  ’']/g, '');
  const decimal = /^(.*?)[.,](\d+)$/.exec(joined);
  if (decimal === null) return [trimZeros(joined)];
  const [, whole = '', fraction = ''] = decimal;
  const digits = whole.replace(/[.,]/g, '');
  return fraction.length === 3
    ? [trimZeros(`${digits}${fraction}`)]
    : [`${trimZeros(digits)}.${fraction.replace(/0+$/, '')}`.replace(/\.$/, '')];
}

function trimZeros(digits: string): string {
  return digits.replace(/^0+(?=\d)/, '');
}

/** Capitalised words, the first one too unless it commonly begins sentences; words with digits or capitals within, as v2 or iPhone. */
function namesOf(fact: string): string[] {
  const words = fact.match(/[\p{L}\p{M}\p{N}][\p{L}\p{M}\p{N}'’_-]*/gu) ?? [];
  return words.filter((word, index) => {
    if (/^\p{Nd}/u.test(word)) return false;
    const plain = word.toLowerCase();
    if (/\p{Ll}.*\p{Lu}|\p{L}\p{Nd}/u.test(word)) return true;
    if (!/^\p{Lu}/u.test(word)) return false;
    return index > 0 ? !COMMON.has(plain) : !SENTENCE_STARTERS.has(plain) && !COMMON.has(plain);
  });
}

const COMMON = new Set(
  'i according one two three four five six seven eight nine ten first second third people users monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december'.split(
    ' ',
  ),
);

function wordsOf(text: string): Set<string> {
  return new Set((text.match(/[\p{L}\p{M}\p{N}][\p{L}\p{M}\p{N}'’_-]*/gu) ?? []).map(stem));
}

function normalise(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

/** Without the endings by which one word of English is written several ways. Rough, and rough on both sides alike. */
function stem(word: string): string {
  const plain = normalise(word).replace(/['’]s$/, '');
  const bare = plain.replace(/(?:ies|ied)$/, 'y').replace(/(?:es|ed|ing|ly|s)$/, '');
  return bare.length >= 3 ? bare : plain;
}
