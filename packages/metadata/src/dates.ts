/** A stretch of time in Unix milliseconds: `start` belongs to it, `end` does not. An instant has `end === start`. */
export interface DateSpan {
  start: number;
  end: number;
}

const DATE = /^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?$/;
const INSTANT =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt]|[ \t]+)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?[ \t]*(?:([Zz])|([+-])(\d{1,2})(?::?(\d{2}))?)?$/;

/**
 * Reads a date as INTERFACES 4 has it: `YYYY`, `YYYY-MM`, `YYYY-MM-DD` are the span they name in UTC; an instant (ISO 8601 or YAML's
 * spelling of it) without a zone is UTC. Undefined for anything else, days that no calendar has, and years outside 1-9999.
 */
export function parseDate(text: string): DateSpan | undefined {
  const date = DATE.exec(text);
  if (date !== null) return parseSpan(date);
  const instant = INSTANT.exec(text);
  return instant === null ? undefined : parseInstant(instant);
}

/** ISO 8601 with milliseconds and Z: texts of this form sort like the instants they name. */
export function isoInstant(ms: number): string {
  return new Date(ms).toISOString();
}

function parseSpan(match: RegExpExecArray): DateSpan | undefined {
  const [, yearText, monthText, dayText] = match;
  const year = Number(yearText);
  if (monthText === undefined) return spanOf(utc(year, 1, 1), utc(year + 1, 1, 1));
  const month = Number(monthText);
  if (dayText === undefined) {
    return spanOf(utc(year, month, 1), month === 12 ? utc(year + 1, 1, 1) : utc(year, month + 1, 1));
  }
  const start = utc(year, month, Number(dayText));
  return spanOf(start, start === undefined ? undefined : start + 86_400_000);
}

function spanOf(start: number | undefined, end: number | undefined): DateSpan | undefined {
  return start === undefined || end === undefined ? undefined : { start, end };
}

function parseInstant(match: RegExpExecArray): DateSpan | undefined {
  const [, year, month, day, hour, minute, second = '0', fraction = '', , sign, zoneHours = '0', zoneMinutes = '0'] = match;
  const midnight = utc(Number(year), Number(month), Number(day));
  if (midnight === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  if (Number(zoneHours) > 23 || Number(zoneMinutes) > 59) return undefined;
  const zone = (sign === '-' ? -1 : 1) * (Number(zoneHours) * 60 + Number(zoneMinutes));
  const ms =
    midnight +
    (Number(hour) * 60 + Number(minute) - zone) * 60_000 +
    Number(second) * 1000 +
    Number(fraction.padEnd(3, '0').slice(0, 3));
  return ms < MIN || ms >= MAX ? undefined : { start: ms, end: ms };
}

/** Date.UTC takes years 0-99 for 1900-1999, and 31 February for 3 March. */
function utc(year: number, month: number, day: number): number | undefined {
  if (year < 1 || year > 10_000) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const same = date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return same ? date.getTime() : undefined;
}

const MIN = Date.parse('0001-01-01T00:00:00.000Z');
const MAX = Date.parse('9999-12-31T23:59:59.999Z') + 1;
