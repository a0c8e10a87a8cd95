import { until } from '@sluice/testkit';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { type Bench, createBench } from '../test/bench.js';
import { createControl } from './control.js';

let bench: Bench;
const benches: Bench[] = [];
beforeEach(() => {
  bench = createBench();
  benches.push(bench);
});
afterAll(async () => {
  for (const each of benches) await each.end();
});

it('numbers requests so that a scan begun after one answers it, and one begun before does not', async () => {
  const api = createControl(bench);
  const watcher = createControl(bench);
  expect(await api.scannedUpTo('s')).toBe(0);
  const before = await watcher.look(['s']);
  const requests = await Promise.all([api.requestScan('s'), api.requestScan('s'), api.requestScan('s')]);
  expect(new Set(requests).size).toBe(3);
  const highest = Math.max(...requests);
  expect(before.now).toBeLessThan(Math.min(...requests));
  const view = await watcher.look(['s', 'other']);
  expect(view.requested).toEqual(
    new Map([
      ['s', highest],
      ['other', 0],
    ]),
  );
  expect(view.now).toBeGreaterThanOrEqual(highest);
  await watcher.answerScan('s', view.now);
  expect(await api.scannedUpTo('s')).toBeGreaterThanOrEqual(highest);
  // A slower watcher answers late.
  await watcher.answerScan('s', before.now);
  expect(await api.scannedUpTo('s')).toBe(view.now);
  expect(await api.requestScan('s')).toBeGreaterThan(view.now);
});

it('notices a flush once, in each process that looks, and numbers go on growing', async () => {
  const [first, second, late] = [createControl(bench), createControl(bench), createControl(bench)];
  expect((await first.look(['s'])).flushed).toBe(false);
  expect((await second.look(['s'])).flushed).toBe(false);
  const request = await first.requestScan('s');
  await bench.queue.removeAll();
  expect((await first.look(['s'])).flushed).toBe(true);
  expect((await second.look(['s'])).flushed).toBe(true);
  expect((await first.look(['s'])).flushed).toBe(false);
  expect((await late.look(['s'])).flushed).toBe(false);
  // The scan that follows the flush answers what was asked for before it.
  const { now } = await first.look(['s']);
  expect(now).toBeGreaterThan(request);
});

it('passes on what a watcher says of a source, and an acceptance once', async () => {
  const control = createControl(bench);
  expect(await control.state('s')).toBeUndefined();
  const state = {
    reachable: false,
    deletes_suspended: true,
    message: 'gone',
    polling: false,
    files: 3,
    scanned_at: '2026-01-01T00:00:00Z',
  };
  await control.publish('s', state);
  expect(await control.state('s')).toEqual(state);
  expect(await control.state('other')).toBeUndefined();
  const folder = { inode: '7', birth: '1' };
  const unsuspended = { reachable: true, deletes_suspended: false, polling: false };
  expect(await control.rootOf('other')).toBeUndefined();
  await control.publish('s', { ...unsuspended, folder });
  expect(await control.rootOf('s')).toEqual(folder);
  await control.publish('s', { ...unsuspended, deletes_suspended: true });
  expect(await control.rootOf('s')).toBe('none');
  expect(await bench.redis.ttl(`${bench.namespace}:control:state:s`)).toBeGreaterThan(0);
  expect(await control.takeAcceptance('s')).toBe(false);
  await control.acceptRoot('s');
  expect(await control.takeAcceptance('other')).toBe(false);
  expect(await control.takeAcceptance('s')).toBe(true);
  expect(await control.takeAcceptance('s')).toBe(false);
});

it('lets one lead at a time; another follows when it resigns, is known to be gone, or is silent', async () => {
  const control = createControl(bench);
  const both = await Promise.all([control.lead('a', 60_000), control.lead('b', 60_000)]);
  expect(new Set(both).size).toBe(1);
  const [leader = ''] = both;
  const other = leader === 'a' ? 'b' : 'a';
  expect(await control.lead(leader, 60_000)).toBe(leader);
  expect(await control.lead(other, 60_000, 'somebody else')).toBe(leader);
  expect(await control.lead(other, 60_000, leader)).toBe(other);
  await control.resign(leader);
  expect(await control.lead(leader, 60_000)).toBe(other);
  await control.resign(other);
  expect(await control.lead(leader, 1)).toBe(leader);
  await until(async () => (await control.lead(other, 60_000)) === other);
});

it('says that the queue is away', async () => {
  const control = createControl(bench);
  bench.redis.disconnect();
  await expect(control.look(['s'])).rejects.toMatchObject({ code: 'queue_unavailable' });
  await expect(control.requestScan('s')).rejects.toMatchObject({ code: 'queue_unavailable' });
  await bench.redis.connect();
});
