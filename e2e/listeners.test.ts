import { once } from 'node:events';
import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import { connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSluice, type Sluice } from './support/sluice.js';

interface Listener {
  role: string;
  port: number;
  isLoopback: boolean;
}

interface RunFile {
  processes: { role: string; pid: number }[];
  services: Record<'redis' | 'weaviate', { url: string; launch?: { kind: string; env?: Record<string, string> } }>;
}

/** Sockets of /proc/net that listen, by inode. */
async function listeningSockets(): Promise<Map<string, { port: number; isLoopback: boolean }>> {
  const sockets = new Map<string, { port: number; isLoopback: boolean }>();
  for (const table of ['tcp', 'tcp6']) {
    const lines = (await readFile(`/proc/net/${table}`, 'utf8').catch(() => '')).split('\n').slice(1);
    for (const line of lines) {
      const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
      if (state !== '0A') continue;
      const [address = '', port = ''] = local.split(':');
      // 127.x.x.x in the machine's byte order, or ::1, or the former within IPv6.
      const isLoopback = /^.{6}7F$/.test(address) || /^0{24}01000000$/.test(address) || /^0{16}FFFF0000.{6}7F$/.test(address);
      sockets.set(inode, { port: Number.parseInt(port, 16), isLoopback });
    }
  }
  return sockets;
}

/** The processes of the instance and all that they have started. */
async function family(pids: ReadonlyMap<number, string>): Promise<Map<number, string>> {
  const known = new Map(pids);
  const parents = new Map<number, number>();
  for (const name of await readdir('/proc')) {
    const stat = /^\d+$/.test(name) ? await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '') : '';
    const parent = /\) \S (\d+) /.exec(stat)?.[1];
    if (parent !== undefined) parents.set(Number(name), Number(parent));
  }
  for (let before = -1; before < known.size; ) {
    before = known.size;
    for (const [pid, parent] of parents) {
      const role = known.get(parent);
      if (role !== undefined && !known.has(pid)) known.set(pid, `child of ${role}`);
    }
  }
  return known;
}

// Only Linux shows the sockets of a process in this way.
describe.runIf(process.platform === 'linux')('what an instance listens at', () => {
  let sluice: Sluice;
  let listeners: Listener[];
  let runFile: RunFile;

  beforeAll(async () => {
    // Services of its own, as after `npm start`.
    sluice = await createSluice({ env: { REDIS_URL: '', WEAVIATE_URL: '', XDG_CACHE_HOME: process.env.XDG_CACHE_HOME ?? '' } });
    await sluice.up();
    await sluice.write('a.md', 'A kettle.');
    await sluice.settle();
    runFile = JSON.parse(await readFile(join(sluice.data, 'run.json'), 'utf8')) as RunFile;
    const sockets = await listeningSockets();
    const members = await family(new Map(runFile.processes.map(({ pid, role }) => [pid, role])));
    listeners = [];
    for (const [pid, role] of members) {
      for (const fd of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
        const inode = /^socket:\[(\d+)\]$/.exec(await readlink(`/proc/${pid}/fd/${fd}`).catch(() => ''))?.[1] ?? '';
        const socket = sockets.get(inode);
        if (socket !== undefined) listeners.push({ role, ...socket });
      }
    }
  }, 300_000);
  afterAll(() => sluice.close());

  it('is the API, Redis and Weaviate, and beyond loopback two ports of Weaviate alone', () => {
    expect([...new Set(listeners.map(({ role }) => role))].sort()).toEqual(['api', 'redis', 'weaviate']);
    expect(listeners.filter(({ role }) => role !== 'weaviate')).toEqual([
      { role: expect.any(String), port: expect.any(Number), isLoopback: true },
      { role: expect.any(String), port: expect.any(Number), isLoopback: true },
    ]);
    const { env = {} } = runFile.services.weaviate.launch ?? {};
    const open = listeners.filter(({ isLoopback }) => !isLoopback).map(({ port }) => port);
    expect(open.sort()).toEqual([Number(env.GRPC_PORT), Number(env.CLUSTER_DATA_BIND_PORT)].sort());
  });

  it('gives nothing to a caller without credentials', async () => {
    const { url } = runFile.services.weaviate;
    for (const path of ['/v1/schema', '/v1/meta', '/v1/objects', '/v1/nodes'])
      expect((await fetch(`${url}${path}`)).status, path).toBe(401);
    const { env = {} } = runFile.services.weaviate.launch ?? {};
    for (const path of ['/nodes/status', '/indices/Foo/shards/bar/objects', '/replicas/indices/Foo/shards/bar:commit'])
      expect((await fetch(`http://127.0.0.1:${env.CLUSTER_DATA_BIND_PORT}${path}`)).status, path).toBe(401);
    expect(await grpcMessage(Number(env.GRPC_PORT), 'Search')).toContain('unauthorized');
    const redis = connect(Number(new URL(runFile.services.redis.url).port), '127.0.0.1');
    redis.write('KEYS *\r\n');
    const [answer] = (await once(redis, 'data')) as [Buffer];
    redis.destroy();
    expect(answer.toString()).toMatch(/^-NOAUTH/);
    // The API serves readers of level 1, and no operator.
    const api = async (path: string) => (await fetch(`${sluice.url}${path}`)).status;
    expect([await api('/v1/documents'), await api('/metrics'), await api('/ops/api/status'), await api('/ops/queues')]).toEqual([
      200, 403, 403, 401,
    ]);
  });

  it('has its secrets in files that its user alone can read', async () => {
    expect((await stat(sluice.data)).mode & 0o077).toBe(0);
    const secrets = join(sluice.data, 'secrets');
    expect((await stat(secrets)).mode & 0o777).toBe(0o700);
    for (const name of await readdir(secrets)) expect((await stat(join(secrets, name))).mode & 0o777, name).toBe(0o600);
  });
});

/** What Weaviate says of a call with an empty message. */
async function grpcMessage(port: number, method: string): Promise<string> {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  const call = session.request({
    ':method': 'POST',
    ':path': `/weaviate.v1.Weaviate/${method}`,
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  let message: unknown;
  const keep = (received: IncomingHttpHeaders) => {
    message = received['grpc-message'] ?? message;
  };
  call.on('response', keep).on('trailers', keep).resume();
  call.end(Buffer.alloc(5));
  await once(call, 'close');
  session.close();
  return decodeURIComponent(String(message));
}
