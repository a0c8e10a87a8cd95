import { SluiceError } from '@sluice/core';
import { until } from '@sluice/testkit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Bench, createBench, request } from '../test/bench.js';
import { bringForward } from './delayed-jobs.js';

const HOUR_MS = 3_600_000;

let bench: Bench;
let prefix: string;
beforeEach(() => {
  bench = createBench();
  prefix = bench.queue.board.toKey('');
});
afterEach(() => bench.end());

/** Due times of the delayed jobs, Unix milliseconds, nearest first. */
async function dueTimes(): Promise<number[]> {
  const scores = await bench.redis.zrange(`${prefix}delayed`, '0', '-1', 'WITHSCORES');
  return scores.filter((_, at) => at % 2 === 1).map((score) => Math.floor(Number(score) / 4096));
}

/** As if the clock that gave the due times had been put back since. */
async function setClockBack(ms: number): Promise<void> {
  for (const id of await bench.redis.zrange(`${prefix}delayed`, '0', '-1'))
    await bench.redis.zincrby(`${prefix}delayed`, ms * 4096, id);
}

it('a delete is done though the clock was set back by an hour within its delay', async () => {
  const done: string[] = [];
  await bench.queue.add(request('gone.md', { cause: 'unlink' }), 'interactive', { delayMs: 1000 });
  await setClockBack(HOUR_MS);
  // A scan can't help: a job waits already.
  await bench.queue.add(request('gone.md', { cause: 'scan' }), 'bulk', { delayMs: 1000 });
  expect((await bench.queue.counts()).delayed).toBe(1);
  await bench.work(async ({ path }) => void done.push(path), { settings: { delayedMs: 50 } });
  await until(() => bench.queue.isIdle());
  expect(done).toEqual(['gone.md']);
});

it('an idle worker that waits for the far due time is woken', async () => {
  const done: string[] = [];
  await bench.queue.add(request('first.md'), 'interactive');
  await bench.work(async ({ path }) => void done.push(path), { settings: { delayedMs: 50 } });
  await until(() => done.length === 1);
  await bench.queue.pause();
  await bench.queue.add(request('gone.md', { cause: 'unlink' }), 'interactive', { delayMs: 1000 });
  await setClockBack(HOUR_MS);
  await bench.queue.resume();
  await until(() => bench.queue.isIdle());
  expect(done).toEqual(['first.md', 'gone.md']);
});

it('a retry waits for its back-off, no longer and no shorter, and a long one is left alone', async () => {
  await bench.end();
  bench = createBench({ settings: { attempts: 3, backoffMs: HOUR_MS } });
  prefix = bench.queue.board.toKey('');
  const worker = await bench.work(async () => {
    throw new SluiceError('embed_failed', 'flaky');
  });
  await bench.queue.add(request('a.md'), 'interactive');
  await until(async () => (await bench.queue.counts()).delayed === 1);
  await worker.stop();
  const before = await dueTimes();
  expect(await bringForward(bench.redis, prefix, Date.now())).toBe(0);
  expect(await dueTimes()).toEqual(before);
  await setClockBack(HOUR_MS);
  const now = Date.now();
  expect(await bringForward(bench.redis, prefix, now)).toBe(1);
  const [id = ''] = await bench.redis.zrange(`${prefix}delayed`, '0', '-1');
  expect(await dueTimes()).toEqual([now + Number(await bench.redis.hget(prefix + id, 'delay'))]);
  expect(await bringForward(bench.redis, prefix, now)).toBe(0);
});

it('many jobs keep their order, and a clock set forward moves none', async () => {
  for (let n = 0; n < 2500; n += 100) {
    const paths = Array.from({ length: 100 }, (_, index) => `${n + index}.md`);
    await Promise.all(paths.map((path) => bench.queue.add(request(path), 'bulk', { delayMs: 60_000 })));
  }
  const order = await bench.redis.zrange(`${prefix}delayed`, '0', '-1');
  expect(await bringForward(bench.redis, prefix, Date.now() + HOUR_MS)).toBe(0);
  await bench.redis.eval(
    `for _, id in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do redis.call('ZINCRBY', KEYS[1], ARGV[1], id) end`,
    1,
    `${prefix}delayed`,
    HOUR_MS * 4096,
  );
  const now = Date.now();
  expect(await bringForward(bench.redis, prefix, now)).toBe(2500);
  expect(new Set(await dueTimes())).toEqual(new Set([now + 60_000]));
  expect(await bench.redis.zrange(`${prefix}delayed`, '0', '-1')).toEqual(order);
});
