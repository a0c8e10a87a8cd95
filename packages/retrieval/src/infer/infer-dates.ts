import * as chrono from 'chrono-node';
import { asFilterDate, before, dayIn, type Period, periodOf, type Unit } from './calendar.js';
import { DAYS, LAST, MONTHS, SIDES, THIS, UNITS, WITHIN } from './date-words.js';

export interface DateRange {
  $gte?: string;
  $lt?: string;
}

interface Clue extends Period {
  index: number;
  length: number;
}

const UNIT_NAMES: Unit[] = ['day', 'week', 'month', 'quarter', 'year'];
const YEAR = '(?:19|20)\\d\\d';
const DAY = 86_400_000;

/**
 * The stretch of time that a question names, as a condition on `created_at`; undefined when it names none. Periods ("last month",
 * "Q3 2024", "in 2023") are whole ones of the calendar; "the last 3 months" end now. A month without a year is the latest that has begun.
 */
export function inferDates(question: string, { now, timezone }: { now: number; timezone: string }): DateRange | undefined {
  const text = plain(question);
  const today = dayIn(timezone, now);
  const clues = cluesIn(question, text, today);
  const [first, second] = clues;
  if (first === undefined) return undefined;
  const date = (day: number) => asFilterDate(timezone, day);
  const between = second === undefined ? '' : text.slice(first.index + first.length, second.index);
  if (second !== undefined && /^\s*(?:and|to|until|und|bis|et|a|au|y|hasta|-)\s*$/.test(between) && first.start < second.end) {
    return { $gte: date(first.start), $lt: date(second.end) };
  }
  const lead = text.slice(0, first.index);
  const says = (words: string) =>
    new RegExp(`(?:^|[^\\p{L}])(?:${words}) (?:the |dem |der |le |la |el |l'|de )?$`, 'u').test(lead);
  if (says(SIDES.since)) return { $gte: date(first.start) };
  if (says(SIDES.after)) return { $gte: date(first.end) };
  if (says(SIDES.before)) return { $lt: date(first.start) };
  if (says(SIDES.until)) return { $lt: date(first.end) };
  return { $gte: date(first.start), $lt: date(first.end) };
}

/** Lower case without accents, sign for sign, so that offsets hold. */
function plain(text: string): string {
  return [...text].map(plainSign).join('').replaceAll('’', "'");
}

function plainSign(sign: string): string {
  const [letter = sign] = sign.normalize('NFD').toLowerCase();
  return letter.length === sign.length ? letter : sign;
}

function cluesIn(question: string, text: string, today: number): Clue[] {
  const clues: Clue[] = [];
  const add: Add = (match, period) => {
    const index = match.index ?? 0;
    const taken = clues.some((clue) => index < clue.index + clue.length && clue.index < index + match[0].length);
    if (period !== undefined && !taken) clues.push({ ...period, index, length: match[0].length });
  };
  addRelative(text, today, add);
  addNamed(text, today, add);
  addDays(question, today, add);
  return clues.sort((a, b) => a.index - b.index);
}

type Add = (match: { 0: string; index?: number }, period: Period | undefined) => void;

const wordPattern = (pattern: string) => new RegExp(`(?<![\\p{L}\\p{N}])(?:${pattern})(?![\\p{L}\\p{N}])`, 'gu');

function addRelative(text: string, today: number, add: Add): void {
  for (const unit of UNIT_NAMES) {
    const name = `(?:${UNITS[unit]})`;
    for (const pattern of [
      `(?:${LAST}) (\\d{1,3}) ${name}`,
      `(\\d{1,3}) (?:${LAST}) ${name}`,
      `(\\d{1,3}) ${name} (?:${LAST})`,
    ]) {
      for (const match of text.matchAll(wordPattern(pattern))) {
        const count = Number(match[1]);
        add(match, count === 0 ? undefined : { start: before(today, unit, count), end: today + DAY });
      }
    }
    // A day is "yesterday"; "last day" is something else.
    if (unit === 'day') continue;
    for (const match of text.matchAll(wordPattern(`(?:${LAST}) ${name}|${name} (?:${LAST})`))) {
      add(match, periodOf(unit, before(periodOf(unit, today).start, unit, 1)));
    }
    for (const match of text.matchAll(wordPattern(`(?:${THIS}) ${name}`))) add(match, periodOf(unit, today));
  }
  for (const match of text.matchAll(wordPattern(Object.keys(DAYS).join('|')))) {
    add(match, periodOf('day', before(today, 'day', DAYS[match[0]] ?? 0)));
  }
}

/** Quarters, months and years by name. */
function addNamed(text: string, today: number, add: Add): void {
  const quarter = `(?:q|t)([1-4])(?:[ /-]?(${YEAR}))?|([1-4])\\. quartal(?: (${YEAR}))?|(${YEAR})[ /-]?(?:q|t)([1-4])`;
  for (const match of text.matchAll(wordPattern(quarter))) {
    const [, one, oneYear, two, twoYear, threeYear, three] = match;
    const month = (Number(one ?? two ?? three) - 1) * 3;
    const year = oneYear ?? twoYear ?? threeYear;
    // "T3" alone is a name of many things.
    if (year === undefined && match[0].startsWith('t')) continue;
    add(match, latest('quarter', month, year, today));
  }
  for (const [month, names] of MONTHS.entries()) {
    for (const match of text.matchAll(wordPattern(`(?:${names})\\.?(?: (?:de |of )?(${YEAR}))?`))) {
      // A day before it makes a date of it, which is read as a whole.
      if (/\d(?:st|nd|rd|th|\.|er)? (?:de |of )?$/.test(text.slice(0, match.index))) continue;
      if (/^ \d{1,2}(?:st|nd|rd|th)?(?:,|$| )/.test(text.slice((match.index ?? 0) + match[0].length))) continue;
      if (match[1] !== undefined || isLed(text, match.index)) add(match, latest('month', month, match[1], today));
    }
  }
  for (const match of text.matchAll(wordPattern(`${YEAR}(?![-/]\\d)`))) {
    if (isLed(text, match.index)) add(match, periodOf('year', Date.UTC(Number(match[0]), 0)));
  }
}

/** True where a word before it says that a time is meant. */
function isLed(text: string, index: number | undefined): boolean {
  const words = [...Object.values(SIDES), WITHIN, LAST, 'between|zwischen|entre|and|und|et|y|to|bis'].join('|');
  return new RegExp(`(?:^|[^\\p{L}])(?:${words}) $`, 'u').test(text.slice(0, index));
}

function latest(unit: 'month' | 'quarter', month: number, year: string | undefined, today: number): Period {
  const thisYear = new Date(today).getUTCFullYear();
  const period = (of: number) => periodOf(unit, Date.UTC(of, month));
  if (year !== undefined) return period(Number(year));
  return period(thisYear).start <= today ? period(thisYear) : period(thisYear - 1);
}

/** Days ("3 March 2024", "2 weeks ago"), by chrono's grammars. */
function addDays(text: string, today: number, add: Add): void {
  for (const language of [chrono.en, chrono.de, chrono.fr, chrono.es]) {
    // Noon, so that no zone moves the day.
    for (const found of language.parse(text, { instant: new Date(today + DAY / 2), timezone: 0 })) {
      if (!found.start.isCertain('day') || !/\p{L}{3}|\d{4}/u.test(found.text)) continue;
      const dayOf = (part: chrono.ParsedComponents) =>
        Date.UTC(part.get('year') ?? 1970, (part.get('month') ?? 1) - 1, part.get('day') ?? 1);
      const start = dayOf(found.start);
      const end = found.end === null || found.end === undefined ? start : dayOf(found.end);
      const match = { 0: found.text, index: found.index };
      add(match, { start, end: end + DAY });
    }
  }
}
