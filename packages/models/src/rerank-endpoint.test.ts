import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createRerankEndpoint } from './rerank-endpoint.js';

interface Body {
  query: string;
  documents?: string[];
  texts?: string[];
}

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/** An endpoint on this machine; an answer of undefined never comes. */
async function serve(answer: (body: Body) => { status?: number; body: unknown } | undefined) {
  const calls: { body: Body; url: string | undefined; key: string | undefined }[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += String(part);
    const body: Body = JSON.parse(text);
    calls.push({ body, url: request.url, key: request.headers.authorization });
    const answered = answer(body);
    if (answered === undefined) return;
    response.statusCode = answered.status ?? 200;
    response.end(JSON.stringify(answered.body));
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  stops.push(() => {
    server.closeAllConnections();
    server.close();
  });
  // Sound: a server that listens on a port has an address of this shape.
  const { port } = server.address() as AddressInfo;
  return { calls, baseUrl: `http://127.0.0.1:${port}/v1/` };
}

/** A text's score is the number it is; rows come best first, as endpoints send them. */
const ranked = (texts: string[], name: string) =>
  texts.map((text, index) => ({ index, [name]: Number(text) })).sort((a, b) => Number(b[name]) - Number(a[name]));

describe('createRerankEndpoint', () => {
  it('gives scores in the order of the texts', async () => {
    const { baseUrl, calls } = await serve(({ documents = [] }) => ({ body: { results: ranked(documents, 'relevance_score') } }));
    const reranker = createRerankEndpoint({ baseUrl, model: 'm', apiKey: 'secret' });
    expect(await reranker.rerank('q', ['0.2', '0.9', '0.5'])).toEqual([0.2, 0.9, 0.5]);
    expect(calls).toEqual([
      { body: { model: 'm', query: 'q', documents: ['0.2', '0.9', '0.5'], top_n: 3 }, url: '/v1/rerank', key: 'Bearer secret' },
    ]);
    expect(await reranker.rerank('q', [])).toEqual([]);
  });

  it('finds out that an endpoint wants texts, once, and sends no more than it takes', async () => {
    const { baseUrl, calls } = await serve(({ texts }) =>
      texts === undefined ? { status: 422, body: {} } : { body: ranked(texts, 'score') },
    );
    const texts = Array.from({ length: 70 }, (_, n) => String(n / 100));
    expect(await createRerankEndpoint({ baseUrl, model: 'm' }).rerank('q', texts)).toEqual(texts.map(Number));
    expect(calls.map(({ body }) => body.texts?.length)).toEqual([undefined, 32, 32, 6]);
  });

  it('brings logits into 0..1', async () => {
    const { baseUrl } = await serve(({ documents = [] }) => ({ body: { results: ranked(documents, 'relevance_score') } }));
    const scores = await createRerankEndpoint({ baseUrl, model: 'm' }).rerank('q', ['-4', '0', '4']);
    expect(scores).toEqual([-4, 0, 4].map((logit) => 1 / (1 + Math.exp(-logit))));
  });

  it.each([
    ['refuses', () => ({ status: 500, body: { error: 'x' } })],
    ['gives too few scores', () => ({ body: { results: [] } })],
    ['gives something else', () => ({ body: { message: 'hello' } })],
    ['gives no answer', () => undefined],
  ])('an endpoint that %s is model_unavailable', async (_name, answer) => {
    const { baseUrl } = await serve(answer);
    const reranker = createRerankEndpoint({ baseUrl, model: 'm', timeoutMs: 500 });
    await expect(reranker.rerank('q', ['1'])).rejects.toMatchObject({ code: 'model_unavailable' });
  });

  it("ends with the caller's reason", async () => {
    const { baseUrl } = await serve(() => undefined);
    const reason = new Error('gone');
    await expect(createRerankEndpoint({ baseUrl, model: 'm' }).rerank('q', ['1'], AbortSignal.abort(reason))).rejects.toBe(
      reason,
    );
  });
});
