import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWorld, type World } from './world.js';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

function isProblem(response: { statusCode: number; headers: Record<string, unknown>; json(): unknown }, code: string) {
  expect(response.headers['content-type']).toMatch(/^application\/problem\+json/);
  expect(response.json()).toMatchObject({
    type: `urn:sluice:problem:${code}`,
    title: expect.any(String),
    detail: expect.any(String),
    status: response.statusCode,
    code,
    request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
  });
}

const POSTS = [
  '/v1/search',
  '/v1/search/batch',
  '/mcp',
  '/ops/api/reconcile',
  '/ops/api/dead-letters/retry',
  '/ops/api/dead-letters/discard',
  '/ops/api/verify',
  '/ops/api/reindex',
  '/ops/api/sources/remove',
  '/ops/api/keys',
];

describe('every route that takes a body', () => {
  it.each(POSTS)('%s answers broken bodies with 4xx and a code', async (url) => {
    const json = { 'content-type': 'application/json' };
    const cases: [string, Record<string, string>, string | Buffer | undefined, number, string][] = [
      ['malformed', json, '{"query":', 400, 'invalid_request'],
      ['empty', json, '', 400, 'invalid_request'],
      ['a list', json, '[]', 400, 'invalid_request'],
      ['null', json, 'null', 400, 'invalid_request'],
      ['text', json, '"x"', 400, 'invalid_request'],
      ['bad UTF-8', json, Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]), 400, 'invalid_request'],
      ['__proto__', json, '{"__proto__":{"a":1}}', 400, 'invalid_request'],
      ['constructor', json, '{"constructor":{"prototype":{"a":1}}}', 400, 'invalid_request'],
      ['unknown key', json, '{"query":"x","surprise":1}', 400, 'invalid_request'],
      ['huge', json, `{"query":"${'x'.repeat(1_100_000)}"}`, 413, 'too_large'],
      ['deep', json, `{"surprise":${'['.repeat(20_000)}${']'.repeat(20_000)}}`, 400, 'invalid_request'],
      ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 'query=x', 415, 'invalid_request'],
      ['text/plain', { 'content-type': 'text/plain' }, 'x', 415, 'invalid_request'],
      ['a nameless type', { 'content-type': 'nonsense' }, 'x', 415, 'invalid_request'],
      ['no body', {}, undefined, 400, 'invalid_request'],
    ];
    for (const [name, headers, payload, status, code] of cases) {
      const response = await world.app.inject({ method: 'POST', url, headers, ...(payload === undefined ? {} : { payload }) });
      expect(response.statusCode, name).toBe(status);
      isProblem(response, code);
    }
  });
});

describe('addresses', () => {
  it.each([
    ['GET', '/nope', 404, 'not_found'],
    ['GET', '/v1/documents/a/b', 404, 'not_found'],
    ['GET', '/v1/documents/%ff', 400, 'invalid_request'],
    ['GET', '/v1/documents/%', 400, 'invalid_request'],
    ['GET', '/v1/documents/%E0%A4%A', 400, 'invalid_request'],
    ['DELETE', '/v1/documents/x', 405, 'method_not_allowed'],
    ['GET', '/v1/search', 405, 'method_not_allowed'],
    ['PUT', '/ops/api/status', 405, 'method_not_allowed'],
  ] as const)('%s %s is answered %i %s', async (method, url, status, code) => {
    const response = await world.app.inject({ method, url });
    expect(response.statusCode).toBe(status);
    isProblem(response, code);
  });

  it('that are too long are answered 414', async () => {
    const response = await world.app.inject({ method: 'GET', url: `/v1/documents/${'x'.repeat(20_000)}` });
    expect(response.statusCode).toBe(414);
    isProblem(response, 'invalid_request');
  });

  it('knows no other method, whatever comes with it', async () => {
    const own = await createWorld();
    const address = new URL(await own.app.listen({ host: '127.0.0.1', port: 0 }));
    for (const [url, allow] of [
      ['/healthz', 'GET, HEAD'],
      ['/v1/search', 'POST'],
      ['/ops/api/keys', 'GET, HEAD, POST'],
    ]) {
      for (const method of ['QUERY', 'PUT', 'PATCH', 'TRACE', 'DELETE']) {
        for (const body of [undefined, 'x']) {
          const asked = request(new URL(url ?? '', address), {
            method,
            headers: body === undefined ? {} : { 'content-length': 1 },
          });
          asked.end(body);
          const [response] = (await once(asked, 'response')) as [IncomingMessage];
          response.resume();
          expect([response.statusCode, response.headers.allow], `${method} ${url} ${body}`).toEqual([405, allow]);
        }
      }
    }
    await own.close();
  });

  it('names the methods there are', async () => {
    const response = await world.app.inject({ method: 'GET', url: '/v1/search' });
    expect(response.headers.allow).toBe('POST');
  });
});

describe('Host and Origin', () => {
  const ask = (headers: Record<string, string>, url = '/healthz') => world.app.inject({ method: 'GET', url, headers });

  it.each(['localhost:4180', '127.0.0.1:4180', '[::1]:4180', 'LOCALHOST', '127.0.0.1'])('serves %s', async (host) => {
    expect((await ask({ host })).statusCode).toBe(200);
  });

  it.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example:4180',
    '10.0.0.1',
    '@',
    ' ',
    'localhost.',
    '127.0.0.1.',
    'user@localhost',
    'evil.example@localhost:4180',
    'localhost@evil.example',
    'localhost:',
    'localhost:0',
    'localhost:65536',
    'localhost:4180x',
    'localhost:4180:4180',
    'localhost/',
    'localhost:4180/evil.example',
    'localhost#evil.example',
    'localhost?x',
    'localhost evil.example',
    'localhost,evil.example',
    'http://localhost',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '127.0.0.01',
    '0.0.0.0',
    '0.0.0.0:4180',
    '::1',
    '[::]',
    '[::1',
    '::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]',
    '[::1%25lo]',
    '[localhost]',
    'ｌocalhost',
    'local%68ost',
  ])('refuses the host %j, on every route and with a key too', async (host) => {
    for (const url of ['/healthz', '/readyz', '/v1/schema', '/openapi.json', '/metrics', '/ops/api/status', '/nope']) {
      for (const authorization of [undefined, 'Bearer x']) {
        const response = await ask({ host, ...(authorization === undefined ? {} : { authorization }) }, url);
        expect(response.statusCode, url).toBe(403);
        isProblem(response, 'forbidden');
      }
    }
  });

  it('serves the address that a call comes in at, and no other', async () => {
    const own = await createWorld();
    const { port } = new URL(await own.app.listen({ host: '127.0.0.2', port: 0 }));
    const statusBy = (lines: string[]) => {
      return new Promise<string>((resolve, reject) => {
        const socket = connect(Number(port), '127.0.0.2', () =>
          socket.write(['GET /healthz HTTP/1.1', ...lines, 'Connection: close', '', ''].join('\r\n')),
        );
        let text = '';
        socket.on('data', (data) => {
          text += data.toString();
        });
        socket.on('end', () => resolve(text.slice(9, 12)));
        socket.on('error', reject);
      });
    };
    expect(await statusBy([`Host: 127.0.0.2:${port}`])).toBe('200');
    expect(await statusBy(['Host: 127.0.0.3'])).toBe('403');
    expect(await statusBy(['Host: localhost', 'Host: evil.example'])).toMatch(/^40[03]$/);
    expect(await statusBy(['Host: evil.example', 'Host: localhost'])).toMatch(/^40[03]$/);
    expect(await statusBy(['Host:'])).toMatch(/^40[03]$/);
    expect(await statusBy([])).toMatch(/^40[03]$/);
    await own.close();
  });

  it('serves the names that are set, and never the address that stands for all', async () => {
    const settings = {
      allowedHosts: ['0.0.0.0', 'Sluice.Example.org', '::'],
      corsOrigins: [],
      callsAtOnce: 200,
      bodyBytes: 1024,
    };
    const own = await createWorld({ settings });
    const statusBy = async (host: string) => (await own.app.inject({ url: '/healthz', headers: { host } })).statusCode;
    expect(await statusBy('sluice.example.ORG:443')).toBe(200);
    expect([await statusBy('0.0.0.0'), await statusBy('[::]'), await statusBy('a.sluice.example.org')]).toEqual([403, 403, 403]);
    await own.close();
  });

  it.each(['http://evil.example', 'null', 'http://localhost:9999', 'file://'])('refuses the origin %s', async (origin) => {
    expect((await ask({ host: 'localhost:4180', origin })).statusCode).toBe(403);
  });

  it('serves its own pages', async () => {
    expect((await ask({ host: 'localhost:4180', origin: 'http://localhost:4180' })).statusCode).toBe(200);
  });
});

describe('what is no HTTP', () => {
  it('is answered with a problem too', async () => {
    const own = await createWorld();
    const address = new URL(await own.app.listen({ host: '127.0.0.1', port: 0 }));
    for (const raw of [
      'NONSENSE\r\n\r\n',
      `GET / HTTP/1.1\r\nHost: x\r\nA: ${'x'.repeat(100_000)}\r\n\r\n`,
      'GET /healthz HTTP/1.1\r\nHost: localhost\r\nExpect: a-cake\r\nConnection: close\r\n\r\n',
    ]) {
      const answer = await new Promise<string>((resolve, reject) => {
        const socket = connect(Number(address.port), address.hostname, () => socket.write(raw));
        let text = '';
        socket.on('data', (data) => {
          text += data.toString();
        });
        socket.on('end', () => resolve(text));
        socket.on('error', reject);
      });
      expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
      expect(answer).toContain('"code":"invalid_request"');
    }
    await own.close();
  });
});

describe('an error inside', () => {
  it('is answered 500 without telling of the inside', async () => {
    const own = await createWorld();
    own.store.search = async () => {
      throw new Error('secret path /etc/shadow');
    };
    const response = await own.app.inject({ method: 'POST', url: '/v1/search', payload: { query: 'x' } });
    expect(response.statusCode).toBe(500);
    isProblem(response, 'internal');
    expect(response.body).not.toContain('shadow');
    await own.close();
  });
});

describe('OpenAPI', () => {
  it('describes every route but the pages', async () => {
    const { paths } = (await world.app.inject({ method: 'GET', url: '/openapi.json' })).json();
    expect(Object.keys(paths).sort()).toEqual([
      '/healthz',
      '/mcp',
      '/metrics',
      '/ops/api/dead-letters',
      '/ops/api/dead-letters/discard',
      '/ops/api/dead-letters/retry',
      '/ops/api/feedback',
      '/ops/api/keys',
      '/ops/api/keys/{id}',
      '/ops/api/models',
      '/ops/api/queues/pause',
      '/ops/api/queues/resume',
      '/ops/api/reconcile',
      '/ops/api/reindex',
      '/ops/api/sources/remove',
      '/ops/api/sources/{name}',
      '/ops/api/status',
      '/ops/api/tasks/{id}',
      '/ops/api/verify',
      '/ops/api/why',
      '/readyz',
      '/v1/answer',
      '/v1/context',
      '/v1/documents',
      '/v1/documents/{doc_id}',
      '/v1/documents/{doc_id}/chunks',
      '/v1/documents/{doc_id}/text',
      '/v1/feedback',
      '/v1/schema',
      '/v1/search',
      '/v1/search/batch',
      '/v1/sources',
    ]);
  });

  it('serves the pages', async () => {
    const response = await world.app.inject({ method: 'GET', url: '/docs/' });
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toContain('text/html');
  });
});
