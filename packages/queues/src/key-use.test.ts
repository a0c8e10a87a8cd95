import { systemClock } from '@sluice/core';
import { until } from '@sluice/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Bench, createBench } from '../test/bench.js';
import { createKeyUse } from './key-use.js';

let bench: Bench;
beforeAll(() => {
  bench = createBench();
});
afterAll(() => bench.end());

it('knows the last use of each key to the minute, at one command a minute', async () => {
  let now = Date.parse('2026-01-01T00:00:00Z');
  const use = createKeyUse({ ...bench, clock: { ...systemClock, now: () => now } });
  const seen = async () => Object.fromEntries(await use.all());
  expect(await seen()).toEqual({});
  use.touch('a');
  now += 59_000;
  use.touch('a');
  use.touch('b');
  await until(async () => expect(await seen()).toEqual({ a: '2026-01-01T00:00:00.000Z', b: '2026-01-01T00:00:59.000Z' }));
  now += 1_000;
  use.touch('a');
  await until(async () => expect((await seen()).a).toBe('2026-01-01T00:01:00.000Z'));
  use.forget('a');
  await until(async () => expect(Object.keys(await seen())).toEqual(['b']));
});
