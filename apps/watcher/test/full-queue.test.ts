import { randomUUID } from 'node:crypto';
import { watch } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type EntryStat, type Files, type FolderEntry, type ReconcileQueue, SluiceError } from '@sluice/core';
import { createReconcileQueue, createReconcileWorker, createRedis, type ReconcileJobs } from '@sluice/queues';
import { createNodeFiles } from '@sluice/sources';
import { testServices, until } from '@sluice/testkit';
import { afterAll, afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { WatchedSource } from '../src/watched-source.js';
import { type FakeInstance, makeFolder, makeInstance, recordOf, source } from './fake-instance.js';

const url = testServices().redis;
const redis = createRedis({ url, role: 'producer' });
const MAX_WAITING = 600;
/** Jobs that are added at a time. */
const SLICE = 500;
/** Differences that the watcher holds, and the batch that its walk finds at a time. */
const HELD = 5000 + 256;
const CONCURRENCY = 8;
let instance: FakeInstance;
let root: string;
let namespace: string;
let jobs: ReconcileJobs;
/** As the watcher has it: counts adds under way. */
let queue: ReconcileQueue;
let adding = 0;
let mostAdding = 0;
const closers: (() => Promise<void>)[] = [];

beforeEach(async () => {
  instance = await makeInstance();
  root = await makeFolder();
  namespace = `test-${randomUUID()}`;
  jobs = createReconcileQueue({ redis, namespace, maxWaiting: MAX_WAITING });
  adding = 0;
  mostAdding = 0;
  queue = {
    add: jobs.add,
    async addBulk(...parameters) {
      adding++;
      mostAdding = Math.max(mostAdding, adding);
      await jobs.addBulk(...parameters).finally(() => adding--);
    },
  };
});
afterEach(async () => {
  await instance.stopAll();
  for (const close of closers.splice(0)) await close();
  await jobs.removeAll();
  await jobs.close();
  await rm(root, { recursive: true, force: true });
});
afterAll(() => redis.disconnect());

const unfinished = async () => {
  const { waiting, delayed } = await jobs.counts();
  return waiting + delayed;
};

/** A source of so many files in folders of a thousand; on the disk is its root alone. */
function filesOf(count: number): Files {
  const disk = createNodeFiles();
  const stat: EntryStat = { kind: 'file', size: 1, mtimeNs: '1', ctimeNs: '1', inode: '1' };
  const entries = (kind: FolderEntry['kind'], length: number, name: (n: number) => string): FolderEntry[] =>
    Array.from({ length }, (_, n) => ({ name: name(n), kind, validName: true }));
  return {
    ...disk,
    async stat(path) {
      if (path === root || !path.startsWith(root)) return disk.stat(path);
      if (path.startsWith(join(root, 'gone'))) return undefined;
      return { ...stat, kind: path.endsWith('.md') ? 'file' : 'folder' };
    },
    async list(path) {
      if (!path.startsWith(root)) return disk.list(path);
      if (path === root) return entries('folder', count / 1000, (n) => `d${n}`);
      return entries('file', 1000, (n) => `${n}.md`);
    },
  };
}

/** What happens is told by scans alone: its folders are not there to be watched. */
const start = (files: Files, others: WatchedSource[] = []) =>
  instance.start([source('s', root), ...others], {
    queue,
    files,
    watchFolder: ((_path: string, listener: () => void) => watch(root, listener)) as typeof watch,
  });

async function work(handle: (path: string) => Promise<void>): Promise<void> {
  const worker = createReconcileWorker({ url, namespace, concurrency: CONCURRENCY, handle: ({ path }) => handle(path) });
  closers.push(() => worker.stop({ deadlineMs: 0 }));
  await worker.start();
}

it('a scan that finds more than there is room for waits in its walk, and all of it comes to the queue', async () => {
  const there = 12_000;
  const gone = 1000;
  for (let n = 0; n < gone; n++) {
    const path = `gone/${n}.md`;
    instance.records.set(`s/${path}`, recordOf(`s/${path}`, { source: 's', path }, 1, {}));
  }
  // Nothing of what is known is there, as in a folder that took the root's place.
  instance.accept('s');
  const handled = new Set<string>();
  let most = 0;
  let mostHeld = 0;
  // Asked for before the first scan, so that there is but one.
  const answered = instance.scan('s').then(async () => {
    const { waiting, active, delayed } = await jobs.counts();
    return waiting + active + delayed + handled.size;
  });
  const app = await start(filesOf(there));
  await until(async () => expect(await unfinished()).toBeGreaterThanOrEqual(MAX_WAITING));
  await work(async (path) => {
    const listed = await instance.filesScanned();
    const waiting = await unfinished();
    most = Math.max(most, waiting);
    mostHeld = Math.max(mostHeld, listed - waiting - handled.size);
    handled.add(path);
  });
  await until(() => expect(handled.size).toBe(there + gone));
  expect(await answered).toBeGreaterThanOrEqual(there + gone);
  expect(app.scans).toBe(1);
  expect(most).toBeLessThan(MAX_WAITING + SLICE);
  expect(mostHeld).toBeLessThanOrEqual(HELD + CONCURRENCY);
  expect(mostAdding).toBe(1);
});

it('of 100,000 files the watcher holds a few thousand while the queue is full, asks for room once at a time, and stops', async () => {
  const asked = vi.spyOn(jobs.board, 'getJobCounts');
  const app = await start(filesOf(100_000));
  await until(async () => expect(await instance.filesScanned()).toBeGreaterThan(5000));
  asked.mockClear();
  await until(() => expect(asked.mock.calls.length).toBeGreaterThan(10));
  expect(await instance.filesScanned()).toBeLessThanOrEqual(MAX_WAITING + SLICE + HELD);
  expect(await unfinished()).toBeLessThan(MAX_WAITING + SLICE);
  expect(mostAdding).toBe(1);
  await app.stop();
  expect(adding).toBe(0);
  expect(app.scans).toBe(0);
});

it('a scan that waits for room keeps no other source from being scanned', async () => {
  const other = await makeFolder();
  closers.push(() => rm(other, { recursive: true, force: true }));
  await writeFile(join(other, 'b.md'), 'b');
  const app = await start(filesOf(100_000), [source('other', other)]);
  await until(() => expect(instance.states.get('other')).toMatchObject({ files: 1 }));
  expect(await unfinished()).toBeLessThan(MAX_WAITING + 2 * SLICE);
  const handled: string[] = [];
  await work(async (path) => void handled.push(path));
  await instance.scan('other');
  await until(() => expect(handled).toContain('b.md'));
  expect(app.scans).toBe(2);
  expect(instance.states.get('s')?.files).toBeUndefined();
});

it('a scan whose adds fail in part is not answered, and begins again', async () => {
  let adds = 0;
  const { addBulk } = queue;
  queue.addBulk = async (...parameters) => {
    adds++;
    if (adds === 2) throw new SluiceError('queue_unavailable', 'away');
    await addBulk(...parameters);
  };
  const handled = new Set<string>();
  await work(async (path) => void handled.add(path));
  const app = await start(filesOf(1000));
  await instance.scan('s');
  await until(() => expect(handled.size).toBe(1000));
  expect(app.scans).toBeGreaterThan(1);
});
