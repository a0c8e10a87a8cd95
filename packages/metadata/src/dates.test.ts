import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isoInstant, parseDate } from './dates.js';

function bounds(text: string) {
  const span = parseDate(text);
  return span === undefined ? undefined : [isoInstant(span.start), isoInstant(span.end)];
}

describe('parseDate', () => {
  it.each([
    ['2024', '2024-01-01T00:00:00.000Z', '2025-01-01T00:00:00.000Z'],
    ['2024-02', '2024-02-01T00:00:00.000Z', '2024-03-01T00:00:00.000Z'],
    ['2024-12', '2024-12-01T00:00:00.000Z', '2025-01-01T00:00:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z', '2024-03-01T00:00:00.000Z'],
    ['0050', '0050-01-01T00:00:00.000Z', '0051-01-01T00:00:00.000Z'],
  ])('%s is the span it names in UTC', (text, start, end) => {
    expect(bounds(text)).toEqual([start, end]);
  });

  it.each([
    ['2024-05-01T10:00:00Z', '2024-05-01T10:00:00.000Z'],
    ['2024-05-01T10:00:00', '2024-05-01T10:00:00.000Z'],
    ['2024-05-01 10:00', '2024-05-01T10:00:00.000Z'],
    ['2024-05-01T10:00:00.5+02:00', '2024-05-01T08:00:00.500Z'],
    ['2001-12-14t21:59:43.10-05:00', '2001-12-15T02:59:43.100Z'],
    ['2001-12-14 21:59:43.1 -5', '2001-12-15T02:59:43.100Z'],
    ['2024-05-01T10:00:00.123999Z', '2024-05-01T10:00:00.123Z'],
  ])('%s is an instant', (text, instant) => {
    expect(bounds(text)).toEqual([instant, instant]);
  });

  it.each([
    '',
    '24',
    '20245',
    '2024-13',
    '2024-00',
    '2023-02-29',
    '2024-04-31',
    '2024-5-1',
    '05/01/2024',
    'yesterday',
    '2024-05-01T24:00',
    '2024-05-01T10:60',
    '2024-05-01T10:00:60Z',
    '2024-05-01T10:00:00+99:00',
    '0000',
    '0001-01-01T00:00:00+01:00',
    ' 2024',
  ])('%j is none', (text) => {
    expect(parseDate(text)).toBeUndefined();
  });

  it('reads back what it writes', () => {
    const instants = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
    fc.assert(
      fc.property(instants, (date) => {
        const text = date.toISOString();
        expect(bounds(text)).toEqual([text, text]);
        const day = parseDate(text.slice(0, 10));
        expect(day !== undefined && day.start <= date.getTime() && date.getTime() < day.end).toBe(true);
      }),
    );
  });
});
