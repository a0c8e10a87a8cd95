import { createMetrics } from '@sluice/telemetry';
import { type EmbeddingServer, type Misbehaviour, sendVectors, startEmbeddingServer, until } from '@sluice/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEmbeddingEndpoint, type EmbeddingEndpointOptions } from './embedding-endpoint.js';
import { openModel } from './open-model.js';
import { createPlainTokenizer } from './plain-tokenizer.js';

let server: EmbeddingServer;
beforeEach(async () => {
  server = await startEmbeddingServer(8);
});
afterEach(() => server.close());

function connect(options: Partial<EmbeddingEndpointOptions> = {}) {
  const slept: number[] = [];
  let now = 0;
  const clock = {
    now: Date.now,
    monotonic: () => now,
    async sleep(ms: number) {
      slept.push(ms);
      now += ms;
    },
  };
  const endpoint = createEmbeddingEndpoint({
    baseUrl: server.baseUrl,
    model: 'small',
    id: 'small@test',
    tokenizer: createPlainTokenizer(512),
    clock,
    ...options,
  });
  return { endpoint, slept, advance: (ms: number) => (now += ms) };
}

const texts = (count: number, from = 0) => Array.from({ length: count }, (_, n) => `stone number${from + n}`);
const status =
  (code: number, headers: Record<string, string> = {}): Misbehaviour =>
  (_, response) =>
    void response.writeHead(code, headers).end('{"error":{"message":"stone number0 is no good"}}');
/** Behaves so until the request of that number, counted from 1. */
function behaveUntil(last: number, behaviour: Misbehaviour): void {
  server.behave = (request, response, vectors) => {
    if (server.requests.length <= last) behaviour(request, response, vectors);
    else sendVectors(response, vectors);
  };
}

describe('an endpoint that works', () => {
  it('gives unit vectors in the order of the texts, whatever the order and length of its answer', async () => {
    server.behave = (_, response, vectors) => {
      const data = vectors.map((vector, index) => ({ index, embedding: vector.map((value) => 3 * value) })).reverse();
      response.end(JSON.stringify({ data }));
    };
    const { endpoint } = connect({ apiKey: 'secret' });
    const [one, two] = await endpoint.embed(['stone by the gate', 'another lamp']);
    server.behave = undefined;
    expect((await connect().endpoint.embed(['another lamp']))[0]).toEqual(two);
    expect(Math.hypot(...(one ?? []))).toBeCloseTo(1, 6);
    expect(server.requests[0]).toEqual({
      model: 'small',
      input: ['stone by the gate', 'another lamp'],
      authorization: 'Bearer secret',
      url: '/v1/embeddings',
    });
    expect(endpoint.dimensions).toBe(8);
  });

  it('is sent no more texts a request and no more requests at a time than it may', async () => {
    const held: (() => void)[] = [];
    server.behave = (_, response, vectors) => {
      held.push(() => sendVectors(response, vectors));
      if (server.requests.length >= 3) for (const answer of held.splice(0)) answer();
    };
    const { endpoint } = connect({ batch: 10, concurrency: 3 });
    const calls = await Promise.all([
      endpoint.embed(texts(95)),
      ...Array.from({ length: 30 }, (_, n) => endpoint.embed(texts(1, n))),
    ]);
    expect(calls.map((vectors) => vectors.length)).toEqual([95, ...Array.from({ length: 30 }, () => 1)]);
    expect(Math.max(...server.requests.map(({ input }) => input.length))).toBe(10);
    expect(server.most).toBe(3);
  });

  it('answers calls at the same time by shared requests, and a large call does not hold up small ones', async () => {
    const { endpoint } = connect({ batch: 16, concurrency: 1 });
    const first = endpoint.embed(['first']);
    const ended: string[] = [];
    const large = endpoint.embed(texts(160)).then(() => ended.push('large'));
    const small = Array.from({ length: 15 }, (_, n) => endpoint.embed(texts(1, 1000 + n)).then(() => ended.push('small')));
    await Promise.all([first, large, ...small]);
    expect(ended.indexOf('large')).toBe(15);
    expect(server.requests).toHaveLength(1 + Math.ceil(175 / 16));
  });

  it('is sent the prefix of each kind of text, which counts', async () => {
    const { endpoint } = connect({ passagePrefix: 'passage: ', queryPrefix: 'query: ' });
    await endpoint.embed(['a']);
    await endpoint.embed(['b'], undefined, { as: 'query' });
    expect(server.requests.map(({ input }) => input)).toEqual([['passage: a'], ['query: b']]);
    expect([endpoint.tokenizer.count('a'), endpoint.queryTokenizer.count('a')]).toEqual([6, 6]);
    await expect(endpoint.embed(['word '.repeat(508)])).rejects.toMatchObject({ code: 'limit_exceeded' });
    expect(await endpoint.embed(['word '.repeat(507)])).toHaveLength(1);
  });

  it('counts requests, texts, tokens and what they cost', async () => {
    const metrics = createMetrics({ role: 'test' });
    const { endpoint } = connect({ metrics, batch: 2, pricePerMillionTokens: 1000 });
    await endpoint.embed(texts(4));
    server.behave = status(400);
    await endpoint.embed(['x']).catch(() => undefined);
    const value = async (name: string) =>
      (await metrics.registry.getMetricsAsJSON())
        .find((metric) => metric.name === name)
        ?.values.map(({ value, labels }) => ({
          ...labels,
          value,
        }));
    expect(await value('sluice_embedding_requests_total')).toEqual([
      { outcome: 'ok', value: 2 },
      { outcome: 'refused', value: 2 },
    ]);
    expect(await value('sluice_embeddings_computed_total')).toEqual([{ value: 4 }]);
    expect(await value('sluice_embedding_tokens_total')).toEqual([{ value: 14 }]);
    expect(await value('sluice_embedding_cost_total')).toEqual([{ value: 0.014 }]);
  });

  it('is used at the very address where that is whole, as Azure has it', async () => {
    const { endpoint } = connect({ baseUrl: `${server.baseUrl}/deployments/d/embeddings?api-version=1` });
    await endpoint.embed(['a']);
    expect(server.requests[0]?.url).toBe('/v1/deployments/d/embeddings?api-version=1');
  });
});

describe('an endpoint that limits, fails, is slow or cuts off', () => {
  it('is asked again after the pause that it asks for, which all requests keep', async () => {
    behaveUntil(2, status(429, { 'retry-after': '7' }));
    const { endpoint, slept } = connect({ batch: 1, concurrency: 2 });
    expect(await endpoint.embed(texts(6))).toHaveLength(6);
    expect(slept.filter((ms) => ms === 7000).length).toBeGreaterThan(0);
    expect(server.requests).toHaveLength(8);
  });

  it('is not waited for here when it asks for a long pause', async () => {
    server.behave = status(429, { 'retry-after': '600' });
    const { endpoint, advance } = connect();
    await expect(endpoint.embed(['a'])).rejects.toMatchObject({ code: 'embed_failed', kind: 'rate_limited' });
    await expect(endpoint.checkReady()).rejects.toThrow(/another 600 s/);
    expect(server.requests).toHaveLength(1);
    server.behave = undefined;
    advance(600_001);
    await endpoint.checkReady();
  });

  it.each<[string, Misbehaviour]>([
    ['is busy', status(503)],
    ['has a fault', status(500)],
    [
      'cuts its answer off',
      (_, response) => void response.writeHead(200, { 'content-length': '999' }).write('{"data":[', () => response.destroy()),
    ],
    ['closes the connection', (_, response) => void response.destroy()],
    ['answers no JSON', (_, response) => void response.end('<html>')],
    ['gives too few vectors', (_, response, vectors) => sendVectors(response, vectors.slice(1))],
    [
      'gives a vector twice',
      (_, response, [vector = []]) =>
        void response.end(JSON.stringify({ data: [0, 0, 0].map((index) => ({ index, embedding: vector })) })),
    ],
    [
      'gives vectors of another length',
      (_, response, vectors) =>
        sendVectors(
          response,
          vectors.map((vector) => vector.slice(1)),
        ),
    ],
    [
      'gives no numbers',
      (_, response, vectors) =>
        sendVectors(
          response,
          vectors.map((vector) => vector.map(() => 'x')),
        ),
    ],
    [
      'gives null',
      (_, response, vectors) =>
        sendVectors(
          response,
          vectors.map((vector) => vector.map(() => null)),
        ),
    ],
    [
      'gives zeros',
      (_, response, vectors) =>
        sendVectors(
          response,
          vectors.map((vector) => vector.map(() => 0)),
        ),
    ],
    ['redirects', status(302, { location: 'http://127.0.0.1:9/' })],
  ])('that %s is asked again, and fails its texts after the last try', async (_name, behaviour) => {
    behaveUntil(3, behaviour);
    const { endpoint, slept } = connect({ dimensions: 8 });
    expect(await endpoint.embed(texts(3))).toHaveLength(3);
    expect(server.requests).toHaveLength(4);
    expect(slept).toHaveLength(3);
    server.behave = behaviour;
    const error = await endpoint.embed(texts(3)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'embed_failed', kind: 'transient', details: { endpoint: new URL(server.baseUrl).host } });
    expect(server.requests).toHaveLength(8);
    await expect(endpoint.checkReady()).rejects.toMatchObject({ code: 'embed_failed' });
  });

  it('that does not answer in time is given up', async () => {
    server.behave = () => {};
    const { endpoint } = connect({ timeoutMs: 50, attempts: 2 });
    await expect(endpoint.embed(['a'])).rejects.toThrow(/did not answer within 50 ms/);
    expect(server.requests).toHaveLength(2);
  });

  it('is asked for nothing more once nobody waits', async () => {
    let closed = 0;
    server.behave = (_, response) => void response.on('close', () => closed++);
    const { endpoint } = connect({ concurrency: 1, batch: 2 });
    const control = new AbortController();
    const reason = new Error('no longer wanted');
    const failure = expect(endpoint.embed(texts(4), control.signal)).rejects.toBe(reason);
    await until(() => server.requests.length === 1);
    control.abort(reason);
    await failure;
    await until(() => closed === 1);
    server.behave = undefined;
    expect(await endpoint.embed(['a'])).toHaveLength(1);
    expect(server.requests).toHaveLength(2);
  });

  it('fails what is in progress when it is closed', async () => {
    server.behave = () => {};
    const { endpoint } = connect();
    const failure = expect(endpoint.embed(['a'])).rejects.toMatchObject({ code: 'embed_failed' });
    await endpoint.close();
    await failure;
  });
});

describe('an endpoint that refuses', () => {
  it('one text fails that text alone, for good, and without repeating it', async () => {
    server.behave = (request, response, vectors) => {
      if (request.input.includes('poison')) status(400)(request, response, vectors);
      else sendVectors(response, vectors);
    };
    const { endpoint } = connect({ batch: 16, concurrency: 1 });
    const blocker = endpoint.embed(['blocker']);
    const poison = endpoint.embed(['poison']);
    const others = Array.from({ length: 7 }, (_, n) => endpoint.embed(texts(1, n)));
    const error = await poison.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'embed_failed', kind: 'permanent' });
    expect(String(error)).not.toMatch(/stone|poison/);
    await blocker;
    for (const other of others) expect(await other).toHaveLength(1);
  });

  it('every text is away, not the text at fault', async () => {
    server.behave = status(400);
    const { endpoint } = connect();
    await expect(endpoint.embed(['a'])).rejects.toMatchObject({ code: 'embed_failed', kind: 'transient' });
  });

  it('large requests gets smaller ones from then on', async () => {
    server.behave = (request, response, vectors) => {
      if (request.input.length > 8) status(413)(request, response, vectors);
      else sendVectors(response, vectors);
    };
    const { endpoint } = connect({ batch: 32, concurrency: 1 });
    expect(await endpoint.embed(texts(64))).toHaveLength(64);
    const before = server.requests.length;
    expect(await endpoint.embed(texts(64))).toHaveLength(64);
    expect(server.requests.slice(before).map(({ input }) => input.length)).toEqual(Array.from({ length: 8 }, () => 8));
  });

  it('the parameter dimensions is asked without it', async () => {
    server.behave = (request, response, vectors) => {
      if (request.dimensions === undefined) sendVectors(response, vectors);
      else status(400)(request, response, vectors);
    };
    const { endpoint } = connect({ dimensions: 8 });
    await endpoint.checkReady();
    expect(await endpoint.embed(['a'])).toHaveLength(1);
    expect(server.requests.map(({ dimensions }) => dimensions)).toEqual([8, undefined, undefined]);
  });
});

describe('openModel', () => {
  const open = (more: Partial<NonNullable<Parameters<typeof openModel>[0]['endpoint']>> = {}, maxTokens = 64) =>
    openModel(
      {
        model: 'small',
        threads: 1,
        maxTokens,
        endpoint: { baseUrl: server.baseUrl, batch: 8, concurrency: 2, timeoutMs: 5000, pricePerMillionTokens: 0, ...more },
      },
      { checksLimit: true },
    );

  it('asks the endpoint for its dimensions', async () => {
    expect((await open()).dimensions).toBe(8);
  });

  it('tries a question twice, and does not wait out a pause that the endpoint asks for', async () => {
    const { embed } = await openModel(
      {
        model: 'small',
        threads: 1,
        endpoint: { baseUrl: server.baseUrl, dimensions: 8, batch: 8, concurrency: 2, timeoutMs: 5000, pricePerMillionTokens: 0 },
      },
      { urgent: true },
    );
    const before = server.requests.length;
    server.behave = status(502);
    await expect(embed(['why stone'], undefined, { as: 'query' })).rejects.toMatchObject({ code: 'embed_failed' });
    expect(server.requests.length - before).toBe(2);
    server.behave = status(429, { 'retry-after': '20' });
    await expect(embed(['why stone'], undefined, { as: 'query' })).rejects.toMatchObject({ kind: 'rate_limited' });
    expect(server.requests.length - before).toBe(3);
  });

  it.each([401, 403, 404, 400])('takes the answer %d for a wrong configuration', async (code) => {
    server.behave = status(code);
    await expect(open()).rejects.toMatchObject({ code: 'invalid_configuration', message: new RegExp(String(code)) });
  });

  it('finds out that an endpoint cuts long texts silently', async () => {
    server.behave = (request, response, vectors) =>
      sendVectors(
        response,
        request.input.map((text, n) => (text.length > 100 ? (vectors[0] ?? []) : (vectors[n] ?? []))),
      );
    await expect(open()).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: /does not read a text of 64 tokens to its end: set embedding.max_tokens/,
    });
    expect(await open({}, 16)).toMatchObject({ maxTokens: 16 });
  });

  it('refuses vectors of another length than the configured one', async () => {
    await expect(open({ dimensions: 9 })).rejects.toMatchObject({ message: /8 dimensions, not 9/ });
  });

  it('waits for an endpoint that is away where only it knows the dimensions', async () => {
    server.behave = status(503);
    const opening = open();
    await until(() => server.requests.length === 1);
    server.behave = undefined;
    expect((await opening).dimensions).toBe(8);
    server.behave = status(503);
    expect((await open({ dimensions: 8 })).dimensions).toBe(8);
  });
});
