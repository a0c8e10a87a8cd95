import { type ShownFormat, showNumber, shownFormatOf } from './shown-number.js';

/** What a number format makes of a number, as far as its meaning goes. */
export type NumberMeaning =
  | { kind: 'shown'; format: ShownFormat }
  | { kind: 'date' | 'time' | 'datetime' | 'duration' }
  | { kind: 'percent'; decimals: number }
  | { kind: 'number' };

/** Built-in formats that are dates (ECMA-376 part 1, 18.8.30), with those of East Asian locales. */
function builtIn(id: number): NumberMeaning {
  if ((id >= 14 && id <= 17) || (id >= 27 && id <= 31) || id === 36 || (id >= 50 && id <= 54) || id === 57 || id === 58)
    return { kind: 'date' };
  if ((id >= 18 && id <= 21) || (id >= 32 && id <= 35) || id === 55 || id === 56) return { kind: 'time' };
  if (id === 22) return { kind: 'datetime' };
  if (id >= 45 && id <= 47) return { kind: 'duration' };
  if (id === 9) return { kind: 'percent', decimals: 0 };
  if (id === 10) return { kind: 'percent', decimals: 2 };
  return { kind: 'number' };
}

/** Meaning of a cell's number format: by its code where it has one of its own, else by its id. */
export function meaningOf(id: number, code: string | undefined): NumberMeaning {
  if (code === undefined) return builtIn(id);
  // The first section is for positive numbers; quoted, escaped and bracketed parts are no placeholders.
  const section = (code.split(';')[0] ?? '').toLowerCase();
  if (/\[(?:h+|m+|s+)\]/.test(section)) return { kind: 'duration' };
  const bare = section.replace(/"[^"]*"|\\.|_.|\*.|\[[^\]]*\]/g, '');
  const shown = shownFormatOf(code);
  const asShown: NumberMeaning = shown === undefined ? { kind: 'number' } : { kind: 'shown', format: shown };
  if (/general/.test(bare)) return asShown;
  const hasDate = /[ydge]/.test(bare) && !/e[+-]/.test(bare);
  const hasTime = /[hs]|am\/pm/.test(bare);
  if (hasDate) return { kind: hasTime ? 'datetime' : 'date' };
  if (hasTime) return { kind: 'time' };
  if (/^[^#0]*m+[^#0]*$/.test(bare)) return { kind: 'date' };
  if (shown !== undefined) return asShown;
  const percent = /(?:[#0](?:\.(0+))?)[^%]*%/.exec(bare);
  if (percent !== null) return { kind: 'percent', decimals: percent[1]?.length ?? 0 };
  return { kind: 'number' };
}

const DAY_MS = 86_400_000;
/** Day 0 of the two date systems (ECMA-376 part 1, 18.17.4.1). */
const EPOCH_1900 = Date.UTC(1899, 11, 30);
const EPOCH_1904 = Date.UTC(1904, 0, 1);
/** The 1900 system has a 29 February 1900 that never was: days before it are one off. */
const LEAP_BUG_DAY = 60;
/** 31 December 9999. */
const LAST_DAY = 2_958_465;

/**
 * A number as a reader sees it: dates in ISO 8601 without a zone (a sheet's dates have none), times as HH:MM[:SS], durations as
 * hours, percentages with their sign, other numbers in 15 significant digits as spreadsheets keep them.
 */
export function formatCell(value: number, meaning: NumberMeaning, is1904: boolean): string {
  switch (meaning.kind) {
    case 'date':
    case 'time':
    case 'datetime':
      return value < 0 || value > LAST_DAY ? plainNumber(value) : formatDate(value, meaning.kind, is1904);
    case 'duration': {
      const seconds = Math.round(value * 86_400);
      const sign = seconds < 0 ? '-' : '';
      const whole = Math.abs(seconds);
      return `${sign}${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
    }
    case 'percent':
      return `${plainNumber(Number((value * 100).toFixed(Math.max(meaning.decimals, 2))))}%`;
    case 'shown':
      return showNumber(value, meaning.format) ?? plainNumber(value);
    case 'number':
      return plainNumber(value);
  }
}

function formatDate(serial: number, kind: 'date' | 'time' | 'datetime', is1904: boolean): string {
  const days = !is1904 && serial < LEAP_BUG_DAY && serial >= 1 ? serial + 1 : serial;
  // Whole seconds: the fraction of a day is not exact.
  const ms = Math.round((days * DAY_MS) / 1000) * 1000 + (is1904 ? EPOCH_1904 : EPOCH_1900);
  const iso = new Date(ms).toISOString();
  const day = iso.slice(0, 10);
  const time = iso.slice(17, 19) === '00' ? iso.slice(11, 16) : iso.slice(11, 19);
  if (kind === 'time') return serial >= 1 ? `${day} ${time}` : time;
  return kind === 'datetime' || time !== '00:00' ? `${day} ${time}` : day;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}

function plainNumber(value: number): string {
  if (!Number.isFinite(value)) return '';
  return String(Number(value.toPrecision(15)));
}
