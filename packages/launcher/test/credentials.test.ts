import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startServices } from '../src/instance/start-services.js';
import { obtainCredentials } from '../src/services/credentials.js';
import { isProtected, type ServiceRecord, stopService } from '../src/services/service.js';
import { createWorkplace } from '../src/system/workplace.js';

const env = { ...process.env, REDIS_URL: '', WEAVIATE_URL: '' };
let dataFolder: string;
let redis: ServiceRecord;
let weaviate: ServiceRecord;

beforeAll(async () => {
  dataFolder = await mkdtemp(join(tmpdir(), 'sluice-credentials-'));
  const workplace = createWorkplace(env, () => undefined);
  const credentials = obtainCredentials(dataFolder);
  const started = await startServices({ previous: undefined, dataFolder, credentials, workplace, onService: () => undefined });
  ({ redis, weaviate } = started);
}, 120_000);

afterAll(async () => {
  for (const service of [redis, weaviate]) await stopService(service, env, { deadlineMs: 10_000 });
  await rm(dataFolder, { recursive: true, force: true, maxRetries: 5 });
});

const statusOf = async (url: string, headers: Record<string, string> = {}) => (await fetch(url, { headers })).status;

/** What Weaviate says of a call with an empty message. */
async function grpcMessage(port: string, method: string, headers: Record<string, string>): Promise<string> {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  const call = session.request({
    ':method': 'POST',
    ':path': `/weaviate.v1.Weaviate/${method}`,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  });
  let message: unknown;
  const keep = (received: IncomingHttpHeaders) => {
    message = received['grpc-message'] ?? message;
  };
  call.on('response', keep).on('trailers', keep).resume();
  // A message of no bytes: not compressed, length 0.
  call.end(Buffer.alloc(5));
  await once(call, 'close');
  session.close();
  return decodeURIComponent(String(message));
}

it('Weaviate serves its key alone, and no page of a browser', async () => {
  expect(await statusOf(`${weaviate.url}/v1/schema`)).toBe(401);
  expect(await statusOf(`${weaviate.url}/v1/schema`, { authorization: 'Bearer wrong' })).toBe(401);
  const authorization = `Bearer ${weaviate.apiKey}`;
  const response = await fetch(`${weaviate.url}/v1/schema`, { headers: { authorization, origin: 'http://evil.example' } });
  expect(response.status).toBe(200);
  expect(response.headers.get('access-control-allow-origin')).toBe('https://nobody.invalid');
});

it('the ports of its nodes refuse callers without their password', async () => {
  const port = weaviate.launch?.kind === 'program' ? weaviate.launch.env.CLUSTER_DATA_BIND_PORT : undefined;
  if (port !== undefined) expect(await statusOf(`http://127.0.0.1:${port}/nodes/status`)).toBe(401);
});

it('gRPC refuses calls without the key', async () => {
  const port = weaviate.launch?.kind === 'program' ? weaviate.launch.env.GRPC_PORT : undefined;
  if (port === undefined) return;
  const { apiKey } = weaviate;
  // Weaviate's status is "unknown" (2) for every fault, so its message decides.
  for (const method of ['Search', 'Aggregate', 'BatchObjects', 'BatchDelete', 'BatchStream', 'TenantsGet']) {
    expect(await grpcMessage(port, method, {}), method).toContain('unauthorized');
    expect(await grpcMessage(port, method, { authorization: 'Bearer wrong' }), method).toContain('unauthorized');
    expect(await grpcMessage(port, method, { authorization: `Bearer ${apiKey}` }), method).not.toContain('unauthorized');
  }
});

it('Redis refuses callers without its password', async () => {
  const socket = connect(Number(new URL(redis.url).port), '127.0.0.1');
  socket.write('GET key\r\n');
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  expect(answer.toString()).toMatch(/^-NOAUTH/);
  expect(isProtected(redis)).toBe(true);
});

it('secrets are files of this user alone, and in no list of processes', async () => {
  const folder = join(dataFolder, 'secrets');
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  const secrets: string[] = [];
  for (const name of await readdir(folder)) {
    expect((await stat(join(folder, name))).mode & 0o777, name).toBe(0o600);
    if (!name.includes('.')) secrets.push((await readFile(join(folder, name), 'utf8')).trim());
  }
  expect(secrets).toHaveLength(3);
  for (const { launch } of [redis, weaviate]) {
    for (const secret of secrets) expect(launch?.args.join(' ')).not.toContain(secret);
  }
});
