import { randomUUID } from 'node:crypto';
import { type Control, createControl, createReconcileQueue, createRedis, type ReconcileJobs } from '@sluice/queues';
import { silentLogger } from '@sluice/telemetry';
import { testServices } from '@sluice/testkit';
import { afterAll, expect, it } from 'vitest';
import { createOtherIndexes, type OtherIndexesDeps } from '../src/other-indexes.js';

const redis = createRedis({ url: testServices().redis, role: 'producer' });
const namespace = `test-${randomUUID()}`;
const settings = { attempts: 3, backoffMs: 20 };
const index = (suffix: string) => ({
  queue: createReconcileQueue({ redis, namespace: namespace + suffix, settings }),
  control: createControl({ redis, namespace: namespace + suffix }),
});
const indexes: Record<'live' | 'next' | 'previous', { queue: ReconcileJobs; control: Control }> = {
  live: index(''),
  next: index('-2'),
  previous: index('-1'),
};
const generation = (collection: string, queue: string) => ({ collection, queue, model: collection });
const live = generation('Live', '');
const state = {
  configured: 'Live',
  live: { ...live, since: 0 },
  next: { ...generation('Next', '-2'), since: 0 },
  previous: { ...generation('Previous', '-1'), until: 1 },
  doomed: [],
};
const others = (read: OtherIndexesDeps['generations']['read']) =>
  createOtherIndexes({ namespace, settings, live, redis, logger: silentLogger(), generations: { read } });

afterAll(async () => {
  for (const { queue } of Object.values(indexes)) {
    await queue.removeAll();
    await queue.close();
  }
  redis.disconnect();
});

it('are asked what the live one is asked, and it is not asked twice', async () => {
  await others(async () => ({ version: 1, state })).each(async ({ queue, control }) => {
    await queue.addBulk([{ source: 's', path: 'a.md', cause: 'retry' }], 'bulk');
    await queue.pause();
    await control.requestScan('s');
  });
  for (const name of ['next', 'previous'] as const) {
    const { queue, control } = indexes[name];
    expect(await queue.pendingDocuments(), name).toMatchObject([{ source: 's', path: 'a.md' }]);
    expect(await queue.isPaused(), name).toBe(true);
    expect((await control.look(['s'])).requested.get('s'), name).toBeGreaterThan(0);
  }
  expect(await indexes.live.queue.pendingDocuments()).toEqual([]);
  expect(await indexes.live.queue.isPaused()).toBe(false);
  expect((await indexes.live.control.look(['s'])).requested.get('s')).toBe(0);
});

it('take nothing from the answer where they cannot be asked', async () => {
  const unreadable = others(() => Promise.reject(new Error('Weaviate is away')));
  await expect(unreadable.each(() => Promise.reject(new Error('never asked')))).resolves.toBeUndefined();
  const refusing = others(async () => ({ version: 1, state }));
  await expect(refusing.each(() => Promise.reject(new Error('Redis is away')))).resolves.toBeUndefined();
});
