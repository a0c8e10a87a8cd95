import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock, LlmPart } from '@sluice/core';
import { until } from '@sluice/testkit';
import { afterEach, describe, expect, it } from 'vitest';
import { createLlm, type LlmOptions } from './llm.js';

type Handler = (request: IncomingMessage, response: ServerResponse, body: Record<string, unknown>) => void;

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** An endpoint on this machine whose answers are the test's. */
async function serve(handler: Handler) {
  const calls: { body: Record<string, unknown>; headers: IncomingMessage['headers']; url: string | undefined }[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (part: Buffer) => {
      text += part.toString();
    });
    request.on('end', () => {
      const body: Record<string, unknown> = JSON.parse(text);
      calls.push({ body, headers: request.headers, url: request.url });
      handler(request, response, body);
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  stops.push(
    () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  );
  // Sound: a server that listens on a port has an address of this shape.
  const { port } = server.address() as AddressInfo;
  return { calls, baseUrl: `http://127.0.0.1:${port}/v1/` };
}

/** Never waits; remembers how long it should have. */
function createInstantClock(): Clock & { slept: number[] } {
  const slept: number[] = [];
  return {
    slept,
    now: () => Date.parse('2026-01-01T00:00:00Z'),
    monotonic: () => 0,
    async sleep(ms) {
      slept.push(ms);
    },
  };
}

const MESSAGES = [{ role: 'user' as const, content: 'What boils?' }];
const completion = (content: string) =>
  JSON.stringify({ choices: [{ message: { role: 'assistant', content } }], usage: { prompt_tokens: 7, completion_tokens: 3 } });

function connect(baseUrl: string, more: Partial<LlmOptions> = {}) {
  const clock = createInstantClock();
  return { clock, llm: createLlm({ baseUrl, model: 'small', clock, ...more }) };
}

describe('complete', () => {
  it('sends a chat completion and reads its text and tokens', async () => {
    const { baseUrl, calls } = await serve((_, response) => response.end(completion('The kettle.')));
    const { llm } = connect(baseUrl, { apiKey: 'secret' });
    const answer = await llm.complete({ messages: MESSAGES, maxTokens: 50, temperature: 0, json: true });
    expect(answer).toEqual({ text: 'The kettle.', usage: { prompt_tokens: 7, completion_tokens: 3 } });
    expect(calls[0]?.url).toBe('/v1/chat/completions');
    expect(calls[0]?.headers.authorization).toBe('Bearer secret');
    expect(calls[0]?.body).toEqual({
      model: 'small',
      messages: MESSAGES,
      max_tokens: 50,
      temperature: 0,
      response_format: { type: 'json_object' },
    });
  });

  it('tries again while the endpoint is busy or fails, and waits as long as it asks', async () => {
    const replies: [number, Record<string, string>][] = [
      [429, { 'retry-after': '3' }],
      [503, {}],
      [429, { 'retry-after': 'Thu, 01 Jan 2026 00:00:09 GMT' }],
    ];
    const { baseUrl, calls } = await serve((_, response) => {
      const [status, headers] = replies[calls.length - 1] ?? [200, {}];
      response.writeHead(status, headers).end(status === 200 ? completion('ok') : '{}');
    });
    const { llm, clock } = connect(baseUrl, { attempts: 4, backoffMs: 100 });
    expect((await llm.complete({ messages: MESSAGES })).text).toBe('ok');
    expect(calls).toHaveLength(4);
    expect(clock.slept[0]).toBe(3_000);
    expect(clock.slept[1]).toBeGreaterThanOrEqual(100);
    expect(clock.slept[1]).toBeLessThan(300);
    expect(clock.slept[2]).toBe(9_000);
  });

  it('gives up after its attempts, saying what the endpoint said, never the key', async () => {
    const { baseUrl, calls } = await serve((_, response) => response.writeHead(500).end('{"error":{"message":"out of memory"}}'));
    const { llm } = connect(baseUrl, { attempts: 3, apiKey: 'secret' });
    const error = await llm.complete({ messages: MESSAGES }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'llm_failed', kind: 'transient' });
    expect(String(error)).toContain('500: out of memory');
    expect(JSON.stringify(error) + String(error)).not.toContain('secret');
    expect(calls).toHaveLength(3);
  });

  it('does not repeat what the endpoint refuses', async () => {
    const { baseUrl, calls } = await serve((_, response) => response.writeHead(401).end('{"error":{"message":"wrong key"}}'));
    const { llm } = connect(baseUrl);
    await expect(llm.complete({ messages: MESSAGES })).rejects.toMatchObject({ code: 'llm_failed', kind: 'permanent' });
    expect(calls).toHaveLength(1);
  });

  it.each(['not json', '{}', '{"choices":[]}', '{"choices":[{"message":{"content":5}}]}'])(
    'takes %s for a failure',
    async (body) => {
      const { baseUrl } = await serve((_, response) => response.end(body));
      const { llm } = connect(baseUrl, { attempts: 1 });
      await expect(llm.complete({ messages: MESSAGES })).rejects.toMatchObject({ code: 'llm_failed', kind: 'transient' });
    },
  );

  it('stops waiting for an endpoint that does not answer', async () => {
    const { baseUrl } = await serve(() => {});
    const { llm } = connect(baseUrl, { timeoutMs: 40, attempts: 2 });
    await expect(llm.complete({ messages: MESSAGES })).rejects.toThrow(/did not answer within 40 ms/);
  });

  it('fails with a code where nothing listens', async () => {
    const { llm } = connect('http://127.0.0.1:9/v1', { attempts: 1 });
    await expect(llm.complete({ messages: MESSAGES })).rejects.toMatchObject({ code: 'llm_failed' });
  });

  it('ends when its caller does', async () => {
    const { baseUrl } = await serve(() => controller.abort(new Error('shutting down')));
    const controller = new AbortController();
    const { llm } = connect(baseUrl);
    await expect(llm.complete({ messages: MESSAGES }, controller.signal)).rejects.toThrow('shutting down');
  });

  it('keeps no more calls under way than it may', async () => {
    let running = 0;
    let most = 0;
    const { baseUrl } = await serve((_, response) => {
      running++;
      most = Math.max(most, running);
      setImmediate(() => {
        running--;
        response.end(completion('ok'));
      });
    });
    const { llm } = connect(baseUrl, { concurrency: 2 });
    await Promise.all(Array.from({ length: 12 }, () => llm.complete({ messages: MESSAGES })));
    expect(most).toBe(2);
  });
});

describe('stream', () => {
  const event = (content: string) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;

  async function read(stream: AsyncIterable<LlmPart>): Promise<string[]> {
    const tokens: string[] = [];
    for await (const part of stream) if ('text' in part) tokens.push(part.text);
    return tokens;
  }

  it('yields tokens however the bytes are cut', async () => {
    const bytes = Buffer.from(
      `: hello\r\n\r\n${event('Ket')}${event('tle ☕')}data: {"choices":[]}\n\n${event('!')}data: [DONE]\n\n${event('late')}`,
    );
    for (const size of [1, 3, 7, 1_000]) {
      const { baseUrl, calls } = await serve((_, response) => {
        for (let at = 0; at < bytes.length; at += size) response.write(bytes.subarray(at, at + size));
        response.end();
      });
      const { llm } = connect(baseUrl);
      expect(await read(llm.stream({ messages: MESSAGES }))).toEqual(['Ket', 'tle ☕', '!']);
      expect(calls[0]?.body).toMatchObject({ stream: true });
    }
  });

  it('tries again before the first token only', async () => {
    const { baseUrl, calls } = await serve((_, response) => {
      if (calls.length === 1) response.writeHead(503).end();
      else {
        response.write(event('half'));
        setImmediate(() => response.destroy());
      }
    });
    const { llm } = connect(baseUrl);
    const tokens: string[] = [];
    const reading = (async () => {
      for await (const part of llm.stream({ messages: MESSAGES })) if ('text' in part) tokens.push(part.text);
    })();
    await expect(reading).rejects.toMatchObject({ code: 'llm_failed' });
    expect(tokens).toEqual(['half']);
    expect(calls).toHaveLength(2);
  });

  it('passes on the tokens that the endpoint counted', async () => {
    const usage = { prompt_tokens: 9, completion_tokens: 2 };
    const { baseUrl, calls } = await serve((_, response) =>
      response.end(`${event('Hi')}data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`),
    );
    const parts: LlmPart[] = [];
    for await (const part of connect(baseUrl).llm.stream({ messages: MESSAGES })) parts.push(part);
    expect(parts).toEqual([{ text: 'Hi' }, { usage }]);
    expect(calls[0]?.body).toMatchObject({ stream_options: { include_usage: true } });
  });

  it('passes on an error that comes as an event', async () => {
    const { baseUrl } = await serve((_, response) => response.end('data: {"error":{"message":"context too long"}}\n\n'));
    const { llm } = connect(baseUrl);
    await expect(read(llm.stream({ messages: MESSAGES }))).rejects.toThrow(/context too long/);
  });

  it('lets go of the endpoint and of its place when the reader leaves', async () => {
    let closed = 0;
    const { baseUrl } = await serve((_, response) => {
      response.on('close', () => closed++);
      response.write(event('one'));
    });
    const { llm } = connect(baseUrl, { concurrency: 1 });
    for (let round = 0; round < 3; round++) {
      for await (const part of llm.stream({ messages: MESSAGES })) {
        expect(part).toEqual({ text: 'one' });
        break;
      }
    }
    await until(() => expect(closed).toBe(3));
  });

  it('gives up on a stream that falls silent', async () => {
    const { baseUrl } = await serve((_, response) => response.write(event('one')));
    const { llm } = connect(baseUrl, { timeoutMs: 60 });
    await expect(read(llm.stream({ messages: MESSAGES }))).rejects.toThrow(/did not answer within 60 ms/);
  });
});
