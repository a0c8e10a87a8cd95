import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testServices, until } from '@sluice/testkit';
import { createRedis } from '../src/index.js';

/** A Redis of the test's own, to stop, flush and fill. It runs the binary that serves the tests' Redis. */
export interface RedisProcess {
  url: string;
  start(): Promise<void>;
  stop(): Promise<void>;
  end(): Promise<void>;
}

export async function createRedisProcess(...args: string[]): Promise<RedisProcess> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'sluice-redis-'));
  const url = `redis://127.0.0.1:${port}`;
  const binary = await redisBinary();
  let child: ChildProcess | undefined;

  async function start(): Promise<void> {
    child = spawn(
      binary.path,
      ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'yes', ...args],
      { stdio: 'ignore', env: binary.env },
    );
    const redis = createRedis({ url, role: 'worker' });
    await redis.ping();
    redis.disconnect();
  }
  async function stop(): Promise<void> {
    if (child === undefined || child.exitCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    await exit;
    await until(() => child?.exitCode !== null || child?.signalCode !== null);
  }
  await start();
  return {
    url,
    start,
    stop,
    async end() {
      await stop();
      await rm(folder, { recursive: true });
    },
  };
}

/** The running test Redis names its own executable; a copy unpacked without installation needs its libraries beside it. */
async function redisBinary(): Promise<{ path: string; env: NodeJS.ProcessEnv }> {
  const redis = createRedis({ url: testServices().redis, role: 'worker' });
  const path = /^executable:(.+?)\r?$/m.exec(await redis.info('server'))?.[1];
  redis.disconnect();
  if (path === undefined) throw new Error('the test Redis does not name its executable');
  const libraries = [join(path, '../../lib/x86_64-linux-gnu'), join(path, '../../lib/aarch64-linux-gnu')];
  return { path, env: { LD_LIBRARY_PATH: libraries.join(':') } };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
