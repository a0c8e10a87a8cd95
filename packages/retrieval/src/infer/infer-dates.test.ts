import { describe, expect, it } from 'vitest';
import { inferDates } from './infer-dates.js';

const now = Date.parse('2024-04-10T12:00:00Z');
const range = (question: string, timezone = 'UTC') => {
  const { $gte = '', $lt = '' } = inferDates(question, { now, timezone }) ?? {};
  return `${$gte}..${$lt}`;
};

describe('inferDates', () => {
  it.each([
    ['What was the service uptime last month?', '2024-03-01..2024-04-01'],
    ['revenue last year', '2023-01-01..2024-01-01'],
    ['revenue this year', '2024-01-01..2025-01-01'],
    ['what happened in 2023?', '2023-01-01..2024-01-01'],
    ['the 2023 plan', '..'],
    ['incidents since March', '2024-03-01..'],
    ['incidents since last week', '2024-04-01..'],
    ['incidents before 2022', '..2022-01-01'],
    ['incidents after March 2023', '2023-04-01..'],
    ['incidents until March 2023', '..2023-04-01'],
    ['Q3 2024 results', '2024-07-01..2024-10-01'],
    ['results of 2022 Q1', '2022-01-01..2022-04-01'],
    ['results of Q4', '2023-10-01..2024-01-01'],
    ['last quarter', '2024-01-01..2024-04-01'],
    ['the last 3 months', '2024-01-10..2024-04-11'],
    ['the past 30 days', '2024-03-11..2024-04-11'],
    ['yesterday', '2024-04-09..2024-04-10'],
    ['mails from December', '2023-12-01..2024-01-01'],
    ['between January 2023 and March 2023', '2023-01-01..2023-04-01'],
    ['from 2019 to 2021', '2019-01-01..2022-01-01'],
    ['on 3 March 2024', '2024-03-03..2024-03-04'],
    ['minutes of March 3, 2024', '2024-03-03..2024-03-04'],
    ['2 weeks ago', '2024-03-27..2024-03-28'],
    ['since 2024-02-05', '2024-02-05..'],
    ['Wie war der Umsatz im letzten Jahr?', '2023-01-01..2024-01-01'],
    ['Störungen seit März', '2024-03-01..'],
    ['Umsatz im 3. Quartal 2023', '2023-07-01..2023-10-01'],
    ['Rechnungen vom letzten Monat', '2024-03-01..2024-04-01'],
    ['Berichte der letzten 2 Wochen', '2024-03-27..2024-04-11'],
    ['am 3. März 2024', '2024-03-03..2024-03-04'],
    ['les pannes du mois dernier', '2024-03-01..2024-04-01'],
    ["le chiffre de l'année dernière", '2023-01-01..2024-01-01'],
    ['depuis mars 2023', '2023-03-01..'],
    ['en 2022', '2022-01-01..2023-01-01'],
    ['le 5 janvier 2024', '2024-01-05..2024-01-06'],
    ['los últimos 3 meses', '2024-01-10..2024-04-11'],
    ['las ventas del año pasado', '2023-01-01..2024-01-01'],
    ['desde marzo de 2023', '2023-03-01..'],
    ['What may happen in a march?', '..'],
    ['version 1.2.3 of node 20', '..'],
    ['room 2023 is closed', '..'],
    ['how does the pump work', '..'],
    ['T3 instance types', '..'],
  ])('%s', (question, expected) => expect(range(question)).toBe(expected));

  it('begins days where the zone does', () => {
    expect(range('last month', 'Europe/Berlin')).toBe('2024-02-29T23:00:00.000Z..2024-03-31T22:00:00.000Z');
    expect(range('last month', 'America/New_York')).toBe('2024-03-01T05:00:00.000Z..2024-04-01T04:00:00.000Z');
    const late = Date.parse('2024-03-31T23:30:00Z');
    expect(inferDates('today', { now: late, timezone: 'Europe/Berlin' })).toEqual({
      $gte: '2024-03-31T22:00:00.000Z',
      $lt: '2024-04-01T22:00:00.000Z',
    });
  });
});
