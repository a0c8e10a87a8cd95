import { docUuid } from '@sluice/core';
import { until } from '@sluice/testkit';
import type { FastifyPluginCallback } from 'fastify';
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

describe('verify', () => {
  it('names in its examples what the caller may know of, and counts everything', async () => {
    await world.put({ docId: 'inbox/one.md', text: 'x' });
    await world.put({ docId: 'inbox/four.md', text: 'x', metadata: { security_level: 4 } });
    await world.put({ docId: 'inbox/staff.md', text: 'x', metadata: { allowed_groups: ['staff'] } });
    // Files of which nothing is stored: what the configuration says of their path decides. notes/ is of level 3.
    const docIds = ['inbox/one.md', 'inbox/four.md', 'inbox/staff.md', 'inbox/new.md', 'notes/new.md'];
    const plain = await world.deps.verify({ repair: false, mayName: () => true });
    world.deps.verify = async ({ mayName }) => {
      const examples = [];
      for (const docId of docIds) {
        const records = (await world.store.recordsOf([docUuid(docId)])).get(docUuid(docId)) ?? [];
        if (await mayName({ docId, records })) examples.push({ kind: 'stale_document', doc_id: docId });
      }
      return { ...plain, differences: docIds.length, examples };
    };
    const named = async () => {
      const { body } = await post('/ops/api/verify', { repair: false });
      const { result } = await until(async () => {
        const task = (await get(`/ops/api/tasks/${body.task_id}`)).body;
        expect(task.state).toBe('done');
        return task;
      });
      expect(result.differences).toBe(5);
      return result.examples.map(({ doc_id }: { doc_id: string }) => doc_id);
    };
    expect(await named()).toEqual(['inbox/one.md', 'inbox/new.md']);
    world.as({ clearance: 3, groups: ['staff'] });
    expect(await named()).toEqual(['inbox/one.md', 'inbox/staff.md', 'inbox/new.md', 'notes/new.md']);
    world.as({ clearance: 5, groups: [] });
    expect(await named()).toEqual(docIds);
  });
});

describe('the queue boards', () => {
  it('are served to operators, with nothing fetched from elsewhere', async () => {
    const plugin: FastifyPluginCallback = (board, _options, done) => {
      board.get('/', { schema: { hide: true } }, async () => 'board');
      done();
    };
    await world.close();
    world = await createWorld({
      boards: [
        { prefix: '/ops/queues', plugin },
        { prefix: '/ops/queues/manage', plugin },
      ],
    });
    world.as({ clearance: 5 });
    for (const url of ['/ops/queues/', '/ops/queues/manage/']) {
      const response = await world.app.inject({ method: 'GET', url });
      expect([response.statusCode, response.body]).toEqual([200, 'board']);
      expect(response.headers['content-security-policy']).toContain("default-src 'self'");
    }
    // Its buttons remove jobs of documents that others may not know of.
    const statusOf = async (url: string) => (await world.app.inject({ method: 'GET', url })).statusCode;
    world.as({ clearance: 4 });
    expect([await statusOf('/ops/queues/'), await statusOf('/ops/queues/manage/')]).toEqual([200, 403]);
    world.as({ clearance: 5, sources: ['inbox'] });
    expect([await statusOf('/ops/queues/'), await statusOf('/ops/queues/manage/')]).toEqual([403, 403]);
    world.as({ role: 'reader', name: 'a reader' });
    expect((await world.app.inject({ method: 'GET', url: '/ops/queues/' })).statusCode).toBe(403);
  });
});
