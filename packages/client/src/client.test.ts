import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { createClient } from './client.js';

let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const asked: string[] = [];
  server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    answer(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

const send = (response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}) => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
};
const busy = {
  code: 'rate_limited',
  detail: 'Too many requests',
  request_id: 'r',
  retry_after_s: 0,
  type: 'urn:sluice:problem:rate_limited',
};
const found = { results: [], applied_filter: {}, degraded: [], took_ms: 1 };

it('sends a read again after 429, as often as it may, and gives the whole problem in the end', async () => {
  let left = 2;
  const { url, asked } = await serve((_, response) => {
    left -= 1;
    if (left < 0) send(response, 200, found);
    else send(response, 429, busy, { 'retry-after': '0' });
  });
  expect(await createClient({ url }).search({ query: 'x' })).toEqual(found);
  expect(asked).toHaveLength(3);
  left = 2;
  await expect(createClient({ url, retries: 1 }).search({ query: 'x' })).rejects.toMatchObject({
    code: 'rate_limited',
    details: { ...busy, status: 429 },
  });
  expect(asked).toHaveLength(5);
});

it('sends what changes something, and what must wait too long, once', async () => {
  const { url, asked } = await serve((request, response) =>
    send(response, 503, { ...busy, code: 'not_ready' }, { 'retry-after': request.url === '/v1/search' ? '3600' : '0' }),
  );
  const client = createClient({ url });
  await expect(client.POST('/ops/api/reconcile', { body: {} })).rejects.toMatchObject({ code: 'not_ready' });
  await expect(client.search({ query: 'x' })).rejects.toMatchObject({ code: 'not_ready' });
  expect(asked).toEqual(['POST /ops/api/reconcile', 'POST /v1/search']);
});

it('lists documents over all pages', async () => {
  const { url, asked } = await serve((request, response) => {
    const cursor = new URL(request.url ?? '', 'http://x').searchParams.get('cursor');
    send(response, 200, {
      documents: [{ doc_id: cursor ?? 'first' }],
      ...(cursor === 'b' ? {} : { next_cursor: cursor === null ? 'a' : 'b' }),
    });
  });
  const ids: string[] = [];
  for await (const { doc_id } of createClient({ url }).documents.list({ source: 'inbox', limit: 1 })) ids.push(doc_id);
  expect(ids).toEqual(['first', 'a', 'b']);
  expect(asked[1]).toBe('GET /v1/documents?limit=1&source=inbox&cursor=a');
});

it('gives up after its time limit, and when its signal says so', async () => {
  const { url } = await serve(() => undefined);
  await expect(createClient({ url, timeoutMs: 20 }).search({ query: 'x' })).rejects.toMatchObject({ code: 'not_ready' });
  const reason = new Error('not wanted any more');
  const stop = new AbortController();
  const waiting = createClient({ url }).search({ query: 'x' }, { signal: stop.signal });
  stop.abort(reason);
  await expect(waiting).rejects.toBe(reason);
});
