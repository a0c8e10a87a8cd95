import { SluiceError } from '@sluice/core';
import { createWordEmbedder } from '@sluice/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWorld, type World } from './world.js';

let world: World;
let fault: SluiceError | undefined;
let embedded = 0;
beforeEach(async () => {
  fault = new SluiceError('embed_failed', 'the embedding endpoint at models.example answered 502', {
    kind: 'transient',
    details: { endpoint: 'models.example', status: 502 },
  });
  embedded = 0;
  const words = createWordEmbedder();
  world = await createWorld(
    {},
    {
      embedder: {
        ...words,
        async embed(texts, signal) {
          embedded += 1;
          if (fault !== undefined) throw fault;
          return words.embed(texts, signal);
        },
      },
    },
  );
  await world.put({ docId: 'inbox/a.md', text: 'kettles boil water' });
  await world.put({ docId: 'inbox/b.md', text: 'kettles whistle' });
  await world.put({ docId: 'notes/c.md', text: 'kettles are secret', metadata: { security_level: 4 } });
});
afterEach(() => world.close());

const search = async (body: Record<string, unknown>, url = '/v1/search') => {
  const response = await world.app.inject({ method: 'POST', url, payload: body });
  return { status: response.statusCode, body: response.json() };
};
const idsOf = (answer: { body: { results: { doc_id: string }[] } }) => answer.body.results.map(({ doc_id }) => doc_id);

describe('while questions can not be embedded', () => {
  it.each(['embed_failed', 'model_unavailable'] as const)(
    'hybrid search finds by words alone, and says so (%s)',
    async (code) => {
      fault = new SluiceError(code, 'away');
      const answer = await search({ query: 'boil kettles' });
      expect(answer).toMatchObject({ status: 200, body: { degraded: ['embedding_unavailable'] } });
      const byWords = await search({ query: 'boil kettles', alpha: 0 });
      expect(byWords.body.degraded).toEqual([]);
      expect(answer.body.results).toEqual(byWords.body.results);
      expect(idsOf(answer)).toEqual(['inbox/a.md', 'inbox/b.md']);
    },
  );

  it('asks for the vector once a search, however many filters are tried', async () => {
    const answer = await search({ query: 'kettles from 1999', infer_filter: true });
    expect(answer.body.degraded).toContain('embedding_unavailable');
    expect(idsOf(answer)).toHaveLength(2);
    expect(embedded).toBe(1);
  });

  it('context says so too', async () => {
    const { status, body } = await search({ query: 'kettles', max_tokens: 200 }, '/v1/context');
    expect({ status, degraded: body.degraded }).toEqual({ status: 200, degraded: ['embedding_unavailable'] });
  });

  it('dense search is 503 with what failed, and never the status of the endpoint', async () => {
    const { status, body } = await search({ query: 'kettles', mode: 'dense' });
    expect(status).toBe(503);
    expect(body).toMatchObject({
      code: 'not_ready',
      status: 503,
      detail: expect.stringContaining('models.example answered 502'),
    });
  });

  it('searches that need no vector embed nothing', async () => {
    expect((await search({ query: 'kettles', mode: 'keyword' })).body.degraded).toEqual([]);
    expect((await search({ query: 'kettles', alpha: 0 })).body.degraded).toEqual([]);
    expect(embedded).toBe(0);
  });

  it('other failures stay failures, and all is as before when it is back', async () => {
    fault = new SluiceError('internal', 'broken');
    expect((await search({ query: 'kettles' })).status).toBe(500);
    fault = undefined;
    expect(await search({ query: 'kettles' })).toMatchObject({ status: 200, body: { degraded: [] } });
  });

  it('readyz is degraded, since questions are answered', async () => {
    world.deps.checkModel = () => Promise.reject(new SluiceError('embed_failed', 'away'));
    const response = await world.app.inject({ method: 'GET', url: '/readyz' });
    expect(response.statusCode).toBe(200);
    expect(response.json()).toMatchObject({ status: 'degraded', checks: { model: { ok: false } } });
  });
});
