import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createWeaviateWorld } from './weaviate-world.js';
import type { World } from './world.js';

let world: World;
beforeAll(async () => {
  world = await createWeaviateWorld();
  const put = (docId: string, text: string, created: string, metadata: object = {}) =>
    world.put({
      docId,
      text,
      metadata: { created_at: `${created}T00:00:00.000Z`, created_ts: Date.parse(created) / 1000, ...metadata },
    });
  await put('inbox/march.md', 'The service uptime was 99.9 percent.', '2024-03-31', { doc_type: 'sre_report' });
  await put('inbox/april.md', 'The service uptime was 98.1 percent.', '2024-04-01', { doc_type: 'sre_report' });
  await put('inbox/mail.md', 'What was the service uptime, asked Bob.', '2024-03-05', {
    doc_type: 'mail',
    author: 'Ada Lovelace',
  });
  await put('inbox/secret.md', 'The merger uptime.', '2024-03-05', { doc_type: 'merger', tags: ['cobalt'], security_level: 4 });
});
afterAll(() => world.close());
beforeEach(() => world.as({ clearance: 1 }));

async function search(body: Record<string, unknown>) {
  const payload = { infer_filter: true, now: '2024-04-10', mode: 'keyword', ...body };
  const answer = (await world.app.inject({ method: 'POST', url: '/v1/search', payload })).json();
  return { ...answer, found: answer.results.map(({ doc_id }: { doc_id: string }) => doc_id) };
}

const UPTIME = { query: 'What was the service uptime last month?' };

describe('infer_filter', () => {
  it('filters by the dates and the type that the question names, and says so', async () => {
    const implied = { created_at: { $gte: '2024-03-01', $lt: '2024-04-01' }, doc_type: 'sre_report' };
    const { found, applied_filter, inferred_filter, degraded } = await search(UPTIME);
    expect(found).toEqual(['inbox/march.md']);
    expect({ applied_filter, inferred_filter, degraded }).toEqual({
      applied_filter: implied,
      inferred_filter: implied,
      degraded: [],
    });
  });

  it('adds to the filter of the request', async () => {
    const filter = { source: 'inbox' };
    const { applied_filter, inferred_filter } = await search({ ...UPTIME, filter });
    expect(applied_filter).toEqual({ $and: [filter, inferred_filter] });
  });

  it('relaxes what would leave nothing, and says so; never the filter of the request', async () => {
    const none = await search({ query: 'percent in 2019' });
    expect([none.degraded, none.inferred_filter, none.applied_filter]).toEqual([['infer_relaxed'], {}, {}]);
    expect(none.found).toHaveLength(2);
    const dates = await search({ query: 'What did Ada Lovelace say on uptime in April 2024?' });
    expect(dates).toMatchObject({
      degraded: ['infer_relaxed'],
      inferred_filter: { created_at: { $gte: '2024-04-01', $lt: '2024-05-01' } },
    });
    const filter = { doc_type: 'plan' };
    expect(await search({ ...UPTIME, filter })).toMatchObject({ found: [], applied_filter: filter });
  });

  it('knows no value of documents that the caller may not see', async () => {
    for (const query of ['merger uptime', 'cobalt uptime', 'the merger uptime last month']) {
      const low = await search({ query });
      expect(JSON.stringify([low.results, low.inferred_filter, low.applied_filter, low.degraded])).not.toMatch(
        /merger|cobalt|relaxed/,
      );
    }
    world.as({ clearance: 4 });
    expect((await search({ query: 'merger uptime' })).inferred_filter).toEqual({ doc_type: 'merger' });
    world.as({ clearance: 1 });
  });

  it('says nothing when it was not asked to', async () => {
    const answer = await search({ ...UPTIME, infer_filter: false });
    expect(answer.applied_filter).toEqual({});
    expect(answer).not.toHaveProperty('inferred_filter');
  });

  it('works for contexts too', async () => {
    const payload = {
      ...UPTIME,
      infer_filter: true,
      now: '2024-04-10T09:00:00+02:00',
      timezone: 'Europe/Berlin',
      mode: 'keyword',
    };
    const { sources, inferred_filter } = (await world.app.inject({ method: 'POST', url: '/v1/context', payload })).json();
    expect(sources.map(({ doc_id }: { doc_id: string }) => doc_id)).toEqual(['inbox/march.md']);
    expect(inferred_filter.created_at).toEqual({ $gte: '2024-02-29T23:00:00.000Z', $lt: '2024-03-31T22:00:00.000Z' });
  });
});
