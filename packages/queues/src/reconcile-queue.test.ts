import { until } from '@sluice/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Bench, createBench, createRuns, request, uuidOf } from '../test/bench.js';

let bench: Bench;
beforeEach(() => {
  bench = createBench();
});
afterEach(() => bench.end());

const NOTHING = { waiting: 0, active: 0, delayed: 0, failed: 0 };

describe('one job a document', () => {
  it('waits once however often it is added, and knows the newest causes only by the disk', async () => {
    for (const cause of ['add', 'change', 'scan', 'unlink'] as const) {
      await bench.queue.add(request('a.md', { cause }), cause === 'scan' ? 'bulk' : 'interactive');
    }
    await bench.queue.addBulk([request('a.md'), request('a.md'), request('b.md')], 'bulk');
    expect(await bench.queue.counts()).toEqual({ ...NOTHING, waiting: 2 });
  });

  it('carries path and cause, nothing else', async () => {
    await bench.queue.add(request('deep/ä b.md'), 'interactive');
    const [job] = await bench.queue.board.getJobs(['prioritized']);
    expect(job?.data).toEqual({ source: 'inbox', path: 'deep/ä b.md', cause: 'change' });
    await expect(bench.queue.add(request('a', { source: 'Not A Name' }), 'bulk')).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });

  it.each([
    ['interactive', 'interactive'],
    ['bulk', 'bulk'],
    ['interactive', 'bulk'],
    ['bulk', 'interactive'],
  ] as const)('runs once more after an add while it ran, never two at a time (%s, then %s)', async (first, second) => {
    const { handle, runs, next } = createRuns();
    await bench.work(handle);
    await bench.queue.add(request('a.md'), 'interactive');
    const one = await next();
    await bench.queue.add(request('a.md', { cause: 'change' }), first);
    await bench.queue.add(request('a.md', { cause: 'scan' }), second);
    expect(runs).toHaveLength(1);
    expect(await bench.queue.counts()).toMatchObject({ active: 1, waiting: 0 });
    one.succeed();
    (await next()).succeed();
    await until(() => bench.queue.isIdle());
    expect(runs).toHaveLength(2);
  });

  it('runs once more also when the run in between fails for good', async () => {
    const { handle, runs, next } = createRuns();
    await bench.work(handle);
    await bench.queue.add(request('a.md'), 'interactive');
    const one = await next();
    await bench.queue.add(request('a.md'), 'interactive');
    one.fail(Object.assign(new Error('x'), {}));
    // A transient fault: its retries come first, then what was added meanwhile.
    (await next()).fail(new Error('x'));
    (await next()).fail(new Error('x'));
    (await next()).succeed();
    await until(() => bench.queue.isIdle());
    expect(runs.map((run) => run.context.attemptsMade)).toEqual([0, 1, 2, 0]);
    expect(await bench.queue.counts()).toEqual({ ...NOTHING, failed: 1 });
  });

  it('takes an edit after completion, and after a dead letter', async () => {
    const { handle, next } = createRuns();
    await bench.work(handle);
    for (let edit = 0; edit < 3; edit++) {
      await bench.queue.add(request('a.md'), 'interactive');
      (await next()).succeed();
      await until(() => bench.queue.isIdle());
    }
    await bench.queue.add(request('a.md'), 'interactive');
    for (let attempt = 0; attempt < 3; attempt++) (await next()).fail(new Error('no'));
    await until(() => bench.queue.isIdle());
    expect(await bench.queue.failedJobs()).toMatchObject([
      { path: 'a.md', reason: 'internal; sluice dlq show tells more', attemptsMade: 3 },
    ]);
    await bench.queue.add(request('a.md'), 'interactive');
    (await next()).succeed();
    await until(() => bench.queue.isIdle());
  });

  it('lets an edit end the wait of a job that backs off, and a scan not', async () => {
    await bench.end();
    bench = createBench({ settings: { attempts: 3, backoffMs: 60_000 } });
    const { handle, next } = createRuns();
    await bench.work(handle);
    await bench.queue.add(request('a.md'), 'interactive');
    (await next()).fail(new Error('try later'));
    await until(async () => (await bench.queue.counts()).delayed === 1);
    await bench.queue.add(request('a.md', { cause: 'scan' }), 'bulk');
    await bench.queue.addBulk([request('a.md', { cause: 'scan' })], 'bulk');
    expect(await bench.queue.counts()).toEqual({ ...NOTHING, delayed: 1 });
    await bench.queue.add(request('a.md'), 'interactive');
    const again = await next();
    expect(again.context.attemptsMade).toBe(0);
    again.succeed();
    await until(() => bench.queue.isIdle());
  });

  it('keeps a delete waiting for its second, and lets what comes after it run at once', async () => {
    await bench.queue.add(request('a.md', { cause: 'unlink' }), 'interactive', { delayMs: 60_000 });
    expect(await bench.queue.counts()).toEqual({ ...NOTHING, delayed: 1 });
    await bench.queue.add(request('a.md', { cause: 'add' }), 'interactive');
    expect(await bench.queue.counts()).toEqual({ ...NOTHING, waiting: 1 });
  });
});

describe('a repair', () => {
  it.each(['bulk', 'interactive'] as const)('is not forgotten when a job that waits absorbs it (%s)', async (urgency) => {
    await bench.queue.addBulk([request('a'), request('b')], 'bulk');
    await bench.queue.addBulk([request('a', { force: 'rebuild' })], urgency);
    await bench.queue.addBulk([request('a', { force: 'recommit' })], urgency);
    const { handle, runs, next } = createRuns();
    await bench.work(handle, { concurrency: 1 });
    for (let run = 0; run < 2; run++) (await next()).succeed();
    await until(() => bench.queue.isIdle());
    expect(runs.find((run) => run.request.path === 'a')?.request.force).toBe('rebuild');
    expect(runs.find((run) => run.request.path === 'b')?.request.force).toBeUndefined();
  });

  it('stands until a run succeeds, and again when it is asked for during one', async () => {
    const { handle, runs, next } = createRuns();
    await bench.work(handle);
    await bench.queue.add(request('a', { force: 'recommit' }), 'interactive');
    (await next()).fail(new Error('once'));
    const second = await next();
    await bench.queue.add(request('a', { force: 'recommit' }), 'interactive');
    second.succeed();
    (await next()).succeed();
    await until(() => bench.queue.isIdle());
    await bench.queue.add(request('a'), 'interactive');
    (await next()).succeed();
    await until(() => bench.queue.isIdle());
    expect(runs.map((run) => run.request.force)).toEqual(['recommit', 'recommit', 'recommit', undefined]);
  });
});

describe('order', () => {
  async function orderOf(): Promise<string[]> {
    const order: string[] = [];
    await bench.work(
      async (job) => {
        order.push(`${job.source}/${job.path}`);
      },
      { concurrency: 1 },
    );
    await until(() => bench.queue.isIdle());
    return order;
  }
  const many = (source: string, count: number) =>
    Array.from({ length: count }, (_, n) => request(`${n}`, { source, cause: 'scan' }));

  it('lets a change overtake a scan, also for a file the scan already queued', async () => {
    await bench.queue.addBulk(many('big', 50), 'bulk');
    await bench.queue.add(request('new', { source: 'big' }), 'interactive');
    await bench.queue.add(request('40', { source: 'big' }), 'interactive');
    await bench.queue.addBulk([request('40', { source: 'big', cause: 'scan' })], 'bulk');
    const order = await orderOf();
    expect(order.slice(0, 2)).toEqual(['big/new', 'big/40']);
    expect(order).toHaveLength(51);
  });

  it('keeps the place of a change that waits to run again when a scan finds it too', async () => {
    const { handle, next } = createRuns();
    const worker = await bench.work(handle, { concurrency: 1 });
    await bench.queue.add(request('a'), 'interactive');
    const running = await next();
    await bench.queue.addBulk(many('big', 5), 'bulk');
    await bench.queue.add(request('a'), 'interactive');
    await bench.queue.add(request('a', { cause: 'scan' }), 'bulk');
    running.succeed();
    const second = await next();
    expect(second.request.path).toBe('a');
    second.succeed();
    await worker.stop({ deadlineMs: 0 });
  });

  it.each(['bulk', 'interactive'] as const)('gives a small source its turns beside a huge one (%s)', async (urgency) => {
    await bench.queue.addBulk(many('huge', 1200), urgency);
    await bench.queue.addBulk(many('small', 10), urgency);
    const order = await orderOf();
    expect(order).toHaveLength(1210);
    expect(Math.max(...order.flatMap((id, index) => (id.startsWith('small/') ? [index] : [])))).toBeLessThan(25);
    const huge = order.filter((id) => id.startsWith('huge/'));
    expect(huge).toEqual(many('huge', 1200).map((job) => `huge/${job.path}`));
  });

  it('holds up no edit with thousands of removals from its own source', async () => {
    await bench.queue.addBulk(
      many('inbox', 1200).map((gone) => ({ ...gone, cause: 'unlink' as const })),
      'interactive',
    );
    await bench.queue.add(request('edited'), 'interactive');
    expect((await orderOf()).indexOf('inbox/edited')).toBeLessThan(3);
  });
});

describe('what is pending', () => {
  it('is told by document, by source and in total', async () => {
    const { handle, next } = createRuns();
    await bench.work(handle, { concurrency: 1 });
    await bench.queue.add(request('running'), 'interactive');
    const running = await next();
    await bench.queue.addBulk([request('x'), request('y'), request('z', { source: 'other' })], 'bulk');
    await bench.queue.add(request('later'), 'interactive', { delayMs: 60_000 });
    expect(await bench.queue.pending(['running', 'x', 'later', 'nobody'].map((path) => uuidOf(path)))).toEqual(
      new Set(['running', 'x', 'later'].map((path) => uuidOf(path))),
    );
    expect((await bench.queue.pendingDocuments()).map(({ docId, state }) => `${docId} ${state}`).sort()).toEqual([
      'inbox/later delayed',
      'inbox/running active',
      'inbox/x waiting',
      'inbox/y waiting',
      'other/z waiting',
    ]);
    expect(await bench.queue.pendingDocuments({ source: 'other' })).toHaveLength(1);
    expect(await bench.queue.pendingDocuments({ limit: 2 })).toHaveLength(2);
    expect(await bench.queue.isIdle()).toBe(false);
    running.succeed();
  });

  it('stays so in a paused queue, and is done once it resumes', async () => {
    await bench.queue.pause();
    const { handle, runs, next } = createRuns();
    await bench.work(handle);
    await bench.queue.add(request('a.md', { cause: 'add' }), 'interactive');
    await bench.queue.add(request('a.md', { cause: 'change' }), 'interactive');
    expect(await bench.queue.isPaused()).toBe(true);
    expect(await bench.queue.isIdle()).toBe(false);
    expect(await bench.queue.pending([uuidOf('a.md')])).toEqual(new Set([uuidOf('a.md')]));
    expect(runs).toHaveLength(0);
    await bench.queue.resume();
    (await next()).succeed();
    await until(() => bench.queue.isIdle());
    expect(runs).toHaveLength(1);
  });

  it('holds a scan back while too much waits', async () => {
    await bench.end();
    bench = createBench({ maxWaiting: 500 });
    let added = false;
    const adding = bench.queue
      .addBulk(
        Array.from({ length: 1200 }, (_, n) => request(`${n}`)),
        'bulk',
      )
      .then(() => {
        added = true;
      });
    await until(async () => (await bench.queue.counts()).waiting >= 500);
    expect(added).toBe(false);
    expect((await bench.queue.counts()).waiting).toBe(500);
    await bench.work(async () => undefined);
    await adding;
    await until(() => bench.queue.isIdle());
    const control = new AbortController();
    await bench.queue.pause();
    await bench.queue.addBulk(
      Array.from({ length: 500 }, (_, n) => request(`p${n}`)),
      'bulk',
    );
    const stuck = bench.queue.addBulk([request('last')], 'bulk', { signal: control.signal });
    control.abort();
    await expect(stuck).rejects.toThrow();
  });

  it('holds it back while too much is delayed too; an interactive add never waits', async () => {
    await bench.end();
    bench = createBench({ maxWaiting: 500 });
    const many = Array.from({ length: 1200 }, (_, n) => request(`${n}`, { cause: 'unlink' }));
    const control = new AbortController();
    const adding = bench.queue.addBulk(many, 'bulk', { delayMs: 60_000, signal: control.signal });
    await until(async () => (await bench.queue.counts()).delayed >= 500);
    const other = bench.queue.addBulk([request('other')], 'bulk', { signal: control.signal });
    await bench.queue.addBulk([request('edit')], 'interactive');
    control.abort();
    await expect(adding).rejects.toThrow();
    await expect(other).rejects.toThrow();
    expect(await bench.queue.counts()).toMatchObject({ waiting: 1, delayed: 500 });
  });
});

describe('stray keys', () => {
  it('takes an edit whose last job was deleted by hand', async () => {
    await bench.queue.add(request('a.md'), 'interactive');
    const [job] = await bench.queue.board.getJobs(['prioritized']);
    await bench.redis.del(bench.queue.board.toKey(job?.id ?? ''));
    expect(await bench.queue.pending([uuidOf('a.md')])).toEqual(new Set());
    const { handle, runs, next } = createRuns();
    await bench.queue.add(request('a.md'), 'interactive');
    await bench.work(handle);
    (await next()).succeed();
    await until(() => bench.queue.isIdle());
    expect(runs).toHaveLength(1);
  });

  it.each(['interactive', 'bulk'] as const)('frees a document whose job is in no list, and runs it (%s)', async (urgency) => {
    await bench.queue.addBulk([request('stuck'), request('fine')], 'bulk');
    await bench.queue.add(request('waits'), 'interactive', { delayMs: 60_000 });
    const jobs = await bench.queue.board.getJobs(['prioritized']);
    const stuck = jobs.find((job) => job.data.path === 'stuck');
    await bench.redis.zrem(bench.queue.board.toKey('prioritized'), stuck?.id ?? '');
    await bench.queue.add(request('stuck'), urgency);
    expect(await bench.queue.counts()).toEqual({ ...NOTHING, waiting: 1, delayed: 1 });
    expect(await bench.queue.freeStuckKeys()).toBe(1);
    expect(await bench.queue.counts()).toEqual({ ...NOTHING, waiting: 2, delayed: 1 });
    expect(await bench.queue.freeStuckKeys()).toBe(0);
  });

  it('removes the keys of its own namespace alone', async () => {
    const other = createBench();
    await other.queue.add(request('a.md'), 'interactive');
    await bench.queue.add(request('a.md'), 'interactive');
    await bench.queue.removeAll();
    expect(await bench.redis.keys(`${bench.namespace}*`)).toEqual([]);
    expect(await other.queue.counts()).toMatchObject({ waiting: 1 });
    await other.end();
    expect(await bench.redis.keys(`${other.namespace}*`)).toEqual([]);
  });
});
