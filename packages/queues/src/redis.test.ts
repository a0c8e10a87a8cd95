import { until } from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, createBench, request, uuidOf } from '../test/bench.js';
import { createRedisProcess, type RedisProcess } from '../test/redis-process.js';
import { createFences } from './fences.js';
import { checkRedis, createRedis } from './redis.js';

let server: RedisProcess;
let bench: Bench | undefined;
beforeAll(async () => {
  server = await createRedisProcess();
});
afterAll(() => server.end());
afterEach(async () => {
  await bench?.end();
  bench = undefined;
});
function open(): Bench {
  bench = createBench({ url: server.url });
  return bench;
}

const files = Array.from({ length: 10 }, (_, n) => request(`${n}`, { cause: 'add' }));

describe('Redis away', () => {
  it('fails a producer at once, and lets it go on when Redis is back', async () => {
    const bench = open();
    await bench.queue.addBulk(files.slice(0, 3), 'interactive');
    const seen: string[] = [];
    await server.stop();
    await until(() => bench.redis.status !== 'ready');
    await expect(bench.queue.addBulk(files, 'interactive')).rejects.toMatchObject({
      code: 'queue_unavailable',
      kind: 'transient',
    });
    await expect(bench.queue.counts()).rejects.toMatchObject({ code: 'queue_unavailable' });
    await expect(createFences({ redis: bench.redis, namespace: bench.namespace }).take(uuidOf('0'))).rejects.toMatchObject({
      code: 'queue_unavailable',
    });
    await expect(checkRedis(bench.redis)).rejects.toMatchObject({ code: 'queue_unavailable' });
    // A worker that starts meanwhile waits.
    await bench.work(async (job) => {
      seen.push(job.path);
    });
    await server.start();
    await until(() => bench.redis.status === 'ready');
    await bench.queue.addBulk(files, 'bulk');
    await until(async () => new Set(seen).size === 10 && (await bench.queue.isIdle()));
    expect((await bench.queue.counts()).failed).toBe(0);
  });

  it.each(['idle', 'busy'] as const)('restarts under a worker that is %s, and nothing is lost or stuck', async (state) => {
    const bench = open();
    let runs = 0;
    let release: () => void = () => undefined;
    await bench.work(
      async ({ path }) => {
        runs++;
        if (path === 'long') await new Promise<void>((resolve) => (release = resolve));
      },
      { settings: { lockMs: 2_000, stalledMs: 500 } },
    );
    await bench.queue.add(request(state === 'busy' ? 'long' : 'short'), 'interactive');
    await until(() => runs === 1);
    if (state === 'idle') await until(() => bench.queue.isIdle());
    await server.stop();
    await until(() => bench.redis.status !== 'ready');
    await server.start();
    await until(() => bench.redis.status === 'ready');
    await bench.queue.addBulk(files, 'interactive');
    release();
    await until(() => runs >= 11);
    release();
    await until(() => bench.queue.isIdle());
    expect((await bench.queue.counts()).failed).toBe(0);
  });

  it('fails a producer that never reached it, with the reason', async () => {
    const redis = createRedis({ url: 'redis://127.0.0.1:1', role: 'producer' });
    await expect(checkRedis(redis)).rejects.toMatchObject({ code: 'queue_unavailable', message: /refused/ });
    redis.disconnect();
  });
});

describe('a flush', () => {
  it('loses waiting jobs, which a scan adds again, and leaves nothing that refuses them', async () => {
    const bench = open();
    await bench.queue.addBulk(files, 'interactive');
    await bench.redis.flushall();
    expect(await bench.queue.isIdle()).toBe(true);
    expect(await bench.queue.pending(files.map((file) => uuidOf(file.path)))).toEqual(new Set());
    await bench.queue.addBulk(files, 'bulk');
    const seen: string[] = [];
    await bench.work(async (job) => {
      seen.push(job.path);
    });
    await until(() => bench.queue.isIdle());
    expect(seen.sort()).toEqual(files.map((file) => file.path));
  });

  it('during a job lets that job end and the next one run', async () => {
    const bench = open();
    let runs = 0;
    let release: () => void = () => undefined;
    await bench.work(async () => {
      runs++;
      if (runs === 1) await new Promise<void>((resolve) => (release = resolve));
    });
    await bench.queue.add(request('a'), 'interactive');
    await until(() => runs === 1);
    await bench.redis.flushall();
    await bench.queue.add(request('a'), 'interactive');
    await until(() => runs === 2);
    release();
    await bench.queue.add(request('a'), 'interactive');
    await until(() => runs === 3);
    await until(() => bench.queue.isIdle());
  });
});

describe('a Redis that would lose jobs', () => {
  it.each(['allkeys-lru', 'volatile-ttl'])('is refused, the policy %s named', async (policy) => {
    const bench = open();
    await checkRedis(bench.redis);
    await bench.redis.config('SET', 'maxmemory-policy', policy);
    await expect(checkRedis(bench.redis)).rejects.toMatchObject({ code: 'not_ready', message: new RegExp(policy) });
    await bench.redis.config('SET', 'maxmemory-policy', 'noeviction');
  });

  it('says that it is full, and works again when there is room', async () => {
    const bench = open();
    await bench.queue.counts();
    await bench.redis.config('SET', 'maxmemory', '1mb');
    await expect(bench.queue.add(request('a'), 'interactive')).rejects.toMatchObject({
      code: 'queue_unavailable',
      message: /maxmemory/,
    });
    await bench.redis.config('SET', 'maxmemory', '0');
    await bench.queue.add(request('a'), 'interactive');
    expect(await bench.queue.counts()).toMatchObject({ waiting: 1 });
  });
});
