import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWeaviateWorld } from './weaviate-world.js';
import type { World } from './world.js';

let world: World;
beforeAll(async () => {
  world = await createWeaviateWorld();
  const put = (name: string, text: string, metadata: Record<string, unknown> = {}) =>
    world.put({ docId: `inbox/${name}.md`, text, metadata });
  await put('kettle', 'The kettle boils water.\n\nA kettle whistles.', {
    doc_type: 'guide',
    tags: ['kitchen', 'tea'],
    author: 'Ida',
  });
  await put('teapot', 'The kettle fills the teapot with water.', { doc_type: 'guide', tags: ['tea'], fields: { year: 2023 } });
  await put('engine', 'The engine burns fuel.', { doc_type: 'report', tags: ['garage'], fields: { year: 2023, quarter: 'Q3' } });
  await put('secret', 'The kettle has a flaw.', { doc_type: 'memo', tags: ['tea'], security_level: 4, fields: { year: 1999 } });
  await put('ours', 'The kettle of our group.', { doc_type: 'letter', tags: ['tea'], allowed_groups: ['a'] });
});
afterAll(() => world.close());

async function ask(body: Record<string, unknown>, url = '/v1/search') {
  const response = await world.app.inject({ method: 'POST', url, payload: body });
  return { status: response.statusCode, body: response.json() };
}

async function search(body: Record<string, unknown>) {
  const { status, body: answer } = await ask(body);
  expect(status, JSON.stringify(answer)).toBe(200);
  return answer;
}

const docIds = ({ results }: { results: { doc_id: string }[] }) => results.map(({ doc_id }) => doc_id);

describe('facets', () => {
  const facets = ['doc_type', 'tags', 'year', 'author', 'quarter'];

  it('count the documents within the filter that the caller may see, not their chunks', async () => {
    const { facets: counted } = await search({ query: 'kettle', limit: 1, facets });
    expect(counted).toEqual({
      doc_type: [
        { value: 'guide', count: 2 },
        { value: 'report', count: 1 },
      ],
      tags: [
        { value: 'tea', count: 2 },
        { value: 'garage', count: 1 },
        { value: 'kitchen', count: 1 },
      ],
      year: [{ value: 2023, count: 2 }],
      author: [{ value: 'Ida', count: 1 }],
      quarter: [{ value: 'Q3', count: 1 }],
    });
    const filtered = await search({ query: 'kettle', facets: ['doc_type'], filter: { tags: 'tea' } });
    expect(filtered.facets).toEqual({ doc_type: [{ value: 'guide', count: 2 }] });
    expect(await search({ query: 'kettle' })).not.toHaveProperty('facets');
  });

  it('of a keyword search count the documents that it found', async () => {
    const { facets: counted, results } = await search({ query: 'kettle', mode: 'keyword', limit: 1, facets: ['tags', 'year'] });
    expect(results).toHaveLength(1);
    expect(counted).toEqual({
      tags: [
        { value: 'tea', count: 2 },
        { value: 'kitchen', count: 1 },
      ],
      year: [{ value: 2023, count: 1 }],
    });
  });

  it.each(['hybrid', 'keyword'])('of a %s search show others only what they may see', async (mode) => {
    const types = async (as: Record<string, unknown>) => {
      world.as({ clearance: 5, groups: ['a'], role: 'reader' });
      const { facets: counted } = await search({ query: 'kettle', mode, facets: ['doc_type'], as });
      world.as({ clearance: 1, groups: [], role: 'operator' });
      return (counted.doc_type as { value: string }[]).map(({ value }) => value).filter((value) => value !== 'report');
    };
    expect(await types({ clearance: 1, groups: [] })).toEqual(['guide']);
    expect(await types({ clearance: 4, groups: [] })).toEqual(['guide', 'memo']);
    expect(await types({ clearance: 3, groups: ['a'] })).toEqual(['guide', 'letter']);
  });

  it.each([
    [{ facets: ['nonsense'] }, 'invalid_request', 'nonsense'],
    [{ facets: ['kind'] }, 'invalid_request', 'kind'],
    [{ facets: ['doc_type'], filter: { $not: { kind: 'table' } } }, 'invalid_request', 'kind'],
    [{ facets: [] }, 'invalid_request', 'facets'],
    [{ facets: 'doc_type' }, 'invalid_request', 'facets'],
  ])('%j is refused', async (more, code, word) => {
    const { status, body } = await ask({ query: 'kettle', ...more });
    expect([status, body.code]).toEqual([400, code]);
    expect(body.detail).toContain(word);
  });
});

describe('include', () => {
  it('chooses the members of results', async () => {
    const { results } = await search({ query: 'kettle', limit: 2, include: ['doc_id', 'metadata.doc_type', 'metadata.none'] });
    expect(results).toHaveLength(2);
    for (const result of results) expect(result).toEqual({ doc_id: result.doc_id, metadata: { doc_type: 'guide' } });
    const [first] = (await search({ query: 'kettle', include: ['text', 'highlights'], highlight: true })).results;
    expect(Object.keys(first).sort()).toEqual(['highlights', 'text']);
    const [whole] = (await search({ query: 'kettle', include: ['metadata', 'metadata.author'] })).results;
    expect(whole.metadata).toMatchObject({ doc_type: 'guide', security_level: 1 });
  });

  it.each([[['secret']], [[]], [['metadata.']], ['text']])('%j is refused', async (include) => {
    const { status, body } = await ask({ query: 'kettle', include });
    expect([status, body.code]).toEqual([400, 'invalid_request']);
  });
});

describe('total', () => {
  it('is told where the search came to its end, whatever the page', async () => {
    const keyword = { query: 'kettle', mode: 'keyword' };
    expect((await search(keyword)).total).toBe(3);
    expect((await search({ ...keyword, limit: 3 })).total).toBe(3);
    expect((await search({ ...keyword, offset: 2, limit: 2 })).total).toBe(3);
    expect((await search({ ...keyword, group_by: 'document' })).total).toBe(2);
    expect((await search({ ...keyword, limit: 2 })).total).toBeUndefined();
    expect((await search({ query: 'nowhere', mode: 'keyword' })).total).toBe(0);
  });
});

describe('diversity', () => {
  it('leaves out near-duplicates, brings forward what is new, and keeps the prefix', async () => {
    const many = await createWeaviateWorld();
    const twins = [
      'The pump of hall one leaks oil at the seal.',
      'The pump of hall one leaks oil at the seal!',
      'The pump of hall one leaks oil at its seal, again.',
    ];
    for (const [n, text] of [...twins, 'A pump manual: check each seal yearly.'].entries())
      await many.put({ docId: `inbox/${n}.md`, text });
    const found = async (body: object) => {
      const payload = { query: 'pump of hall one leaks oil at the seal', ...body };
      const response = await many.app.inject({ method: 'POST', url: '/v1/search', payload });
      return docIds(response.json());
    };
    const [plain, diverse] = [await found({}), await found({ diversity: 0.8 })];
    const one = await found({ diversity: 0.8, limit: 2 });
    const refused = await many.app.inject({ method: 'POST', url: '/v1/search', payload: { query: 'x', diversity: 2 } });
    await many.close();
    expect(plain).toHaveLength(4);
    expect(plain.at(-1)).toBe('inbox/3.md');
    expect(diverse.slice(0, 2)).toEqual([plain[0], 'inbox/3.md']);
    expect(diverse).toHaveLength(3);
    expect(one).toEqual(diverse.slice(0, 2));
    expect(refused.statusCode).toBe(400);
  });
});

describe('like', () => {
  it('finds what is like a document, each document once and never itself', async () => {
    const answer = await search({ like: { doc_id: 'inbox/teapot.md' } });
    expect(docIds(answer)).toEqual(['inbox/kettle.md', 'inbox/engine.md']);
    expect(answer.applied_filter).toEqual({});
    const chunks = await search({ like: { doc_id: 'inbox/teapot.md' }, group_by: 'none', filter: { doc_type: 'guide' } });
    expect(docIds(chunks)).toEqual(['inbox/kettle.md', 'inbox/kettle.md']);
  });

  it('of a document that the caller may not see is as of one that does not exist', async () => {
    const answers = await Promise.all(['secret', 'nowhere'].map((name) => ask({ like: { doc_id: `inbox/${name}.md` } })));
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual([
      [404, 'not_found'],
      [404, 'not_found'],
    ]);
  });

  it.each([
    [{ query: 'x', like: { doc_id: 'inbox/kettle.md' } }, 'query'],
    [{}, 'query'],
    [{ like: { doc_id: 'inbox/kettle.md' }, mode: 'keyword' }, 'like'],
    [{ like: { doc_id: 'inbox/kettle.md' }, rerank: true }, 'like'],
    [{ like: { doc_id: 'inbox/kettle.md' }, infer_filter: true }, 'like'],
    [{ like: {} }, 'like'],
  ])('%j is refused', async (body, path) => {
    const answer = await ask(body);
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request']);
    expect(answer.body.detail).toContain(`body/${path}`);
  });
});

describe('POST /v1/search/batch', () => {
  it('answers each query as a search of its own', async () => {
    const queries = [
      { query: 'kettle' },
      { query: 'engine', limit: 1, include: ['doc_id'] },
      { like: { doc_id: 'inbox/teapot.md' } },
    ];
    const { status, body } = await ask({ queries }, '/v1/search/batch');
    expect(status).toBe(200);
    const alone = await Promise.all(queries.map(search));
    const withoutTime = (answers: { took_ms: number }[]) => answers.map(({ took_ms: _ms, ...answer }) => answer);
    expect(withoutTime(body.answers)).toEqual(withoutTime(alone));
  });

  it('is for somebody as a whole', async () => {
    world.as({ clearance: 4 });
    const queries = [{ query: 'flaw', mode: 'keyword' }];
    const found = async (as?: object) => docIds((await ask({ queries, as }, '/v1/search/batch')).body.answers[0]);
    const both = [await found(), await found({ clearance: 1 })];
    world.as({ clearance: 1 });
    expect(both).toEqual([['inbox/secret.md'], []]);
  });

  it('says which query is wrong', async () => {
    const batch = async (...queries: object[]) => (await ask({ queries }, '/v1/search/batch')).body;
    expect(await batch({ query: 'x' }, { query: 'x', filter: { nonsense: 1 } })).toMatchObject({
      code: 'invalid_filter',
      detail: expect.stringMatching(/^queries\/1: .*nonsense/),
    });
    expect(await batch({ query: 'x', filter: [] })).toMatchObject({
      code: 'invalid_filter',
      detail: expect.stringContaining('/queries/0'),
    });
    expect(await batch({ query: 'x', as: { clearance: 1 } })).toMatchObject({ code: 'invalid_request' });
    expect(await batch()).toMatchObject({ code: 'invalid_request' });
    expect(await batch(...Array.from({ length: 21 }, () => ({ query: 'x' })))).toMatchObject({ code: 'invalid_request' });
  });
});
