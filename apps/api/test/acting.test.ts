import type { Caller, SecurityLevel } from '@sluice/core';
import { actFor, mayAccess } from '@sluice/metadata';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWorld, type World } from './world.js';

let world: World;
beforeEach(async () => {
  world = await createWorld();
  await world.put({ docId: 'inbox/one.md', text: 'cobalt one' });
  await world.put({ docId: 'inbox/four.md', text: 'cobalt four', metadata: { security_level: 4 } });
  await world.put({ docId: 'inbox/a.md', text: 'cobalt a', metadata: { allowed_groups: ['a'] } });
  await world.put({ docId: 'inbox/b.md', text: 'cobalt b', metadata: { allowed_groups: ['b'] } });
  await world.put({ docId: 'inbox/nobody.md', text: 'cobalt nobody', metadata: { allowed_groups: [] } });
});
afterEach(() => world.close());

type As = { clearance?: number; groups?: string[] };

async function ask(path: string, as: As | undefined): Promise<string[]> {
  if (path.startsWith('POST ')) {
    const payload = { query: 'cobalt', limit: 50, ...(as === undefined ? {} : { as }) };
    const response = await world.app.inject({ method: 'POST', url: path.slice(5), payload });
    expect(response.statusCode, response.body).toBe(200);
    const { results, sources } = response.json() as Record<string, { doc_id: string }[]>;
    return (results ?? sources ?? []).map(({ doc_id }) => doc_id).sort();
  }
  const query = new URLSearchParams({
    ...(as?.clearance === undefined ? {} : { as_clearance: String(as.clearance) }),
    ...(as?.groups === undefined ? {} : { as_groups: as.groups.join(',') }),
  });
  const response = await world.app.inject({ method: 'GET', url: `${path}?${query}` });
  expect(response.statusCode, response.body).toBe(200);
  return (response.json() as { documents: { doc_id: string }[] }).documents.map(({ doc_id }) => doc_id).sort();
}

const ids = (...names: string[]) => names.map((name) => `inbox/${name}.md`).sort();

describe.each(['POST /v1/search', 'POST /v1/context', '/v1/documents'])('%s for somebody', (path) => {
  it('shows what both the key and the person may see', async () => {
    world.as({ role: 'operator', clearance: 5 });
    expect(await ask(path, undefined)).toEqual(ids('one', 'four', 'a', 'b', 'nobody'));
    expect(await ask(path, { clearance: 1, groups: [] })).toEqual(ids('one'));
    expect(await ask(path, { clearance: 4, groups: ['a'] })).toEqual(ids('one', 'four', 'a'));
    world.as({ role: 'reader', clearance: 3, groups: ['a'] });
    expect(await ask(path, undefined)).toEqual(ids('one', 'a'));
    expect(await ask(path, { clearance: 5, groups: ['a', 'b'] })).toEqual(ids('one', 'a'));
    expect(await ask(path, { groups: ['b'] })).toEqual(ids('one'));
  });
});

it('holds for single documents, their chunks and texts, and the counts', async () => {
  world.as({ role: 'operator', clearance: 5 });
  for (const rest of ['', '/chunks', '/text']) {
    const status = async (query: string) => (await world.app.inject(`/v1/documents/inbox%2Ffour.md${rest}?${query}`)).statusCode;
    expect([await status(''), await status('as_clearance=4'), await status('as_clearance=3')], rest).toEqual([200, 200, 404]);
  }
  const indexed = async (query: string) =>
    (await world.app.inject(`/v1/sources?${query}`)).json().sources.find(({ name }: { name: string }) => name === 'inbox')
      .documents.indexed;
  expect([await indexed(''), await indexed('as_clearance=1&as_groups=')]).toEqual([5, 1]);
});

it.each([
  ['/v1/documents?as_clearance=0', undefined],
  ['/v1/documents?as_clearance=6', undefined],
  ['/v1/documents?as_clearance=x', undefined],
  ['/v1/search', { query: 'x', as: { clearance: 0 } }],
  ['/v1/search', { query: 'x', as: { groups: 'a' } }],
  ['/v1/search', { query: 'x', as: { role: 'operator' } }],
  ['/ops/api/reconcile', { as: { clearance: 1 } }],
])('%s %j is refused', async (url, payload) => {
  const response = await world.app.inject({
    method: payload === undefined ? 'GET' : 'POST',
    url,
    ...(payload === undefined ? {} : { payload }),
  });
  expect(response.statusCode, response.body).toBe(400);
});

it('never shows more than the key alone', () => {
  const level = fc.constantFrom<SecurityLevel>(1, 2, 3, 4, 5);
  const groups = fc.subarray(['a', 'b', 'c']);
  const caller = fc.record({
    role: fc.constantFrom<Caller['role']>('reader', 'operator'),
    clearance: level,
    groups,
    name: fc.constant('k'),
  });
  const document = fc.record({ security_level: level, allowed_groups: fc.option(groups, { nil: undefined }) });
  const acting = fc.record({ clearance: fc.option(level, { nil: undefined }), groups: fc.option(groups, { nil: undefined }) });
  fc.assert(
    fc.property(caller, acting, document, (key, as, access) => {
      if (mayAccess(actFor(key, as), access)) expect(mayAccess(key, access)).toBe(true);
    }),
  );
});

describe('rights that a route does not take', () => {
  it('are refused in a query, and passed over where nobody is asked who they are', async () => {
    world.as({ role: 'operator', clearance: 5 });
    const statusOf = async (method: 'GET' | 'POST' | 'OPTIONS', url: string, payload?: object) =>
      (await world.app.inject({ method, url, ...(payload === undefined ? {} : { payload }) })).statusCode;
    const query = '?as_clearance=1&as_groups=a';
    expect(await statusOf('POST', `/v1/search${query}`, { query: 'cobalt' })).toBe(400);
    expect(await statusOf('GET', `/metrics${query}`)).toBe(400);
    expect(await statusOf('GET', `/ops/api/tasks/00000000-0000-4000-8000-000000000000${query}`)).toBe(400);
    expect(await statusOf('GET', `/healthz${query}`)).toBe(200);
    expect(await statusOf('OPTIONS', '/v1/search', { query: 'x', as: { clearance: 1 } })).toBe(204);
  });
});
