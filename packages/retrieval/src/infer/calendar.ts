/** Whole days of a calendar without zones, as Unix milliseconds of their midnight in UTC; `end` is not part of it. */
export interface Period {
  start: number;
  end: number;
}

export type Unit = 'day' | 'week' | 'month' | 'quarter' | 'year';

const DAY = 86_400_000;

export function periodOf(unit: Unit, day: number): Period {
  const date = new Date(day);
  const year = date.getUTCFullYear();
  const month = date.getUTCMonth();
  switch (unit) {
    case 'day':
      return { start: day, end: day + DAY };
    case 'week': {
      // Weeks begin on Monday (ISO 8601).
      const start = day - ((date.getUTCDay() + 6) % 7) * DAY;
      return { start, end: start + 7 * DAY };
    }
    case 'month':
      return { start: Date.UTC(year, month), end: Date.UTC(year, month + 1) };
    case 'quarter': {
      const first = month - (month % 3);
      return { start: Date.UTC(year, first), end: Date.UTC(year, first + 3) };
    }
    case 'year':
      return { start: Date.UTC(year, 0), end: Date.UTC(year + 1, 0) };
  }
}

/** The day that lies `count` units before; the last of its month where that is shorter. */
export function before(day: number, unit: Unit, count: number): number {
  if (unit === 'day' || unit === 'week') return day - count * (unit === 'day' ? 1 : 7) * DAY;
  const date = new Date(day);
  const months = count * (unit === 'month' ? 1 : unit === 'quarter' ? 3 : 12);
  const first = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - months);
  return Math.min(first + (date.getUTCDate() - 1) * DAY, periodOf('month', first).end - DAY);
}

/** The calendar day of an instant in a zone. Error RangeError for a zone that does not exist. */
export function dayIn(timezone: string, instant: number): number {
  return Math.floor((instant + offsetAt(timezone, instant)) / DAY) * DAY;
}

/** A day as filters take it: `YYYY-MM-DD` in UTC, else the instant at which it begins in the zone. */
export function asFilterDate(timezone: string, day: number): string {
  // The offset at the wall time in UTC is that at the day's beginning, but for a few hours around a change of the clocks.
  const instant = day - offsetAt(timezone, day - offsetAt(timezone, day));
  const text = new Date(instant).toISOString();
  return instant === day ? text.slice(0, 10) : text;
}

/** Milliseconds that wall clocks of the zone are ahead of UTC. */
function offsetAt(timezone: string, instant: number): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(instant);
  const part = (type: string) => Number(parts.find((one) => one.type === type)?.value);
  const wall = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  return wall - Math.floor(instant / 1000) * 1000;
}
