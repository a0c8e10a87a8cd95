import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { runCli } from '../src/program.js';
import { run } from './run.js';

let stop = () => {};
afterEach(() => stop());

/** An API that answers /v1/answer as the test does. */
async function serve(handler: (response: ServerResponse, body: Record<string, unknown>) => void): Promise<string> {
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    request.on('end', () => handler(response, JSON.parse(text)));
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const frame = (event: string, data: unknown) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
const source = { n: 1, doc_id: 'inbox/a.md', citation: { start: 0, end: 5, heading_path: ['Parts'], page: 3 } };
const other = { n: 2, doc_id: 'inbox/b.md', citation: { start: 0, end: 5, heading_path: [] } };
const done = { answer: 'Five layers [1].', found: true, citations: [{ n: 1 }], sources: [source, other], degraded: [] };
const events = { 'content-type': 'text/event-stream; charset=utf-8' };

describe('ask', () => {
  it('shows the answer while it comes, then the sources that it cites', async () => {
    let answering: ServerResponse | undefined;
    let asked: unknown;
    const url = await serve((response, body) => {
      asked = body;
      answering = response;
      response.writeHead(200, events);
      response.write(frame('sources', { sources: [source, other] }) + frame('token', { text: 'Five ' }));
    });
    let shown = '';
    const stdout = new Writable({
      write(chunk: Buffer, _encoding, next) {
        shown += chunk.toString();
        // The rest is sent only once the first words are on the screen.
        if (shown === 'Five ') answering?.end(frame('token', { text: 'layers [1].' }) + frame('done', done));
        next();
      },
    });
    const code = await runCli(['ask', 'How many?', '--limit', '7', '--max-tokens', '900'], {
      stdout,
      stderr: new Writable({ write: (_chunk, _encoding, next) => next() }),
      env: { SLUICE_URL: url },
      cwd: '/',
      signal: new AbortController().signal,
      releaseSignals: () => undefined,
    });
    expect(code).toBe(0);
    expect(
      shown
        .trim()
        .split('\n')
        .filter((line) => line !== ''),
    ).toEqual(['Five layers [1].', '[1] inbox/a.md  Parts > page 3']);
    expect(asked).toEqual({ query: 'How many?', limit: 7, max_tokens: 900, stream: true });
  });

  it('prints the whole answer alone with --json', async () => {
    const url = await serve((response) =>
      response.writeHead(200, events).end(frame('token', { text: 'Five' }) + frame('done', done)),
    );
    const ran = await run(['ask', 'How many?', '--json'], { url });
    expect([ran.code, ran.json()]).toEqual([0, done]);
  });

  it('says that the documents do not hold the answer', async () => {
    const none = { ...done, found: false, answer: 'The documents do not answer this question.', citations: [] };
    const url = await serve((response) => response.writeHead(200, events).end(frame('done', none)));
    const ran = await run(['ask', 'How many?'], { url });
    expect([ran.code, ran.stdout]).toEqual([0, 'The documents do not answer this question.\n']);
  });

  it.each([
    [
      'an error in the middle',
      3,
      frame('token', { text: 'Five' }) + frame('error', { code: 'not_ready', detail: 'The model is away.' }),
    ],
    ['an end in the middle', 3, frame('token', { text: 'Five' })],
  ])('fails on %s', async (_name, code, body) => {
    const url = await serve((response) => response.writeHead(200, events).end(body));
    const ran = await run(['ask', 'How many?', '--json'], { url });
    expect(ran.code).toBe(code);
    expect(ran.json()).toMatchObject({ error: { code: 'not_ready' } });
  });

  it('says how to configure a model where there is none', async () => {
    const problem = { code: 'llm_not_configured', detail: 'set llm.base_url' };
    const url = await serve((response) =>
      response.writeHead(501, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem)),
    );
    const ran = await run(['ask', 'How many?'], { url });
    expect([ran.code, ran.stderr]).toEqual([2, 'set llm.base_url\n']);
  });
});
