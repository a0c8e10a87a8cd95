import { systemClock } from '@sluice/core';
import { expect, it } from 'vitest';
import { createDepartures, type Departure } from './departures.js';

/** A clock whose sleep ends when the test says so. */
function manualClock() {
  const sleepers: (() => void)[] = [];
  return {
    ...systemClock,
    sleep: () =>
      new Promise<void>((resolve) => {
        sleepers.push(resolve);
      }),
    wake: () => {
      for (const wake of sleepers.splice(0)) wake();
    },
  };
}

async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

function recorded(departure: Departure | undefined, times: number): { left: number } {
  const record = { left: 0 };
  for (let n = 0; n < times; n += 1) void departure?.().then(() => (record.left += 1));
  return record;
}

it('lets a lone document leave at once', async () => {
  const clock = manualClock();
  const [departure] = createDepartures(4, { clock, running: () => 1 });
  const record = recorded(departure, 3);
  await turn();
  expect(record.left).toBe(3);
});

it('leaves when as many wait as are the share of the kind', async () => {
  const clock = manualClock();
  const [departure] = createDepartures(4, { clock, running: () => 32 });
  const first = recorded(departure, 7);
  await turn();
  expect(first.left).toBe(0);
  const last = recorded(departure, 1);
  await turn();
  expect([first.left, last.left]).toEqual([7, 1]);
  const next = recorded(departure, 1);
  await turn();
  expect(next.left).toBe(0);
});

it('waits no longer than its limit, and nothing waits when all documents wait', async () => {
  const clock = manualClock();
  const departures = createDepartures(4, { clock, running: () => 32 });
  const few = recorded(departures[0], 2);
  await turn();
  clock.wake();
  await turn();
  expect(few.left).toBe(2);
  const all = Array.from({ length: 32 }, (_, n) => recorded(departures[n % 4], 1));
  await turn();
  expect(all.every(({ left }) => left === 1)).toBe(true);
});
