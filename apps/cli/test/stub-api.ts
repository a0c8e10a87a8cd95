import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asked {
  method: string;
  path: string;
  query: Record<string, string>;
  body: unknown;
  authorization: string | undefined;
}

export type Answer = { status?: number; body: unknown };

/** An API that answers what a test says, and tells what it was asked. */
export async function createStubApi(answer: (asked: Asked) => Answer) {
  const requests: Asked[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const url = new URL(request.url ?? '/', 'http://stub');
      const text = Buffer.concat(parts).toString('utf8');
      const asked: Asked = {
        method: request.method ?? '',
        path: decodeURIComponent(url.pathname),
        query: Object.fromEntries(url.searchParams),
        body: text === '' ? undefined : JSON.parse(text),
        authorization: request.headers.authorization,
      };
      requests.push(asked);
      const { status = 200, body } = answer(asked);
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

export type StubApi = Awaited<ReturnType<typeof createStubApi>>;

export function problem(status: number, code: string, detail = 'detail of the problem'): Answer {
  return { status, body: { type: 'about:blank', title: code, status, detail, code, request_id: 'r' } };
}
