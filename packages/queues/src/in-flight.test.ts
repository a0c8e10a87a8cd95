import { until } from '@sluice/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Bench, createBench, createRuns, request, uuidOf } from '../test/bench.js';
import { createShare } from './in-flight.js';
import type { ReconcileWorkerOptions } from './reconcile-worker.js';

/** Sizes stand in the names, so `9.0` is a file of 9 bytes. */
const sizeOf = async ({ path }: { path: string }) => Number.parseInt(path, 10);
const LIMITS = { bytes: 100, largeBytes: 5, sizeOf };

let bench: Bench;
beforeEach(() => {
  bench = createBench();
});
afterEach(() => bench.end());

const add = (paths: string[], urgency: 'bulk' | 'interactive' = 'bulk') =>
  bench.queue.addBulk(
    paths.map((path) => request(path)),
    urgency,
  );

/** A handler that is at work on a document until a moment has passed, and what it saw. */
function createWatch(): {
  handle: ReconcileWorkerOptions['handle'];
  most: Record<'bytes' | 'large' | 'all', number>;
  done: string[];
} {
  const inside = new Map<string, number>();
  const most = { bytes: 0, large: 0, all: 0 };
  const done: string[] = [];
  return {
    most,
    done,
    async handle(job, { attemptsMade }) {
      expect(attemptsMade).toBe(0);
      inside.set(job.path, await sizeOf(job));
      const sizes = [...inside.values()];
      most.bytes = Math.max(
        most.bytes,
        sizes.reduce((sum, size) => sum + size, 0),
      );
      most.large = Math.max(most.large, sizes.filter((size) => size > LIMITS.largeBytes).length);
      most.all = Math.max(most.all, sizes.length);
      await new Promise((resolve) => setTimeout(resolve, 3));
      inside.delete(job.path);
      done.push(job.path);
    },
  };
}

describe('documents that are worked on at a time', () => {
  it('never hold more bytes than the bound, nor more than half of the slots when large', async () => {
    const paths = Array.from({ length: 300 }, (_, n) => `${(n * 37) % 61}.${n}`);
    await add(paths);
    const { handle, most, done } = createWatch();
    await bench.work(handle, { concurrency: 8, inFlight: LIMITS });
    await until(() => bench.queue.isIdle());
    expect(new Set(done)).toEqual(new Set(paths));
    expect(done).toHaveLength(300);
    expect(most.bytes).toBeLessThanOrEqual(100);
    expect(most.large).toBeLessThanOrEqual(4);
    // The positive control: it is the bound that is kept, not one at a time.
    expect(most.all).toBeGreaterThan(2);
  });

  it('are small ones while large ones wait', async () => {
    const { handle, runs, next } = createRuns();
    const large = Array.from({ length: 8 }, (_, n) => `40.${n}`);
    await add(large);
    await bench.work(handle, { concurrency: 4, inFlight: LIMITS });
    const held = [await next(), await next()];
    await add(Array.from({ length: 20 }, (_, n) => `1.${n}`));
    for (let n = 0; n < 20; n++) {
      const run = await next();
      expect(run.request.path).toMatch(/^1\./);
      run.succeed();
    }
    await until(async () => (await bench.queue.counts()).active === 2);
    for (const run of held) run.succeed();
    for (let n = 2; n < 8; n++) (await next()).succeed();
    await until(() => bench.queue.isIdle());
    expect(runs.map((run) => run.request.path).filter((path) => large.includes(path))).toHaveLength(8);
    expect(runs.every((run) => run.context.attemptsMade === 0 && run.context.crashes === 0)).toBe(true);
  });

  it('leave small ones where they are when all slots are taken: none is taken to be put back', async () => {
    const { handle, next } = createRuns();
    await add(Array.from({ length: 40 }, (_, n) => `${n % 2 === 0 ? 0 : 3}.${n}`));
    await bench.work(handle, { concurrency: 4, inFlight: LIMITS });
    for (let n = 0; n < 36; n++) {
      const run = await next();
      expect((await bench.queue.counts()).delayed).toBe(0);
      run.succeed();
    }
    for (let n = 36; n < 40; n++) (await next()).succeed();
    await until(() => bench.queue.isIdle());
  });

  it('are others than those that turn out slow, which come again in their turn', async () => {
    const { handle, runs, next } = createRuns();
    const slow = new Set<string>();
    const paths = Array.from({ length: 12 }, (_, n) => `0.${n}`);
    await add(paths);
    const inFlight = { ...LIMITS, isSlow: (docId: string) => slow.has(docId) };
    const worker = await bench.work(handle, { concurrency: 4, inFlight });
    const turnsSlow = async () => {
      const run = await next();
      slow.add(run.context.docId);
      worker.slow(run.context.docId);
      return run;
    };
    const stay = [await turnsSlow(), await turnsSlow()];
    // Large ones have half of the slots: those that follow go.
    for (let n = 2; n < 12; n++) expect((await turnsSlow()).context.signal.aborted).toBe(true);
    expect(stay.map((run) => run.context.signal.aborted)).toEqual([false, false]);
    await until(async () => (await bench.queue.counts()).delayed === 10);
    await add(['0.light']);
    const light = await next();
    expect(light.request.path).toBe('0.light');
    for (const run of [light, ...stay]) run.succeed();
    for (let n = 2; n < 12; n++) (await next()).succeed();
    await until(() => bench.queue.isIdle());
    expect(runs).toHaveLength(23);
    expect(runs.every((run) => run.context.attemptsMade === 0 && run.context.crashes === 0)).toBe(true);
    expect((await bench.queue.counts()).failed).toBe(0);
  });

  it('are put back with the crashes that are counted against them', async () => {
    const { handle, next } = createRuns();
    const slow = new Set<string>();
    await add(['9.a', '9.b']);
    const inFlight = { ...LIMITS, isSlow: (docId: string) => slow.has(docId) };
    const worker = await bench.work(handle, { concurrency: 4, inFlight });
    const large = [await next(), await next()];
    await bench.redis.set(`${bench.namespace}:crashes:${uuidOf('0.poison')}`, `1 ${Date.now()}`);
    await add(['0.poison']);
    const { context } = await next();
    expect(context.crashes).toBe(1);
    slow.add(context.docId);
    worker.slow(context.docId);
    await until(async () => (await bench.queue.counts()).delayed === 1);
    for (const run of large) run.succeed();
    const again = await next();
    expect(again.context).toMatchObject({ docId: context.docId, crashes: 1, attemptsMade: 0 });
    again.succeed();
    await until(() => bench.queue.isIdle());
  });

  it('are one larger than the bound, alone among the large ones, in its turn', async () => {
    const { handle, runs, next } = createRuns();
    await add(['30.a', '30.b']);
    await bench.work(handle, { concurrency: 4, inFlight: LIMITS });
    const [a, b] = [await next(), await next()];
    await add(['500.huge']);
    await until(async () => (await bench.queue.counts()).delayed === 1);
    // One that would fit beside those that run waits behind it.
    await add(['9.later', '2.small']);
    const small = await next();
    expect(small.request.path).toBe('2.small');
    small.succeed();
    await until(async () => (await bench.queue.counts()).delayed === 2);
    a.succeed();
    await until(async () => (await bench.queue.counts()).active === 1);
    b.succeed();
    const huge = await next();
    expect(huge.request.path).toBe('500.huge');
    expect((await bench.queue.counts()).active).toBe(1);
    huge.succeed();
    (await next()).succeed();
    await until(() => bench.queue.isIdle());
    expect(runs.map((run) => run.request.path)).toEqual([
      expect.any(String),
      expect.any(String),
      '2.small',
      '500.huge',
      '9.later',
    ]);
  });

  it('are a change before what a scan found', async () => {
    const { handle, next } = createRuns();
    await add(['70.runs']);
    await bench.work(handle, { concurrency: 4, inFlight: LIMITS });
    const first = await next();
    await add(['70.found']);
    await until(async () => (await bench.queue.counts()).delayed === 1);
    await add(['70.changed'], 'interactive');
    await until(async () => (await bench.queue.counts()).delayed === 2);
    first.succeed();
    const second = await next();
    expect(second.request.path).toBe('70.changed');
    second.succeed();
    const third = await next();
    expect(third.request.path).toBe('70.found');
    third.succeed();
  });

  it.each(['stopped', 'lost'] as const)('are taken by another worker when the one that would call them is %s', async (how) => {
    const { handle, next } = createRuns();
    await add(['70.a', '70.b', '70.c']);
    // A long time to wait for a call shows that stopping calls; a short one, that it is not needed.
    const first = await bench.work(handle, { inFlight: LIMITS, settings: { heldMs: how === 'stopped' ? 3_600_000 : 100 } });
    const run = await next();
    await until(async () => (await bench.queue.counts()).delayed === 2);
    if (how === 'stopped') {
      run.succeed();
      await first.stop({ deadlineMs: 0 });
    }
    const { handle: others, done } = createWatch();
    await bench.work(others, { inFlight: LIMITS });
    await until(async () => done.length >= 2);
    run.succeed();
    await until(() => bench.queue.isIdle());
  });
});

describe('a share', () => {
  const createCalls = (found = true) => {
    const calls: string[] = [];
    const call = async (id: string) => {
      calls.push(id);
      return found;
    };
    return { calls, call };
  };

  it('keeps room for who was called, and gives it to the next when that one does not come', async () => {
    const { calls, call } = createCalls();
    const share = createShare({ bytes: 10, slots: 2, call, calledMs: 20 });
    const leave = share.enter('a', 'bulk', 10);
    for (const id of ['b', 'c']) {
      expect(share.enter(id, 'bulk', 10)).toBeUndefined();
      share.hold(id, 'bulk', 10);
    }
    leave?.();
    expect(calls).toEqual(['b']);
    expect(share.enter('d', 'bulk', 1)).toBeUndefined();
    await until(() => calls.length === 2);
    expect(calls).toEqual(['b', 'c']);
    expect(share.enter('c', 'bulk', 10)).toBeDefined();
  });

  it('calls the next at once when one is not to be found', async () => {
    const { calls, call } = createCalls(false);
    const share = createShare({ bytes: 10, slots: 2, call });
    const leave = share.enter('a', 'bulk', 10);
    for (const id of ['b', 'c']) share.hold(id, 'bulk', 10);
    leave?.();
    await until(() => calls.length === 2);
    expect(share.held()).toEqual([]);
    expect(share.enter('d', 'bulk', 10)).toBeDefined();
  });

  it('weighs again one that has grown since it was called', () => {
    const share = createShare({ bytes: 10, slots: 3, call: createCalls().call });
    const leave = share.enter('a', 'bulk', 6);
    const other = share.enter('b', 'bulk', 4);
    expect(share.enter('c', 'bulk', 4)).toBeUndefined();
    share.hold('c', 'bulk', 4);
    other?.();
    expect(share.enter('c', 'bulk', 5)).toBeUndefined();
    share.hold('c', 'bulk', 5);
    leave?.();
    expect(share.enter('c', 'bulk', 5)).toBeDefined();
  });
});

it('a document that runs alone waits for a large one, and nobody small waits with it', async () => {
  const { handle, next } = createRuns();
  await bench.work(handle, { concurrency: 4, inFlight: LIMITS });
  await add(['9.large']);
  const large = await next();
  await bench.redis.set(`${bench.namespace}:crashes:${uuidOf('0.poison')}`, `2 ${Date.now()}`);
  await add(['0.poison']);
  await until(async () => (await bench.queue.counts()).active === 2);
  await add(['0.a', '0.b']);
  const small = [await next(), await next()];
  expect(small.map((run) => run.request.path).sort()).toEqual(['0.a', '0.b']);
  for (const run of [...small, large]) run.succeed();
  const alone = await next();
  expect(alone.context).toMatchObject({ crashes: 2 });
  alone.succeed();
  await until(() => bench.queue.isIdle());
});
