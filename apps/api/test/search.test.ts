import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWorld, type World } from './world.js';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.close());

const search = async (body: Record<string, unknown>) => {
  const response = await world.app.inject({ method: 'POST', url: '/v1/search', payload: body });
  return { status: response.statusCode, body: response.json() };
};

describe('POST /v1/search', () => {
  it('answers in the documented shape, with a citation that holds', async () => {
    const text = 'Kettles boil water.\n\nTelescopes watch stars through a sunshield.\n\nThird paragraph.';
    const record = await world.put({
      docId: 'inbox/space/tele.md',
      text,
      metadata: { doc_title: 'Telescope', fields: { quarter: 'Q3' } },
    });
    const { status, body } = await search({ query: 'sunshield of telescopes' });
    expect(status).toBe(200);
    const [first] = body.results;
    expect(first).toMatchObject({
      doc_id: 'inbox/space/tele.md',
      revision: record.revision,
      title: 'Telescope',
      source: 'inbox',
      metadata: { doc_type: 'document', quarter: 'Q3', security_level: 1, kind: 'paragraph' },
    });
    expect(text.slice(first.citation.start, first.citation.end)).toBe(first.text);
    expect(body.degraded).toEqual([]);
    expect(body.applied_filter).toEqual({});
  });

  it.each([
    ['window', 'Kettles boil water.\n\nTelescopes watch stars.\n\nThird one.'],
    ['parent', 'Kettles boil water.\n\nTelescopes watch stars.\n\nThird one.\n\nFourth one.'],
  ])('cites the span of the %s it returns', async (expand, expected) => {
    const text = 'Kettles boil water.\n\nTelescopes watch stars.\n\nThird one.\n\nFourth one.';
    await world.put({ docId: 'inbox/a.md', text });
    const { body } = await search({ query: 'telescopes watch stars', expand });
    const [first] = body.results;
    expect(first.text).toBe(expected);
    expect(text.slice(first.citation.start, first.citation.end)).toBe(first.text);
  });

  it('returns a parent once, however many of its children match', async () => {
    await world.put({ docId: 'inbox/a.md', text: 'stars one\n\nstars two\n\nstars three' });
    await world.put({ docId: 'inbox/b.md', text: 'stars four' });
    const { body } = await search({ query: 'stars', expand: 'parent', limit: 10 });
    expect(body.results.map((result: { doc_id: string }) => result.doc_id).sort()).toEqual(['inbox/a.md', 'inbox/b.md']);
  });

  it('groups by document: the best chunk of each', async () => {
    await world.put({ docId: 'inbox/a.md', text: 'stars and moons\n\nstars' });
    await world.put({ docId: 'inbox/b.md', text: 'stars and comets' });
    const { body } = await search({ query: 'stars and moons', group_by: 'document', limit: 10 });
    expect(body.results).toHaveLength(2);
    expect(body.results[0].text).toBe('stars and moons');
  });

  it('gives for limit k a prefix of the results for 100', async () => {
    for (let n = 0; n < 30; n += 1) {
      await world.put({ docId: `inbox/${n % 10}/${n}.md`, text: `kettle number ${n % 3}\n\nkettle and ${n}\n\nequal text` });
    }
    for (const more of [
      {},
      { group_by: 'document' },
      { expand: 'parent' },
      { expand: 'window' },
      { mode: 'keyword' },
      { mode: 'dense' },
    ]) {
      const all = (await search({ query: 'kettle equal text', limit: 100, ...more })).body.results;
      for (const limit of [1, 2, 3, 10, 25, 99]) {
        const some = (await search({ query: 'kettle equal text', limit, ...more })).body.results;
        expect(some, `${JSON.stringify(more)} ${limit}`).toEqual(all.slice(0, limit));
      }
    }
  });

  it('pages through the same results', async () => {
    for (let n = 0; n < 30; n += 1)
      await world.put({ docId: `inbox/${n}.md`, text: `kettle number ${n % 7}\n\nkettle and ${n}` });
    const query = { query: 'kettle number', group_by: 'document' };
    const all = (await search({ ...query, limit: 30 })).body.results;
    for (const [offset, limit] of [
      [0, 7],
      [7, 7],
      [28, 7],
      [40, 5],
    ] as const) {
      expect((await search({ ...query, offset, limit })).body.results).toEqual(all.slice(offset, offset + limit));
    }
    expect((await search({ ...query, offset: 97, limit: 4 })).body.code).toBe('invalid_request');
    expect((await search({ ...query, offset: 99 })).status).toBe(200);
  });

  it('marks the words that matched in the text that is returned', async () => {
    await world.put({ docId: 'inbox/a.md', text: 'Kettles boil water.\n\nThe Kettle is hot, a kettle.' });
    const { body } = await search({ query: 'the kettle', mode: 'keyword', highlight: true, expand: 'parent' });
    const [{ text, highlights, doc_uuid }] = body.results;
    expect(highlights.map(({ start, end }: { start: number; end: number }) => text.slice(start, end))).toEqual([
      'Kettles',
      'Kettle',
      'kettle',
    ]);
    expect((await world.app.inject(`/v1/documents/${doc_uuid}`)).json().doc_id).toBe('inbox/a.md');
    expect((await search({ query: 'the kettle' })).body.results[0]).not.toHaveProperty('highlights');
  });

  it('breaks ties by doc_id, then by place', async () => {
    await world.put({ docId: 'inbox/b.md', text: 'same words\n\nsame words\n\nsame words' });
    await world.put({ docId: 'inbox/a.md', text: 'same words\n\nsame words' });
    const { body } = await search({ query: 'same words', limit: 10 });
    const places = body.results.map((result: { doc_id: string; citation: { start: number } }) => [
      result.doc_id,
      result.citation.start,
    ]);
    expect(places).toEqual([
      ['inbox/a.md', 0],
      ['inbox/a.md', 12],
      ['inbox/b.md', 0],
      ['inbox/b.md', 12],
      ['inbox/b.md', 24],
    ]);
  });

  it('never shows what is above the caller, in no mode, whatever the filter says', async () => {
    await world.put({ docId: 'inbox/secret.md', text: 'the vault opens with cobalt', metadata: { security_level: 4 } });
    await world.put({ docId: 'inbox/open.md', text: 'the vault is closed', metadata: { security_level: 1 } });
    for (const clearance of [1, 2, 3] as const) {
      world.as({ clearance });
      for (const mode of ['hybrid', 'dense', 'keyword']) {
        for (const filter of [
          undefined,
          {},
          { $or: [{ security_level: { $gte: 0 } }, { doc_id: 'inbox/secret.md' }] },
          { $not: { security_level: 1 } },
        ]) {
          const { status, body } = await search({ query: 'vault cobalt', mode, filter, limit: 100, expand: 'parent' });
          expect(status).toBe(200);
          expect(JSON.stringify(body.results)).not.toContain('cobalt');
        }
      }
    }
    world.as({ clearance: 4 });
    expect(JSON.stringify((await search({ query: 'cobalt' })).body)).toContain('cobalt');
  });

  it('applies a filter and says which', async () => {
    await world.put({ docId: 'inbox/a.md', text: 'stars', metadata: { fields: { quarter: 'Q3' } } });
    await world.put({ docId: 'inbox/b.md', text: 'stars', metadata: { fields: { quarter: 'Q4' } } });
    const { body } = await search({ query: 'stars', filter: { quarter: 'Q3' } });
    expect(body.results.map((result: { doc_id: string }) => result.doc_id)).toEqual(['inbox/a.md']);
    expect(body.applied_filter).toEqual({ quarter: 'Q3' });
  });

  it('says when a long query was cut for the model, and when there is no reranker', async () => {
    await world.put({ docId: 'inbox/a.md', text: 'stars' });
    const long = await search({ query: 'stars '.repeat(1000) });
    expect(long.status).toBe(200);
    expect(long.body.degraded).toEqual(['query_truncated']);
    expect((await search({ query: 'stars '.repeat(1000), mode: 'keyword' })).body.degraded).toEqual([]);
    const reranked = await search({ query: 'stars', rerank: true, min_score: 1000 });
    expect(reranked.body.degraded).toEqual(['rerank_unavailable']);
    expect(reranked.body.results).toHaveLength(1);
  });

  it('keeps alpha 0 as keyword alone: the token first, nothing without it', async () => {
    await world.put({ docId: 'inbox/z.md', text: 'part QX-7731 replaced' });
    for (let n = 0; n < 19; n += 1) await world.put({ docId: `inbox/${n}.md`, text: `ordinary text number ${n}` });
    const { body } = await search({ query: 'QX-7731', alpha: 0, limit: 10 });
    expect(body.results.map((result: { doc_id: string }) => result.doc_id)).toEqual(['inbox/z.md']);
  });

  it.each([
    ['alpha below', { query: 'x', alpha: -1 }],
    ['alpha above', { query: 'x', alpha: 2 }],
    ['alpha without meaning', { query: 'x', alpha: 0.5, mode: 'dense' }],
    ['alpha without words', { query: 'x', alpha: 0, mode: 'keyword' }],
    ['alpha as text', { query: 'x', alpha: '0.5' }],
    ['no query', {}],
    ['empty query', { query: '' }],
    ['blank query', { query: ' \n ' }],
    ['long query', { query: 'x'.repeat(8001) }],
    ['query of another type', { query: 5 }],
    ['limit 0', { query: 'x', limit: 0 }],
    ['limit 101', { query: 'x', limit: 101 }],
    ['limit 1.5', { query: 'x', limit: 1.5 }],
    ['limit as text', { query: 'x', limit: '5' }],
    ['unknown key', { query: 'x', nope: 1 }],
    ['unknown mode', { query: 'x', mode: 'magic' }],
    ['unknown expansion', { query: 'x', expand: 'all' }],
    ['candidates 0', { query: 'x', candidates: 0 }],
    ['a member that no search has', { query: 'x', surprise: 0.5 }],
    ['a time that is none', { query: 'x', now: 'soon' }],
    ['a zone that does not exist', { query: 'x', timezone: 'Moon/Base' }],
  ])('refuses %s as invalid_request', async (_name, body) => {
    const answer = await search(body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: 'invalid_request', status: 400, request_id: expect.any(String) });
  });

  it.each([
    [{ nope: 1 }],
    [{ security_level: 'x' }],
    [{ $or: [] }],
    [{ doc_type: null }],
    [{ doc_type: { $like: 'a*' } }],
    [{ access_restricted: false }],
    [[]],
    [null],
    ['a'],
    [5],
  ])('refuses the filter %j as invalid_filter', async (filter) => {
    const answer = await search({ query: 'x', filter });
    expect(answer.status).toBe(400);
    expect(answer.body.code).toBe('invalid_filter');
  });

  const FIELDS = {
    a_text: { field: 'quarter', expected: 'a text', fits: ['Q3', ''], wrong: [3, 0, true, {}] },
    a_list: { field: 'tags', expected: 'a text', fits: ['a'], wrong: [3, false, {}] },
    an_int: { field: 'year', expected: 'a whole number', fits: [2024, 5.0, -1], wrong: ['2024', 5.5, true, 1e300, {}] },
    a_level: { field: 'security_level', expected: 'a whole number', fits: [1], wrong: ['1', 1.5, {}] },
    a_second: { field: 'created_ts', expected: 'a whole number', fits: [1704067200], wrong: ['2024', 0.5, {}] },
    a_date: {
      field: 'created_at',
      expected: 'a date',
      fits: ['2024', '2024-05-01T10:00:00Z'],
      wrong: [2024, 'soon', '2024-13', true, {}],
    },
  };
  it.each(Object.values(FIELDS))('takes for $field $expected alone, and says so', async ({ field, expected, fits, wrong }) => {
    for (const value of fits) {
      for (const condition of [value, { $eq: value }, { $ne: value }, { $in: [value] }, { $nin: [value] }]) {
        expect((await search({ query: 'x', filter: { [field]: condition } })).status, JSON.stringify(condition)).toBe(200);
      }
    }
    for (const value of wrong) {
      const isObject = typeof value === 'object';
      const conditions = [value, { $eq: value }, { $ne: value }, { $in: [value] }, { $nin: [...fits, value] }];
      // A bare object holds operators: an empty one says nothing.
      for (const condition of isObject ? conditions.slice(1) : conditions) {
        const { status, body } = await search({ query: 'x', filter: { $and: [{ [field]: condition }] } });
        expect([status, body.code, body.field], JSON.stringify(condition)).toEqual([400, 'invalid_filter', field]);
        expect(body.detail).toContain(`filter.$and[0].${field}`);
        expect(body.detail).toContain(`needs ${expected}`);
      }
    }
  });
});
