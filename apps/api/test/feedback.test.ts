import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWorld, type World } from './world.js';

let world: World;

beforeEach(async () => {
  world = await createWorld();
  await world.put({ docId: 'inbox/open.md', text: 'the boiler is serviced in May' });
  await world.put({ docId: 'inbox/secret.md', text: 'the boiler was stolen', metadata: { security_level: 3 } });
});
afterEach(() => world.close());

const say = (body: object) => world.app.inject({ method: 'POST', url: '/v1/feedback', payload: body });
const list = async (query = '') => (await world.app.inject(`/ops/api/feedback${query}`)).json();
const given = { query: 'when is the boiler serviced', doc_id: 'inbox/open.md', helpful: true };

describe('feedback', () => {
  it('is kept with who gave it, and the revision that it is about', async () => {
    world.as({ role: 'reader', keyId: 'k1' });
    const answer = await say(given);
    expect(answer.statusCode, answer.body).toBe(201);
    expect(answer.json()).toMatchObject({ ...given, by: 'k1', revision: expect.stringMatching(/./) });
    world.as({ role: 'operator' });
    expect(await list()).toEqual({ feedback: [answer.json()] });
  });

  it('is refused of what the caller cannot see, as of what there is not', async () => {
    for (const doc_id of ['inbox/secret.md', 'inbox/none.md']) {
      const answer = await say({ ...given, doc_id });
      expect(answer.json(), doc_id).toMatchObject({ status: 404, code: 'not_found' });
    }
    world.as({ clearance: 3 });
    expect((await say({ ...given, doc_id: 'inbox/secret.md', as: { clearance: 1 } })).statusCode).toBe(404);
    expect((await say({ ...given, doc_id: 'inbox/secret.md' })).statusCode).toBe(201);
    expect((await list()).feedback).toHaveLength(1);
    world.as({ clearance: 1 });
    expect(await list()).toEqual({ feedback: [] });
  });

  it('is listed page by page, to operators alone', async () => {
    for (let n = 0; n < 5; n += 1) await say({ ...given, query: `question ${n}` });
    const first = await list('?limit=3');
    const second = await list(`?limit=3&cursor=${first.next_cursor}`);
    const queries = [...first.feedback, ...second.feedback].map(({ query }: { query: string }) => query);
    expect(queries).toEqual([0, 1, 2, 3, 4].map((n) => `question ${n}`));
    expect(second.next_cursor).toBeUndefined();
    world.as({ role: 'reader' });
    expect((await world.app.inject('/ops/api/feedback')).statusCode).toBe(403);
  });

  it.each([
    { ...given, query: ' ' },
    { ...given, helpful: 'yes' },
    { ...given, chunk_id: 'x' },
    { ...given, rating: 5 },
    { query: 'q', doc_id: 'inbox/open.md' },
  ])('refuses %j', async (body) => {
    expect((await say(body)).json()).toMatchObject({ status: 400, code: 'invalid_request' });
  });
});
