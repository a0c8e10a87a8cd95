import { randomUUID } from 'node:crypto';
import { type Clock, systemClock } from '@sluice/core';
import { createReconcileQueue, createReconcileWorker, createRedis, type ReconcileJobs } from '@sluice/queues';
import type { Change } from '@sluice/sources';
import { testServices, until } from '@sluice/testkit';
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import { type ChangeQueue, createChangeQueue } from '../src/change-queue.js';

const url = testServices().redis;
const redis = createRedis({ url, role: 'producer' });
const MAX_WAITING = 900;
let namespace = '';
let queue: ReconcileJobs;
let changes: ChangeQueue;
let now = 0;
let left: unknown[] = [];
const clock: Clock = { ...systemClock, monotonic: () => now };
const closers: (() => Promise<void>)[] = [];

beforeEach(() => {
  namespace = `test-${randomUUID()}`;
  queue = createReconcileQueue({ redis, namespace, maxWaiting: MAX_WAITING });
  left = [];
  changes = createChangeQueue({ queue, clock, source: 's', stabilityMs: 100, onLeftToScan: (error) => left.push(error) });
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  await changes.stop();
  await queue.removeAll();
  await queue.close();
});
afterAll(() => redis.disconnect());

const many = (count: number, cause: Change['cause'], prefix: string = cause): Change[] =>
  Array.from({ length: count }, (_, n) => ({ path: `${prefix}/${n}.md`, cause }));
const unfinished = async () => {
  const { waiting, delayed } = await queue.counts();
  return waiting + delayed;
};

/** Folders of the jobs' paths in the order in which they run, each time it changes. */
async function run(jobs: number): Promise<string[]> {
  const folders: string[] = [];
  let ran = 0;
  const worker = createReconcileWorker({
    url,
    namespace,
    concurrency: 1,
    async handle({ path }) {
      ran++;
      const [folder = ''] = path.split('/');
      if (folders.at(-1) !== folder) folders.push(folder);
    },
  });
  closers.push(() => worker.stop({ deadlineMs: 0 }));
  await worker.start();
  await until(() => expect(ran).toBe(jobs));
  return folders;
}

it('an edit overtakes a mass of new files, and so do single files when it is over; a few are as urgent as one', async () => {
  await changes.put([...many(101, 'add', 'mass'), { path: 'edit/in-between.md', cause: 'change' }]);
  await until(async () => expect(await unfinished()).toBe(102));
  await changes.put(many(100, 'add', 'few'));
  await until(async () => expect(await unfinished()).toBe(202));
  await changes.put(many(1, 'add', 'more'));
  await until(async () => expect(await unfinished()).toBe(203));
  await changes.put(many(1, 'change', 'edit'));
  now += 1000;
  await changes.put(many(10, 'add', 'later'));
  const order = await run(214);
  expect(order.slice(-2)).toEqual(['mass', 'more']);
  expect(new Set(order.slice(0, -2))).toEqual(new Set(['edit', 'few', 'later']));
  // Edits and new files take turns.
  expect(order.lastIndexOf('edit')).toBeLessThan(5);
  expect(left).toEqual([]);
});

/** Places of the unfinished jobs below a folder, lowest first. */
async function placesOf(folder: string): Promise<number[]> {
  const jobs = await queue.board.getJobs(['prioritized', 'delayed']);
  const own = jobs.filter(({ data }) => data.path.startsWith(`${folder}/`));
  return own.map(({ opts }) => opts.priority ?? 0).sort((a, b) => a - b);
}

it('a few removals are urgent, and a mass of them takes turns with what scans found', async () => {
  const found = many(500, 'add', 'found').map(({ path }) => ({ source: 's', path, cause: 'scan' as const }));
  await queue.addBulk(found, 'bulk');
  await changes.put(many(90, 'unlink', 'few'));
  await changes.put(many(300, 'unlink', 'gone'));
  await until(async () => expect(await unfinished()).toBe(890));
  const [few, gone, scanned] = await Promise.all(['few', 'gone', 'found'].map(placesOf));
  expect(few?.at(-1)).toBeLessThan(scanned?.[0] ?? 0);
  expect(gone).toEqual(scanned?.slice(0, 300));
});

it('what went from a moved folder goes behind what came, whatever else waits', async () => {
  const found = many(200, 'add', 'found').map(({ path }) => ({ source: 's', path, cause: 'scan' as const }));
  await queue.addBulk(found, 'bulk');
  await changes.put(many(200, 'unlink', 'old'));
  await changes.put(many(200, 'add', 'new'));
  await until(async () => expect(await unfinished()).toBe(600));
  const [old, fresh] = await Promise.all(['old', 'new'].map(placesOf));
  expect(old?.[0]).toBeGreaterThan(fresh?.at(-1) ?? 0);
  expect(fresh?.[0]).toBeGreaterThanOrEqual(2 ** 20);
});

it('a mass waits while the queue is full, and what is more is left to a scan; an edit does not wait', async () => {
  // Delayed jobs fill the queue as others do.
  await changes.put(many(MAX_WAITING, 'unlink', 'old'));
  await until(async () => expect(await unfinished()).toBe(MAX_WAITING));
  await queue.pause();
  for (let n = 0; n < 13; n++) await changes.put(many(500, 'add', `mass-${n}`));
  await changes.put(many(1, 'change', 'edit'));
  expect(await unfinished()).toBe(MAX_WAITING + 1);
  // It is asked for when there is room again: before that it would wait as well.
  expect(left).toEqual([]);
  const handled = new Set<string>();
  const worker = createReconcileWorker({ url, namespace, concurrency: 8, handle: async ({ path }) => void handled.add(path) });
  closers.push(() => worker.stop({ deadlineMs: 0 }));
  await worker.start();
  await queue.resume();
  await until(() => expect(left).toEqual([undefined]));
  await until(async () => expect(await queue.isIdle()).toBe(true));
  expect(handled.has('edit/0.md')).toBe(true);
});

it('stops though the queue is full', async () => {
  await changes.put(many(MAX_WAITING, 'add', 'mass'));
  await until(async () => expect(await unfinished()).toBe(MAX_WAITING));
  await changes.put(many(200, 'add', 'more'));
  await changes.stop();
  expect(left).toEqual([]);
  expect(await unfinished()).toBe(MAX_WAITING);
});
