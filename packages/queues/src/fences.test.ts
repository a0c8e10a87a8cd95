import { randomUUID } from 'node:crypto';
import { testServices } from '@sluice/testkit';
import { afterAll, expect, it } from 'vitest';
import { createFences } from './fences.js';
import { createRedis } from './redis.js';

const redis = createRedis({ url: testServices().redis, role: 'producer' });
const namespace = `test-${randomUUID()}`;
const fences = createFences({ redis, namespace });
const fresh = () => randomUUID();
afterAll(async () => {
  const keys = await redis.keys(`${namespace}:*`);
  if (keys.length > 0) await redis.unlink(...keys);
  redis.disconnect();
});

it('gives each attempt a larger number and an id of its own, however many ask at once', async () => {
  const doc = fresh();
  const taken = await Promise.all(Array.from({ length: 200 }, () => fences.take(doc)));
  const values = taken.map((fence) => fence.value);
  expect(values).toEqual([...new Set(values)].sort((a, b) => a - b));
  expect(new Set(taken.map((fence) => fence.attempt)).size).toBe(200);
  const held = await Promise.all(taken.map((fence) => fences.holds(doc, fence)));
  expect(held.filter(Boolean)).toHaveLength(1);
  expect(held.at(-1)).toBe(true);
});

it('stands above the counter, both clocks and the floor, each of which may be the highest', async () => {
  const now = Date.now() * 1000;
  const value = async (clock: number, floor: number) =>
    (await createFences({ redis, namespace, clock: { now: () => clock } }).take(fresh(), floor)).value;
  expect(await value(0, 0)).toBeGreaterThanOrEqual(now);
  expect(await value(Date.now() + 3_600_000, 0)).toBeGreaterThan(now + 3_599_000_000);
  expect(await value(0, now * 2)).toBe(now * 2 + 1);
  const doc = fresh();
  const high = await fences.take(doc, now * 2);
  expect((await fences.take(doc)).value).toBe(high.value + 1);
});

it('keeps every digit up to 2^53', async () => {
  const doc = fresh();
  const floor = 2 ** 53 - 10;
  for (let n = 1; n <= 5; n++) {
    const fence = await fences.take(doc, floor);
    expect(fence.value).toBe(floor + n);
    expect(await fences.holds(doc, fence)).toBe(true);
  }
});

it('goes on rising after a flush', async () => {
  const doc = fresh();
  const before = await fences.take(doc);
  await redis.del(`${namespace}:fence:${doc}`);
  expect(await fences.holds(doc, before)).toBe(false);
  expect((await fences.take(doc)).value).toBeGreaterThan(before.value);
});

it.each([
  ['another number', { fence: '1' }],
  ['another attempt', { attempt: fresh() }],
  ['another server, as after a failover that rolled the counter back', { run_id: 'f'.repeat(40) }],
])('does not hold with %s', async (_, change) => {
  const doc = fresh();
  const fence = await fences.take(doc);
  expect(await fences.holds(doc, fence)).toBe(true);
  await redis.hset(`${namespace}:fence:${doc}`, change);
  expect(await fences.holds(doc, fence)).toBe(false);
});
