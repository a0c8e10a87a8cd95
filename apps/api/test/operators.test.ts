import { until } from '@sluice/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWorld, type World } from './world.js';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.close());

const get = async (url: string) => {
  const response = await world.app.inject({ method: 'GET', url });
  return { status: response.statusCode, body: response.json() };
};
const post = async (url: string, payload?: Record<string, unknown>) => {
  const response = await world.app.inject({ method: 'POST', url, ...(payload === undefined ? {} : { payload }) });
  return { status: response.statusCode, body: response.json() };
};
/** Starts a task, and gives what it ended with. */
const finish = async (url: string, payload: Record<string, unknown>) => {
  const { status, body } = await post(url, payload);
  expect([status, Object.keys(body)]).toEqual([202, ['task_id']]);
  return until(async () => {
    const task = (await get(`/ops/api/tasks/${body.task_id}`)).body;
    expect(task.state).not.toBe('running');
    return task;
  });
};
const failed = (docId: string, reason: 'corrupt' | 'embed_failed' = 'corrupt', more = {}) =>
  world.put({ docId, record: { status: 'failed', reason, message: `${docId} is damaged`, ...more } });
const jobs = () => [...world.queue.jobs.values()].map(({ source, path, cause }) => `${source}/${path} ${cause}`).sort();

describe('GET /ops/api/status', () => {
  it('has every member that INTERFACES names', async () => {
    await world.put({ docId: 'inbox/a.md', text: 'words' });
    await failed('inbox/b.pdf');
    await world.queue.queue.add({ source: 'inbox', path: 'c.md', cause: 'add' }, 'bulk');
    const { status, body } = await get('/ops/api/status?fresh=true');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      state: 'working',
      version: expect.any(String),
      processes: [{ role: 'api', pid: process.pid, restarts: 0 }],
      services: { redis: { state: 'up' }, weaviate: { state: 'up' }, api: { state: 'up' } },
      queues: { reconcile: { waiting: 1 } },
      dead_letters: 1,
    });
    expect(body.sources).toEqual([
      {
        name: 'inbox',
        path: '/data/inbox',
        configured: true,
        reachable: true,
        deletes_suspended: false,
        documents: { indexed: 1, pending: 1, empty: 0, failed: 1, skipped: 0 },
        scanned: 0,
      },
      expect.objectContaining({ name: 'notes', documents: { indexed: 0, pending: 0, empty: 0, failed: 0, skipped: 0 } }),
    ]);
  });

  it('counts only what the caller may know of', async () => {
    await world.put({ docId: 'inbox/a.md', text: 'words', metadata: { security_level: 4 } });
    await failed('inbox/b.pdf', 'corrupt', { security_level: 4 });
    const counts = async () => (await get('/ops/api/status?fresh=true')).body;
    expect(await counts()).toMatchObject({ dead_letters: 0, sources: [{ documents: { indexed: 0, failed: 0 } }, {}] });
    world.as({ clearance: 4 });
    expect(await counts()).toMatchObject({ dead_letters: 1, sources: [{ documents: { indexed: 1, failed: 1 } }, {}] });
  });

  it('tells which service is away instead of failing, and is never idle then', async () => {
    world.queue.state.broken = true;
    const { status, body } = await get('/ops/api/status');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      state: 'working',
      services: { redis: { state: 'down' }, weaviate: { state: 'up' } },
      queues: {},
    });
  });
});

describe('POST /ops/api/reconcile', () => {
  it('has all sources scanned, or one', async () => {
    const all = await post('/ops/api/reconcile', {});
    expect(all.status).toBe(202);
    expect(all.body.scans).toEqual([
      { source: 'inbox', request: 1 },
      { source: 'notes', request: 1 },
    ]);
    expect((await post('/ops/api/reconcile', { source: 'notes' })).body.scans).toEqual([{ source: 'notes', request: 2 }]);
  });

  it('queues single documents ahead of others', async () => {
    const { status, body } = await post('/ops/api/reconcile', { doc_id: 'inbox/a/b.md' });
    expect(status).toBe(202);
    expect(body.documents).toEqual([{ doc_id: 'inbox/a/b.md', id: expect.any(String) }]);
    expect(jobs()).toEqual(['inbox/a/b.md change']);
    expect([...world.queue.jobs.values()][0]?.urgency).toBe('interactive');
  });

  it.each([
    ['not_found', 404, { doc_id: 'inbox' }],
    ['not_found', 404, { doc_id: '/a.md' }],
    ['not_found', 404, { doc_id: 'inbox/' }],
    ['not_found', 404, { doc_id: 'inbox/../../etc/passwd' }],
    ['not_found', 404, { doc_id: 'inbox//a.md' }],
    ['not_found', 404, { doc_id: 'inbox/./a.md' }],
    ['not_found', 404, { doc_id: 'inbox/a\0.md' }],
    ['invalid_request', 400, { doc_id: 'inbox/a.md', source: 'inbox' }],
    ['invalid_request', 400, { nope: 1 }],
    ['not_found', 404, { doc_id: 'nowhere/a.md' }],
    ['not_found', 404, { source: 'nowhere' }],
  ])('answers %s for %s %j', async (code, status, body) => {
    const answer = await post('/ops/api/reconcile', body);
    expect(answer.status).toBe(status);
    expect(answer.body.code).toBe(code);
    expect(jobs()).toEqual([]);
  });
});

describe('dead letters', () => {
  beforeEach(async () => {
    await failed('inbox/a.pdf');
    await failed('inbox/b.pdf', 'embed_failed');
    await failed('notes/c.pdf');
    await failed('inbox/old.pdf', 'corrupt', { discarded: true });
    await failed('inbox/secret.pdf', 'corrupt', { security_level: 5 });
    await world.put({ docId: 'inbox/fine.md', text: 'words' });
  });
  const list = async (query = '') =>
    (await get(`/ops/api/dead-letters${query}`)).body.dead_letters.map((letter: { doc_id: string }) => letter.doc_id).sort();

  it('are listed by source and code, without the discarded ones and those above the caller', async () => {
    expect(await list()).toEqual(['inbox/a.pdf', 'inbox/b.pdf', 'notes/c.pdf']);
    expect(await list('?source=inbox')).toEqual(['inbox/a.pdf', 'inbox/b.pdf']);
    expect(await list('?code=embed_failed')).toEqual(['inbox/b.pdf']);
    expect((await get('/ops/api/dead-letters?limit=1')).body.next_cursor).toEqual(expect.any(String));
    expect((await get('/ops/api/dead-letters?code=nope')).status).toBe(400);
  });

  it.each([
    [{ ids: ['inbox/a.pdf', 'inbox/fine.md'] }, ['inbox/a.pdf retry'], ['inbox/fine.md']],
    [{ code: 'embed_failed' }, ['inbox/b.pdf retry'], []],
    [{ source: 'inbox' }, ['inbox/a.pdf retry', 'inbox/b.pdf retry'], []],
    [{ all: true }, ['inbox/a.pdf retry', 'inbox/b.pdf retry', 'notes/c.pdf retry'], []],
    [{ ids: ['inbox/secret.pdf'] }, [], ['inbox/secret.pdf']],
  ])('retry of %j queues them again', async (body, queued, notFound) => {
    const answer = await post('/ops/api/dead-letters/retry', body);
    expect(answer.status).toBe(202);
    expect(answer.body).toEqual({ retried: queued.length, not_found: notFound });
    expect(jobs()).toEqual(queued);
  });

  it('discards the chosen ones', async () => {
    await world.close();
    const discarded: string[] = [];
    world = await createWorld({
      discard: async ({ source, path }) => {
        discarded.push(`${source}/${path}`);
        return true;
      },
    });
    await failed('inbox/a.pdf');
    expect((await post('/ops/api/dead-letters/discard', { all: true })).body).toEqual({ discarded: 1, not_found: [] });
    expect(discarded).toEqual(['inbox/a.pdf']);
  });

  it.each(['retry', 'discard'])('%s wants exactly one way of choosing', async (verb) => {
    for (const body of [
      {},
      { all: false },
      { ids: [] },
      { all: true, source: 'inbox' },
      { ids: 'a' },
      { code: 'nope' },
      { nope: 1 },
    ]) {
      const answer = await post(`/ops/api/dead-letters/${verb}`, body);
      expect(answer.status, JSON.stringify(body)).toBe(400);
      expect(answer.body.code).toBe('invalid_request');
    }
    expect(jobs()).toEqual([]);
  });
});

describe('other routes of operators', () => {
  it('pause and resume the queue', async () => {
    expect((await post('/ops/api/queues/pause')).body).toEqual({ paused: true });
    expect((await get('/ops/api/status')).body.paused).toBe(true);
    expect((await post('/ops/api/queues/resume')).body).toEqual({ paused: false });
  });

  it.each(['pause', 'resume'])('%s takes no keys', async (verb) => {
    for (const body of [{ source: 'inbox' }, { all: true }]) {
      expect(await post(`/ops/api/queues/${verb}`, body)).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    }
    expect((await get('/ops/api/status')).body.paused).toBe(false);
    expect((await post(`/ops/api/queues/${verb}`, {})).status).toBe(200);
  });

  it('verify is a task, whose result is the report', async () => {
    expect(await finish('/ops/api/verify', { repair: false })).toMatchObject({
      state: 'done',
      result: { differences: 0, by_kind: { missing_chunk: 0 }, checked: { files: 0 } },
    });
    expect((await post('/ops/api/verify', { repair: 'yes' })).status).toBe(400);
  });

  it('a task tells how far it is to its own caller, and four run at once', async () => {
    let end = () => {};
    const ended = new Promise<void>((resolve) => (end = resolve));
    const plain = await world.deps.verify({ repair: false, mayName: () => true });
    world.deps.verify = async ({ onProgress }) => {
      onProgress?.(7);
      await ended;
      return plain;
    };
    const ids: string[] = [];
    for (let n = 0; n < 4; n += 1) ids.push((await post('/ops/api/verify', {})).body.task_id);
    expect(await post('/ops/api/verify', {})).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    const url = `/ops/api/tasks/${ids[0]}`;
    expect((await get(url)).body).toEqual({ state: 'running', progress: 7 });
    // The examples of a result are those of its caller's clearance.
    world.as({ name: 'another', clearance: 1 });
    expect((await get(url)).status).toBe(404);
    world.as({ name: 'anonymous' });
    end();
    await until(async () => expect((await get(url)).body.state).toBe('done'));
    expect((await get('/ops/api/tasks/6f1c2f7e-7a55-4b0e-9d0b-0a4a4f2c7d11')).status).toBe(404);
  });

  it('reindex queues every document of configured sources again', async () => {
    await world.put({ docId: 'inbox/a.md', text: 'words' });
    await world.put({ docId: 'notes/b.md', text: 'words' });
    await world.put({ docId: 'gone/c.md', text: 'words' });
    const accepted: string[] = [];
    world.deps.control.acceptRoot = async (source) => void accepted.push(source);
    expect(await post('/ops/api/reindex', { source: 'notes' })).toEqual({ status: 202, body: { documents: 1 } });
    expect(jobs()).toEqual(['notes/b.md config']);
    // Its folder counts as the source's from now on, even if it is another one than before; the next scan is told so.
    expect(accepted).toEqual(['notes']);
    expect(await world.deps.control.scannedUpTo('notes')).toBe(1);
    expect((await post('/ops/api/reindex', {})).body.documents).toBe(2);
    expect(accepted).toEqual(['notes']);
    expect((await post('/ops/api/reindex', { source: 'gone' })).status).toBe(404);
  });

  it('a source is removed only once it has left the configuration', async () => {
    expect(await post('/ops/api/sources/remove', { source: 'inbox' })).toMatchObject({
      status: 409,
      body: { code: 'conflict', detail: expect.stringContaining('still configured') },
    });
    expect(await finish('/ops/api/sources/remove', { source: 'never' })).toMatchObject({
      state: 'failed',
      problem: { code: 'not_found', status: 404 },
    });
    await world.close();
    world = await createWorld({ removeSource: async (name) => (name === 'gone' ? 3 : 0) });
    expect(await finish('/ops/api/sources/remove', { source: 'gone' })).toMatchObject({ state: 'done', result: { removed: 3 } });
    const statusOf = async (name: string) =>
      (await world.app.inject({ method: 'DELETE', url: `/ops/api/sources/${name}` })).statusCode;
    expect([await statusOf('gone'), await statusOf('never'), await statusOf('inbox')]).toEqual([204, 404, 409]);
  });

  it('of a source that has left only what the operator may know of is removed and counted', async () => {
    await world.close();
    world = await createWorld({
      async removeSource(_name, mayRemove) {
        let removed = 0;
        for await (const records of world.store.walkRecords()) removed += Number(mayRemove(records));
        return removed;
      },
    });
    for (const level of [1, 4] as const)
      await world.put({ docId: `gone/${level}.md`, text: 'x', metadata: { security_level: level } });
    expect((await finish('/ops/api/sources/remove', { source: 'gone' })).result).toEqual({ removed: 1 });
    world.as({ clearance: 4 });
    expect((await finish('/ops/api/sources/remove', { source: 'gone' })).result).toEqual({ removed: 2 });
  });

  it('why joins what the configuration and the store say, within what the caller may know of', async () => {
    await world.close();
    world = await createWorld({
      explain: async (path) => ({
        source: 'inbox',
        path: path.slice('/data/inbox/'.length),
        origins: { category: 'source' },
      }),
    });
    await world.put({ docId: 'inbox/a.md', text: 'words', metadata: { category: 'x', security_level: 3 } });
    const hidden = await get('/ops/api/why?path=/data/inbox/a.md');
    expect(hidden.body.document).toBeUndefined();
    expect(hidden.body.origins).toEqual({});
    expect(hidden.body.note).toContain('above your clearance');
    world.as({ clearance: 3 });
    expect((await get('/ops/api/why?path=/data/inbox/a.md')).body).toMatchObject({
      doc_id: 'inbox/a.md',
      document: { status: 'indexed' },
      access: { security_level: 3 },
      origins: { category: 'source' },
    });
    expect((await get('/ops/api/why')).status).toBe(400);
  });

  it('are refused to readers', async () => {
    world.as({ role: 'reader' });
    for (const [method, url] of [
      ['GET', '/ops/api/status'],
      ['GET', '/ops/api/dead-letters'],
      ['POST', '/ops/api/dead-letters/retry'],
      ['POST', '/ops/api/reconcile'],
      ['POST', '/ops/api/verify'],
      ['POST', '/ops/api/queues/pause'],
      ['GET', '/metrics'],
    ] as const) {
      const response = await world.app.inject({ method, url });
      expect(response.statusCode, `${method} ${url}`).toBe(403);
      expect(response.json().code).toBe('forbidden');
    }
  });

  it('say not_ready when Redis does not answer', async () => {
    world.queue.state.broken = true;
    for (const url of ['/ops/api/queues/pause', '/ops/api/queues/resume']) {
      const { status, body } = await post(url);
      expect(status).toBe(503);
      expect(body.code).toBe('not_ready');
    }
  });
});

describe('what programs may ask', () => {
  it('names sources with counts, and those that left the configuration', async () => {
    await world.put({ docId: 'gone/a.md', text: 'words' });
    const { body } = await get('/v1/sources');
    expect(body.sources.map(({ name, configured }: { name: string; configured: boolean }) => [name, configured])).toEqual([
      ['inbox', true],
      ['notes', true],
      ['gone', false],
    ]);
  });

  it('lists the filterable fields, declared ones among them', async () => {
    const { body } = await get('/v1/schema');
    expect(body.fields).toContainEqual({ name: 'quarter', type: 'text', list: false });
    expect(body.fields).toContainEqual({ name: 'tags', type: 'text', list: true });
    expect(JSON.stringify(body)).not.toContain('access_restricted');
  });
});
