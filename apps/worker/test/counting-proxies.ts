import { once } from 'node:events';
import { Agent, createServer as createHttpServer, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, createServer, type Server } from 'node:net';

/** Counts by name. */
export type Counts = Map<string, number>;

export function add(counts: Counts, name: string, by = 1): void {
  counts.set(name, (counts.get(name) ?? 0) + by);
}

/** An HTTP proxy in front of Weaviate that counts requests by kind, rows in answers, and bytes both ways. */
export async function createWeaviateProxy(target: string) {
  const to = new URL(target);
  const agent = new Agent({ keepAlive: true });
  const counts: Counts = new Map();
  const server = createHttpServer((incoming, outgoing) => {
    void (async () => {
      const body = await readAll(incoming);
      add(counts, kindOf(incoming.method ?? '', incoming.url ?? '', body.toString('utf8')));
      const { method, url: path, headers } = incoming;
      const upstream = httpRequest({ host: to.hostname, port: to.port, method, path, headers, agent });
      upstream.end(body);
      const [answer] = (await once(upstream, 'response')) as [IncomingMessage]; // what the event carries
      const content = await readAll(answer);
      add(counts, 'rows', rowsOf(path ?? '', content));
      add(counts, 'bytes', body.length + content.length);
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers).end(content);
    })().catch(() => outgoing.destroy());
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    counts,
    close() {
      server.close();
      server.closeAllConnections();
      agent.destroy();
    },
  };
}

async function readAll(stream: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer); // a stream without an encoding yields buffers
  return Buffer.concat(parts);
}

/** What a request to Weaviate is for. */
function kindOf(method: string, url: string, body: string): string {
  const path = url.split('?')[0] ?? '';
  if (path === '/v1/graphql') return queryKindOf(body);
  if (path === '/v1/objects') return 'insert of one object';
  if (path !== '/v1/batch/objects') return `${method} ${path.replace(/[^/]*-[^/]*$/, 'ID')}`;
  if (method === 'POST') return 'insert of a batch';
  return body.includes('"dryRun":true') ? 'flush of the vector index' : 'delete';
}

function queryKindOf(query: string): string {
  if (query.includes('Aggregate')) return 'count of chunks';
  if (/after:/.test(query)) return 'walk';
  if (/nearVector|bm25/.test(query)) return 'search';
  if (/path:\[\\"text_hash\\"\]/.test(query)) return 'vectors by text hash';
  if (/path:\[\\"doc_uuid\\"\]/.test(query)) return 'records';
  return 'objects by id';
}

function rowsOf(path: string, content: Buffer): number {
  if (!path.startsWith('/v1/graphql')) return 0;
  const { data } = JSON.parse(content.toString('utf8')) as { data?: { Get?: Record<string, unknown[] | null> } }; // Weaviate's answer
  return Object.values(data?.Get ?? {}).reduce((sum, rows) => sum + (rows?.length ?? 0), 0);
}

/** A TCP proxy in front of Redis that counts the commands that clients send. */
export async function createRedisProxy(target: string) {
  const to = new URL(target);
  const counts: Counts = new Map();
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ host: to.hostname, port: Number(to.port), noDelay: true });
    const count = createCommandCounter(counts);
    client.on('data', count);
    client.pipe(upstream).pipe(client);
    client.on('error', () => upstream.destroy());
    upstream.on('error', () => client.destroy());
  });
  const port = await listen(server);
  const url = new URL(target);
  url.port = String(port);
  return { url: url.href, counts, close: () => server.close() };
}

/** Reads RESP arrays of bulk strings, as clients send them, whatever way they are cut. */
function createCommandCounter(counts: Counts): (data: Buffer) => void {
  let rest = Buffer.alloc(0);
  return (data) => {
    rest = Buffer.concat([rest, data]);
    for (let end = commandEnd(rest); end !== undefined; end = commandEnd(rest)) {
      add(counts, nameOf(rest.subarray(0, end)));
      rest = rest.subarray(end);
    }
  };
}

/** Where the first command ends; undefined when it is not complete. */
function commandEnd(data: Buffer): number | undefined {
  let at = 0;
  const line = () => {
    const end = data.indexOf('\r\n', at);
    if (end < 0) return undefined;
    const text = data.toString('latin1', at + 1, end);
    at = end + 2;
    return Number(text);
  };
  const parts = line();
  if (parts === undefined) return undefined;
  for (let n = 0; n < parts; n += 1) {
    const length = line();
    if (length === undefined) return undefined;
    at += length + 2;
    if (at > data.length) return undefined;
  }
  return at;
}

function nameOf(command: Buffer): string {
  return command.toString('latin1', 0, 64).split('\r\n')[2]?.toLowerCase() ?? '';
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
  return address.port;
}
