/**
 * The stem of an English word, by the Porter2 algorithm (M. F. Porter, "The English (Porter2) stemming algorithm", snowballstem.org):
 * `connected`, `connecting` and `connections` have the stem `connect`. Other words than those of a-z, and short ones, stay as they are.
 *
 * @param word in lower case, without apostrophes
 */
export function stemEnglish(word: string): string {
  if (word.length < 3 || word.length > MAX_LENGTH || !/^[a-z]+$/.test(word)) return word;
  const exception = EXCEPTIONS.get(word);
  if (exception !== undefined) return exception;
  // A y that is a consonant is written Y.
  const marked = word.replace(/^y/, 'Y').replace(/([aeiouy])y/g, '$1Y');
  const regions = regionsOf(marked);
  let stem = removePlural(marked);
  if (UNCHANGED.has(stem)) return stem;
  stem = removeInflection(stem, regions);
  stem = stem.replace(/(.[^aeiouy])[yY]$/, '$1i');
  stem = replaceSuffix(stem, regions);
  stem = shortenSuffix(stem, regions);
  stem = removeSuffix(stem, regions);
  return removeEnd(stem, regions).toLowerCase();
}

/** No English word is longer. */
const MAX_LENGTH = 40;

/** What is measured from: r1 begins after the first consonant that follows a vowel, r2 after the next such within r1. */
interface Regions {
  r1: number;
  r2: number;
}

const EXCEPTIONS = new Map([
  ['skis', 'ski'],
  ['skies', 'sky'],
  ['dying', 'die'],
  ['lying', 'lie'],
  ['tying', 'tie'],
  ['idly', 'idl'],
  ['gently', 'gentl'],
  ['ugly', 'ugli'],
  ['early', 'earli'],
  ['only', 'onli'],
  ['singly', 'singl'],
  ...['sky', 'news', 'howe', 'atlas', 'cosmos', 'bias', 'andes'].map((word): [string, string] => [word, word]),
]);

/** Words that look inflected, once their plural is gone. */
const UNCHANGED = new Set(['inning', 'outing', 'canning', 'herring', 'earring', 'proceed', 'exceed', 'succeed']);

function regionsOf(word: string): Regions {
  const prefix = /^(?:gener|commun|arsen|past|univers|later|emerg|organ|inter)/.exec(word)?.[0].length;
  const r1 = prefix ?? afterVowelAndConsonant(word, 0);
  return { r1, r2: afterVowelAndConsonant(word, r1) };
}

function afterVowelAndConsonant(word: string, from: number): number {
  const found = /[aeiouy][^aeiouy]/.exec(word.slice(from));
  return found === null ? word.length : from + found.index + 2;
}

function removePlural(word: string): string {
  if (word.endsWith('sses')) return word.slice(0, -2);
  if (/ie[sd]$/.test(word)) return word.length > 4 ? word.slice(0, -2) : word.slice(0, -1);
  if (/(?:us|ss)$/.test(word)) return word;
  return /[aeiouy].+s$/.test(word) ? word.slice(0, -1) : word;
}

function removeInflection(word: string, { r1 }: Regions): string {
  const ee = /(?:eed|eedly)$/.exec(word);
  if (ee !== null) return ee.index >= r1 ? `${word.slice(0, ee.index)}ee` : word;
  const ending = /(?:ed|edly|ing|ingly)$/.exec(word);
  if (ending === null) return word;
  const stem = word.slice(0, ending.index);
  if (!/[aeiouy]/.test(stem)) return word;
  if (/(?:at|bl|iz)$/.test(stem)) return `${stem}e`;
  // Not `add`, `egg`, `odd`.
  if (/(?:bb|dd|ff|gg|mm|nn|pp|rr|tt)$/.test(stem)) return /^[aeo]..$/.test(stem) ? stem : stem.slice(0, -1);
  return isShort(stem, r1) ? `${stem}e` : stem;
}

/** Ends in a short syllable, and has nothing in r1. */
function isShort(word: string, r1: number): boolean {
  return r1 >= word.length && endsInShortSyllable(word);
}

function endsInShortSyllable(word: string): boolean {
  return /[^aeiouy][aeiouy][^aeiouywxY]$/.test(word) || /^[aeiouy][^aeiouy]$/.test(word) || word.endsWith('past');
}

const REPLACED: readonly [string, string][] = [
  ['ization', 'ize'],
  ['ational', 'ate'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['iveness', 'ive'],
  ['tional', 'tion'],
  ['biliti', 'ble'],
  ['lessli', 'less'],
  ['ogist', 'og'],
  ['entli', 'ent'],
  ['ation', 'ate'],
  ['alism', 'al'],
  ['aliti', 'al'],
  ['ousli', 'ous'],
  ['iviti', 'ive'],
  ['fulli', 'ful'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['abli', 'able'],
  ['izer', 'ize'],
  ['ator', 'ate'],
  ['alli', 'al'],
  ['bli', 'ble'],
];

function replaceSuffix(word: string, { r1 }: Regions): string {
  const found = REPLACED.find(([suffix]) => word.endsWith(suffix));
  if (found !== undefined) {
    const [suffix, replacement] = found;
    const at = word.length - suffix.length;
    return at >= r1 ? word.slice(0, at) + replacement : word;
  }
  if (word.endsWith('ogi')) return word.length - 3 >= r1 && word.at(-4) === 'l' ? word.slice(0, -1) : word;
  const isAdverb = /[cdeghkmnrt]li$/.test(word) && word.length - 2 >= r1;
  return isAdverb ? word.slice(0, -2) : word;
}

const SHORTENED: readonly [string, string][] = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['alize', 'al'],
  ['icate', 'ic'],
  ['iciti', 'ic'],
  ['ative', ''],
  ['ical', 'ic'],
  ['ness', ''],
  ['ful', ''],
];

function shortenSuffix(word: string, { r1, r2 }: Regions): string {
  const found = SHORTENED.find(([suffix]) => word.endsWith(suffix));
  if (found === undefined) return word;
  const [suffix, replacement] = found;
  const at = word.length - suffix.length;
  return at >= (suffix === 'ative' ? r2 : r1) ? word.slice(0, at) + replacement : word;
}

const REMOVED = /(?:ement|ance|ence|able|ible|ment|ant|ent|ism|ate|iti|ous|ive|ize|ion|al|er|ic)$/;

function removeSuffix(word: string, { r2 }: Regions): string {
  const found = REMOVED.exec(word);
  if (found === null || found.index < r2) return word;
  if (found[0] === 'ion' && !/[st]$/.test(word.slice(0, found.index))) return word;
  return word.slice(0, found.index);
}

function removeEnd(word: string, { r1, r2 }: Regions): string {
  const last = word.length - 1;
  if (word.endsWith('e')) {
    const isRemoved = last >= r2 || (last >= r1 && !endsInShortSyllable(word.slice(0, -1)));
    return isRemoved ? word.slice(0, -1) : word;
  }
  return word.endsWith('ll') && last >= r2 ? word.slice(0, -1) : word;
}
