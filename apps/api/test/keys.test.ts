import { type Clock, systemClock } from '@sluice/core';
import type { FastifyPluginCallback } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { requireKeyToBind } from '../src/bind.js';
import { createGate, type GateOptions } from '../src/keys/gate.js';
import { createKeyRing } from '../src/keys/key-ring.js';
import { createMemoryKeys, createMemoryKeyUse, createWorld, type World } from './world.js';

let world: World;
let keys: ReturnType<typeof createMemoryKeys>;
let now: number;
const clock: Clock = { ...systemClock, now: () => now, monotonic: () => now };

const LIMITS = { calls: { perSecond: 200, burst: 400 }, badKeys: { perSecond: 0.2, burst: 10 } };
/** The content of secrets/operator-token. */
const TOKEN = 't'.repeat(43);
const SETTINGS = { allowedHosts: ['sluice.internal'], corsOrigins: [], callsAtOnce: 200, bodyBytes: 1024 * 1024 };

const queuePages: FastifyPluginCallback = (board, _options, done) => {
  board.get('/', async () => 'queues');
  done();
};

async function start(options: Partial<GateOptions> = {}) {
  now = Date.parse('2026-01-01T00:00:00Z');
  keys = createMemoryKeys();
  const ring = createKeyRing({ store: keys, clock });
  const keyUse = createMemoryKeyUse(clock);
  const identify = createGate({
    ...{ ring, clock, onUse: keyUse.touch, operatorToken: TOKEN, anyOrigin: false, anonymous: false, anonymousClearance: 1 },
    ...LIMITS,
    ...options,
  });
  world = await createWorld({
    ring,
    keyUse,
    identify,
    clock,
    settings: SETTINGS,
    boards: [{ prefix: '/ops/queues', plugin: queuePages }],
  });
}
beforeEach(() => start());
afterEach(() => world.close());

const ask = (
  url: string,
  options: {
    key?: string;
    basic?: string;
    ip?: string;
    method?: 'GET' | 'POST' | 'DELETE';
    body?: object;
    host?: string;
    headers?: object;
  } = {},
) =>
  world.app.inject({
    method: options.method ?? 'GET',
    url,
    remoteAddress: options.ip ?? '127.0.0.1',
    headers: {
      ...(options.key === undefined ? {} : { authorization: `Bearer ${options.key}` }),
      ...(options.basic === undefined
        ? {}
        : { authorization: `Basic ${Buffer.from(`anyone:${options.basic}`).toString('base64')}` }),
      ...(options.host === undefined ? {} : { host: options.host }),
      ...options.headers,
    },
    ...(options.body === undefined ? {} : { payload: options.body }),
  });

async function make(body: object, key = TOKEN): Promise<{ id: string; key: string }> {
  const response = await ask('/ops/api/keys', { method: 'POST', body, key });
  expect(response.statusCode, response.body).toBe(201);
  return response.json();
}

describe('while no key exists', () => {
  it('this machine alone is served, as a reader', async () => {
    expect((await ask('/v1/documents', { ip: '::1' })).statusCode).toBe(200);
    expect((await ask('/v1/documents', { ip: '::ffff:127.0.0.1' })).statusCode).toBe(200);
    const other = await ask('/v1/documents', { ip: '10.1.2.3' });
    expect(other.statusCode).toBe(401);
    expect(other.json()).toMatchObject({ code: 'unauthorized', detail: expect.stringContaining('sluice key create') });
    expect((await ask('/healthz', { ip: '10.1.2.3' })).statusCode).toBe(200);
    for (const header of ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'])
      expect((await ask('/v1/documents', { headers: { [header]: 'x' } })).statusCode, header).toBe(401);
  });

  it('a proxy on this machine, or another user of it, gets no rights of an operator', async () => {
    for (const url of ['/ops/api/status', '/ops/api/keys', '/ops/api/dead-letters', '/ops/api/why?path=/', '/metrics'])
      expect((await ask(url)).statusCode, url).toBe(403);
    for (const url of ['/ops/api/keys', '/ops/api/reconcile', '/ops/api/reindex', '/ops/api/sources/remove', '/ops/api/verify'])
      expect((await ask(url, { method: 'POST', body: {} })).statusCode, url).toBe(403);
    // A browser asks for the password then.
    const page = await ask('/ops/queues/');
    expect([page.statusCode, page.headers['www-authenticate']]).toEqual([401, expect.stringContaining('Basic')]);
  });

  it('the operator token makes a caller on this machine an operator', async () => {
    for (const how of [{ key: TOKEN }, { basic: TOKEN }]) expect((await ask('/ops/api/status', how)).statusCode).toBe(200);
    expect((await ask('/ops/queues/', { basic: TOKEN })).statusCode).toBe(200);
    expect((await ask('/metrics', { key: TOKEN, ip: '::1' })).statusCode).toBe(200);
    expect((await ask('/metrics', { key: TOKEN, ip: '10.1.2.3' })).statusCode).toBe(401);
    expect((await ask('/metrics', { key: TOKEN, headers: { 'x-forwarded-for': '10.1.2.3' } })).statusCode).toBe(401);
    expect((await ask('/metrics', { key: `${TOKEN}t` })).statusCode).toBe(401);
  });

  it('a key that is none is refused all the same', async () => {
    expect((await ask('/v1/documents', { key: 'anything' })).statusCode).toBe(401);
  });
});

describe('once a key exists', () => {
  it('a call without is 401 on every route but health', async () => {
    await make({ name: 'boss', clearance: 5, role: 'operator' });
    for (const url of [
      '/v1/documents',
      '/v1/sources',
      '/v1/schema',
      '/ops/api/status',
      '/ops/api/keys',
      '/metrics',
      '/docs',
      '/openapi.json',
      '/ops/queues',
      '/nope',
    ]) {
      const response = await ask(url);
      expect(response.statusCode, url).toBe(401);
      expect(response.headers['www-authenticate']).toContain('Bearer');
    }
    expect((await ask('/v1/search', { method: 'POST', body: { query: 'x' } })).statusCode).toBe(401);
    expect((await ask('/healthz')).statusCode).toBe(200);
    expect((await ask('/readyz')).statusCode).toBe(200);
  });

  it('its holder is served from anywhere, by the names of this server', async () => {
    const { key } = await make({ name: 'boss', clearance: 5, role: 'operator' });
    const statusBy = async (host: string) => (await ask('/ops/api/status', { key, ip: '10.1.2.3', host })).statusCode;
    expect(await statusBy('sluice.internal:4180')).toBe(200);
    expect(await statusBy('Sluice.Internal')).toBe(200);
    // A browser that knows a key sends it for whatever name a foreign page has pointed here.
    expect(await statusBy('evil.example:4180')).toBe(403);
    expect(await statusBy('sluice.internal.evil.example')).toBe(403);
  });

  it('Basic works where browsers go, and nowhere else', async () => {
    const { key } = await make({ name: 'boss', clearance: 5, role: 'operator' });
    for (const url of ['/ops/api/status', '/openapi.json', '/docs/']) {
      expect((await ask(url, { basic: key })).statusCode, url).toBe(200);
    }
    for (const url of ['/v1/documents', '/v1/schema', '/metrics', '/opsx']) {
      expect((await ask(url, { basic: key })).statusCode, url).toBe(401);
    }
  });

  it('any holder may read what the API offers', async () => {
    const boss = await make({ name: 'boss', clearance: 5, role: 'operator' });
    const { key } = await make({ name: 'reader', clearance: 1 }, boss.key);
    for (const url of ['/openapi.json', '/docs/']) {
      expect((await ask(url, { key })).statusCode, url).toBe(200);
      expect((await ask(url, { basic: key })).statusCode, url).toBe(200);
      expect((await ask(url)).statusCode, url).toBe(401);
    }
  });

  it('a reader is refused what operators do', async () => {
    const boss = await make({ name: 'boss', clearance: 5, role: 'operator' });
    const { key } = await make({ name: 'reader', clearance: 2 }, boss.key);
    expect((await ask('/v1/documents', { key })).statusCode).toBe(200);
    expect((await ask('/ops/api/keys', { key })).statusCode).toBe(403);
    expect((await ask('/ops/api/keys', { method: 'POST', body: { name: 'x', clearance: 1 }, key })).statusCode).toBe(403);
  });

  it('of the role metrics reads /metrics and nothing else', async () => {
    const boss = await make({ name: 'boss', clearance: 5, role: 'operator' });
    const { key } = await make({ name: 'prometheus', clearance: 5, role: 'metrics' }, boss.key);
    await world.put({ docId: 'inbox/five.md', text: 'x', metadata: { security_level: 5 } });
    const metrics = await ask('/metrics', { key });
    expect(metrics.statusCode).toBe(200);
    expect(metrics.body).toContain('sluice_documents{source="inbox",status="indexed"} 1');
    for (const url of [
      '/v1/documents',
      '/v1/sources',
      '/v1/schema',
      '/ops/api/status',
      '/ops/api/keys',
      '/ops/queues/',
      '/openapi.json',
      '/docs/',
      '/nope',
    ])
      expect((await ask(url, { key })).statusCode, url).toBe(403);
    expect((await ask('/v1/search', { method: 'POST', body: { query: 'x' }, key })).statusCode).toBe(403);
  });

  it('its clearance and groups decide what is found', async () => {
    const boss = await make({ name: 'boss', clearance: 5, role: 'operator' });
    const two = await make({ name: 'two', clearance: 2 }, boss.key);
    const staff = await make({ name: 'staff', clearance: 4, groups: ['staff'] }, boss.key);
    await world.put({ docId: 'inbox/four.md', text: 'cobalt four', metadata: { security_level: 4 } });
    await world.put({ docId: 'inbox/staff.md', text: 'cobalt staff', metadata: { allowed_groups: ['staff'] } });
    await world.put({ docId: 'inbox/nobody.md', text: 'cobalt nobody', metadata: { allowed_groups: [] } });
    const found = async (key: string) => {
      const response = await ask('/v1/search', { method: 'POST', body: { query: 'cobalt', limit: 50 }, key });
      return response
        .json()
        .results.map((result: { doc_id: string }) => result.doc_id)
        .sort();
    };
    expect(await found(two.key)).toEqual([]);
    expect(await found(staff.key)).toEqual(['inbox/four.md', 'inbox/staff.md']);
    expect(await found(boss.key)).toEqual(['inbox/four.md', 'inbox/nobody.md', 'inbox/staff.md']);
  });

  it.each([
    ['garbage', 'slk_zz'],
    ['nothing', ''],
    ['a right id with another secret', undefined],
  ])('%s is 401', async (_name, text) => {
    const { id } = await make({ name: 'boss', clearance: 5, role: 'operator' });
    const key = text ?? `slk_${id}_${'A'.repeat(43)}`;
    expect((await ask('/v1/documents', { key })).statusCode).toBe(401);
  });

  it('is refused once it has expired, or was revoked', async () => {
    const boss = await make({ name: 'boss', clearance: 5, role: 'operator' });
    const short = await make({ name: 'short', clearance: 1, expires_at: '2026-01-01T00:01:00Z' }, boss.key);
    expect((await ask('/v1/documents', { key: short.key })).statusCode).toBe(200);
    now += 60_000;
    expect((await ask('/v1/documents', { key: short.key })).statusCode).toBe(401);
    const other = await make({ name: 'other', clearance: 1 }, boss.key);
    const revoked = await ask(`/ops/api/keys/${other.id}`, { method: 'DELETE', key: boss.key });
    expect([revoked.statusCode, revoked.body]).toEqual([204, '']);
    expect((await ask('/v1/documents', { key: other.key })).statusCode).toBe(401);
    expect((await ask('/ops/api/keys/none', { method: 'DELETE', key: boss.key })).statusCode).toBe(404);
  });

  it('is refused a second after another process revoked it', async () => {
    const boss = await make({ name: 'boss', clearance: 5, role: 'operator' });
    const other = await make({ name: 'other', clearance: 1 }, boss.key);
    expect((await ask('/v1/documents', { key: other.key })).statusCode).toBe(200);
    await keys.revoke(other.id);
    now += 1_000;
    expect((await ask('/v1/documents', { key: other.key })).statusCode).toBe(401);
  });

  it('is refused at once after its revocation, also when a list read before arrives after', async () => {
    const boss = await make({ name: 'boss', clearance: 5, role: 'operator' });
    const other = await make({ name: 'other', clearance: 1 }, boss.key);
    const list = keys.list.bind(keys);
    const old = await list();
    let deliver = (_: typeof old) => {};
    const delivery = new Promise<typeof old>((resolve) => (deliver = resolve));
    const asked = new Promise<void>((resolve) => {
      keys.list = () => {
        resolve();
        return delivery;
      };
    });
    now += 1_000;
    const reading = ask('/v1/documents', { key: boss.key });
    await asked;
    keys.list = list;
    await world.deps.ring.revoke(other.id);
    deliver(old);
    await reading;
    expect((await ask('/v1/documents', { key: other.key })).statusCode).toBe(401);
  });

  it('never shows its secret or hash again', async () => {
    const { key } = await make({ name: 'boss', clearance: 5, role: 'operator' });
    // What follows `slk_<id>_`; it may hold underscores itself.
    const secret = key.slice(17);
    expect(secret).toHaveLength(43);
    const { body } = await ask('/ops/api/keys', { key });
    expect(body).not.toContain(secret);
    expect(body).not.toContain('hash');
    expect(JSON.stringify(await keys.list())).not.toContain(secret);
  });

  it('is listed with its last use, to the minute', async () => {
    const boss = await make({ name: 'boss', clearance: 5, role: 'operator' });
    const idle = await make({ name: 'idle', clearance: 1 }, boss.key);
    now += 3_600_000;
    const listed = (await ask('/ops/api/keys', { key: boss.key })).json().keys as { id: string; last_used_at?: string }[];
    const used = new Map(listed.map(({ id, last_used_at }) => [id, last_used_at]));
    expect(used.get(boss.id)).toBe('2026-01-01T01:00:00.000Z');
    expect(used.get(idle.id)).toBeUndefined();
  });

  it('limited to sources opens nothing of others, on any route', async () => {
    const boss = await make({ name: 'boss', clearance: 5, role: 'operator' });
    const limits = { clearance: 5, sources: ['notes'] };
    const reader = await make({ name: 'reader', ...limits }, boss.key);
    const operator = await make({ name: 'operator', role: 'operator', ...limits }, boss.key);
    await world.put({ docId: 'inbox/other.md', text: 'cobalt other', metadata: { author: 'Ada' } });
    await world.put({ docId: 'notes/own.md', text: 'cobalt own' });
    world.queue.state.jobs.set('a', { source: 'inbox', path: 'waiting.md', cause: 'change', urgency: 'bulk' });
    for (const { key } of [reader, operator]) {
      for (const body of [
        { query: 'cobalt' },
        { query: 'cobalt by Ada', infer_filter: true, filter: { source: { $ne: 'x' } } },
      ]) {
        const found = (await ask('/v1/search', { method: 'POST', body, key })).json();
        expect(found.results.map(({ doc_id }: { doc_id: string }) => doc_id)).toEqual(['notes/own.md']);
        expect(JSON.stringify(found.inferred_filter ?? {})).not.toContain('Ada');
      }
      for (const rest of ['', '/chunks', '/text'])
        expect((await ask(`/v1/documents/inbox%2Fother.md${rest}`, { key })).statusCode).toBe(404);
      expect((await ask('/v1/documents/inbox%2Fwaiting.md', { key })).statusCode).toBe(404);
      const listed = (await ask('/v1/documents', { key })).json().documents as { doc_id: string }[];
      expect(listed.map(({ doc_id }) => doc_id)).toEqual(['notes/own.md']);
      expect((await ask('/v1/sources', { key })).body).not.toContain('inbox');
    }
    const act = (url: string, body: object) => ask(url, { method: 'POST', body, key: operator.key });
    for (const [url, body] of [
      ['/ops/api/reconcile', { source: 'inbox' }],
      ['/ops/api/reconcile', { doc_id: 'inbox/other.md' }],
      ['/ops/api/reindex', { source: 'inbox' }],
    ] as const)
      expect((await act(url, body)).statusCode, url).toBe(404);
    expect((await act('/ops/api/reconcile', {})).json().scans).toEqual([{ source: 'notes', request: 1 }]);
    expect((await act('/ops/api/reindex', {})).json()).toEqual({ documents: 1 });
    for (const url of ['/ops/api/status', '/metrics'])
      expect((await ask(url, { key: operator.key })).body, url).not.toContain('"inbox"');
    world.deps.explain = async () => ({ source: 'inbox', path: 'other.md', origins: {} });
    const why = (await ask('/ops/api/why?path=/data/inbox/other.md', { key: operator.key })).json();
    expect(why).toEqual({ path: '/data/inbox/other.md', origins: {}, note: 'lies in no source of this key' });
    // It hands out no more than it opens, and takes nothing away that opens more.
    for (const [sources, status] of [
      [undefined, 403],
      [['inbox'], 403],
      [['notes', 'inbox'], 403],
      [['notes'], 201],
    ])
      expect((await act('/ops/api/keys', { name: 'x', clearance: 1, sources })).statusCode).toBe(status);
    expect((await ask(`/ops/api/keys/${boss.id}`, { method: 'DELETE', key: operator.key })).statusCode).toBe(403);
  });

  it('grants no more than its holder has', async () => {
    const boss = await make({ name: 'boss', clearance: 5, role: 'operator' });
    const three = await make({ name: 'three', clearance: 3, role: 'operator', groups: ['a'] }, boss.key);
    const create = async (body: object) =>
      (await ask('/ops/api/keys', { method: 'POST', body: { name: 'x', ...body }, key: three.key })).statusCode;
    expect(await create({ clearance: 3, groups: ['a'] })).toBe(201);
    expect(await create({ clearance: 4 })).toBe(403);
    expect(await create({ clearance: 3, groups: ['b'] })).toBe(403);
    expect((await ask(`/ops/api/keys/${boss.id}`, { method: 'DELETE', key: three.key })).statusCode).toBe(403);
  });

  it('the operator token still opens the routes of operators, whatever keys exist or have expired', async () => {
    const reader = await make({ name: 'reader', clearance: 2 });
    const body = { name: 'boss', clearance: 5, role: 'operator', expires_at: '2026-01-02T00:00:00Z' };
    await make(body);
    for (const days of [0, 2]) {
      now += days * 86_400_000;
      expect((await ask('/v1/documents')).statusCode).toBe(401);
      expect((await ask('/ops/api/keys')).statusCode).toBe(401);
      expect((await ask('/ops/api/keys', { method: 'POST', body })).statusCode).toBe(401);
      expect((await ask(`/ops/api/keys/${reader.id}`, { method: 'DELETE' })).statusCode).toBe(401);
      expect((await ask('/ops/api/keys', { key: TOKEN })).statusCode).toBe(200);
      expect((await ask('/ops/api/keys', { key: TOKEN, ip: '10.1.2.3' })).statusCode).toBe(401);
    }
    // It grants more than its own clearance only while no operator has a key.
    await make({ ...body, expires_at: undefined });
    expect((await ask('/ops/api/keys', { method: 'POST', body: { name: 'x', clearance: 5 }, key: TOKEN })).statusCode).toBe(403);
  });

  it('strangers are readers where the configuration lets them in', async () => {
    await world.close();
    await start({ anonymous: true, anonymousClearance: 2 });
    const boss = await make({ name: 'boss', clearance: 5, role: 'operator' });
    await world.put({ docId: 'inbox/two.md', text: 'x', metadata: { security_level: 2 } });
    await world.put({ docId: 'inbox/three.md', text: 'x', metadata: { security_level: 3 } });
    const response = await ask('/v1/documents');
    expect(response.json().documents).toHaveLength(1);
    expect((await ask('/ops/api/status')).statusCode).toBe(403);
    expect((await ask('/v1/documents', { key: 'wrong' })).statusCode).toBe(401);
    expect((await ask('/ops/api/status', { key: boss.key })).statusCode).toBe(200);
  });
});

describe('limits', () => {
  it('a key that calls too often is told when to come back, others are not', async () => {
    const boss = await make({ name: 'boss', clearance: 5, role: 'operator' });
    const busy = await make({ name: 'busy', clearance: 1 }, boss.key);
    let limited: Awaited<ReturnType<typeof ask>> | undefined;
    for (let n = 0; n < 500 && limited === undefined; n += 1) {
      const response = await ask('/v1/schema', { key: busy.key });
      if (response.statusCode === 429) limited = response;
    }
    expect(limited?.json().code).toBe('rate_limited');
    expect(Number(limited?.headers['retry-after'])).toBeGreaterThan(0);
    expect((await ask('/v1/schema', { key: boss.key })).statusCode).toBe(200);
    now += 1_000;
    expect((await ask('/v1/schema', { key: busy.key })).statusCode).toBe(200);
  });

  it('an address that tries keys is slowed down, its good keys are not', async () => {
    const boss = await make({ name: 'boss', clearance: 5, role: 'operator' });
    const statuses = [];
    for (let n = 0; n < 15; n += 1) statuses.push((await ask('/v1/schema', { key: 'wrong', ip: '10.0.0.9' })).statusCode);
    expect(statuses.slice(0, 10)).toEqual(Array(10).fill(401));
    expect(statuses.slice(10)).toEqual(Array(5).fill(429));
    expect((await ask('/v1/schema', { key: boss.key, ip: '10.0.0.9' })).statusCode).toBe(200);
  });
});

describe('limits that are set', () => {
  it('hold for calls, for wrong keys and for bodies', async () => {
    await world.close();
    await start({ calls: { perSecond: 1, burst: 2 }, badKeys: { perSecond: 1, burst: 1 } });
    const boss = await make({ name: 'boss', clearance: 5, role: 'operator' });
    const statusOf = async (key: string) => (await ask('/v1/schema', { key, ip: '10.0.0.9' })).statusCode;
    expect([await statusOf(boss.key), await statusOf(boss.key), await statusOf(boss.key)]).toEqual([200, 200, 429]);
    expect([await statusOf('wrong'), await statusOf('wrong')]).toEqual([401, 429]);
    now += 1_000;
    expect([await statusOf(boss.key), await statusOf(boss.key), await statusOf('wrong')]).toEqual([200, 429, 401]);

    await world.close();
    world = await createWorld({ settings: { ...SETTINGS, bodyBytes: 16_384 } });
    const body = (length: number) =>
      ask('/v1/search', { method: 'POST', body: { query: 'x', filter: { author: 'x'.repeat(length) } } });
    expect((await body(16_000)).statusCode).toBe(200);
    expect((await body(17_000)).json()).toMatchObject({ status: 413, code: 'too_large' });
  });
});

describe('listening where others reach the API', () => {
  const bind = (host: string, hostWithoutKey = false, corsOrigins: string[] = []) =>
    requireKeyToBind({ host, hostWithoutKey, corsOrigins }, world.deps);

  it('needs a key that still opens, but for loopback', async () => {
    for (const host of ['127.0.0.1', '127.0.0.2', '::1', 'localhost']) await bind(host);
    for (const host of ['0.0.0.0', '::', '192.168.1.5', 'sluice.internal', '127.evil.example']) {
      await expect(bind(host)).rejects.toMatchObject({
        code: 'invalid_configuration',
        message: expect.stringContaining('key create'),
      });
      await bind(host, true);
    }
    await make({ name: 'short', clearance: 1, expires_at: '2026-01-01T00:01:00Z' });
    await bind('0.0.0.0');
    now += 60_000;
    await expect(bind('0.0.0.0')).rejects.toMatchObject({ code: 'invalid_configuration' });
  });

  it('needs a key as well where pages of every origin may call', async () => {
    const refused = { code: 'invalid_configuration', message: expect.stringContaining('api.cors_origins') };
    await bind('127.0.0.1', false, ['https://app.example.org']);
    await expect(bind('127.0.0.1', false, ['*'])).rejects.toMatchObject(refused);
    await expect(bind('0.0.0.0', true, ['*'])).rejects.toMatchObject(refused);
    await make({ name: 'reader', clearance: 1 });
    await bind('127.0.0.1', false, ['*']);
  });

  it('is not decided while keys can not be read', async () => {
    keys.broken = true;
    await bind('127.0.0.1');
    await expect(bind('0.0.0.0')).rejects.toMatchObject({ code: 'not_ready' });
  });
});

describe('while the store does not answer', () => {
  it('known keys serve for a minute, then nobody is let in', async () => {
    const boss = await make({ name: 'boss', clearance: 5, role: 'operator' });
    await ask('/v1/schema', { key: boss.key });
    keys.broken = true;
    now += 30_000;
    expect((await ask('/v1/schema', { key: boss.key })).statusCode).toBe(200);
    expect((await ask('/v1/schema')).statusCode).toBe(401);
    now += 40_000;
    const response = await ask('/v1/schema', { key: boss.key });
    expect(response.statusCode).toBe(503);
    expect(response.json().code).toBe('not_ready');
  });
});

describe('bodies of POST /ops/api/keys', () => {
  it.each([
    {},
    { name: '', clearance: 1 },
    { name: 'x' },
    { name: 'x', clearance: 0 },
    { name: 'x', clearance: 6 },
    { name: 'x', clearance: '1' },
    { name: 'x', clearance: 1, role: 'admin' },
    { name: 'x', clearance: 1, groups: 'a' },
    { name: 'x', clearance: 1, groups: [''] },
    { name: 'x', clearance: 1, expires_at: 'tomorrow' },
    { name: 'x', clearance: 1, expires_at: '2020-01-01T00:00:00Z' },
    { name: 'x', clearance: 1, nope: 1 },
  ])('%j is refused', async (body) => {
    const response = await ask('/ops/api/keys', { method: 'POST', body, key: TOKEN });
    expect(response.statusCode).toBe(400);
    expect(response.json().code).toBe('invalid_request');
    expect(await keys.list()).toEqual([]);
  });
});

describe('cross-origin calls', () => {
  it('of every origin are not served without a key once the last key is gone', async () => {
    await world.close();
    await start({ anyOrigin: true });
    const { id } = await make({ name: 'reader', clearance: 1 });
    await ask(`/ops/api/keys/${id}`, { method: 'DELETE', key: TOKEN });
    const settings = { ...SETTINGS, corsOrigins: ['*'] };
    const { deps } = world;
    await world.close();
    world = await createWorld({ ring: deps.ring, identify: deps.identify, clock, settings });
    expect((await ask('/v1/schema', { headers: { origin: 'https://evil.example.org' } })).statusCode).toBe(403);
    expect((await ask('/v1/schema')).statusCode).toBe(200);
  });

  it('are answered for the origins of the configuration alone', async () => {
    await world.close();
    world = await createWorld({ settings: { ...SETTINGS, corsOrigins: ['https://app.example.org'] } });
    const call = (origin: string, method: 'GET' | 'OPTIONS') =>
      world.app.inject({ method, url: '/v1/schema', headers: { origin, 'access-control-request-method': 'GET' } });
    const good = await call('https://app.example.org', 'GET');
    expect([good.statusCode, good.headers['access-control-allow-origin']]).toEqual([200, 'https://app.example.org']);
    const preflight = await call('https://app.example.org', 'OPTIONS');
    expect([preflight.statusCode, preflight.headers['access-control-allow-headers']]).toEqual([
      204,
      'authorization, content-type',
    ]);
    for (const method of ['GET', 'OPTIONS'] as const) {
      const bad = await call('https://evil.example.org', method);
      expect([bad.statusCode, bad.headers['access-control-allow-origin']]).toEqual([403, undefined]);
    }
  });
});
