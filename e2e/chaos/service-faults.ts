import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Faults, type FaultTools, holding } from './fault.js';
import { bytesUntil } from './machine.js';
import { type BreakableService, sendRedis } from './services.js';
import { waitFor } from './wait.js';

/** Above the threshold at which Weaviate turns read-only (98 %), and below a disk on which nothing can be written. */
const FULL_SHARE = 0.985;

/** Redis and Weaviate killed, emptied, full, slow or away. */
export function createServiceFaults({ world, random, awayMs, longAwayMs, excused }: FaultTools): Faults {
  const { redis, weaviate } = world.services;

  async function away(service: BreakableService, mode: 'hang' | 'refuse', what: string, forMs = awayMs): Promise<string> {
    const work = () =>
      holding(
        forMs,
        async () => service.proxy.set({ kind: mode }),
        async () => service.proxy.set({ kind: 'open' }),
      );
    // Redis holds only work in flight: searches go on without it.
    await (service.role === 'weaviate' ? excused(what, work) : work());
    return what;
  }

  async function slow(service: BreakableService, mostMs: number): Promise<void> {
    await holding(
      awayMs,
      async () => service.proxy.set({ kind: 'slow', delayMs: random.int(20, mostMs) }),
      async () => service.proxy.set({ kind: 'open' }),
    );
  }

  /** The disk is filled until Weaviate itself turns its shards read-only; set READY again by hand where it does not do so itself. */
  async function fillDisk(): Promise<string> {
    const file = join(world.servicesFolder, 'filler');
    const url = weaviate.directUrl;
    try {
      await writeZeros(file, await bytesUntil(world.servicesFolder, FULL_SHARE));
      await waitFor(
        async () => (await readShards(url)).some(({ status }) => status === 'READONLY'),
        60_000,
        'Weaviate is read-only',
      );
      await sleep(awayMs);
    } finally {
      await rm(file, { force: true });
      await sleep(2_000);
      await setShards(url, 'READY');
    }
    return 'Weaviate read-only by its disk threshold';
  }

  return {
    async 'redis killed'() {
      await redis.kill();
      await sleep(random.int(0, 1_000));
      await redis.restart();
      return 'kill -9 of Redis, started again';
    },
    async 'redis restarted'() {
      await redis.end();
      await redis.restart();
      return 'Redis ended in order, started again';
    },
    async 'redis flushed'() {
      await sendRedis(redis.directUrl, 'FLUSHALL');
      return 'FLUSHALL';
    },
    async 'redis full'() {
      await holding(
        awayMs,
        () => sendRedis(redis.directUrl, 'CONFIG SET maxmemory 1mb'),
        () => sendRedis(redis.directUrl, 'CONFIG SET maxmemory 0'),
      );
      return 'maxmemory reached (noeviction)';
    },
    'redis unreachable': () => away(redis, 'hang', `Redis unreachable for ${longAwayMs / 1000} s`, longAwayMs),
    'redis refused': () => away(redis, 'refuse', 'Redis refuses connections'),
    async 'redis slow'() {
      await slow(redis, 200);
      return 'Redis slow';
    },
    'weaviate killed': () =>
      excused('weaviate killed', async () => {
        await weaviate.kill();
        await weaviate.restart();
        return 'kill -9 of Weaviate, started again';
      }),
    'weaviate restarted': () =>
      excused('weaviate restarted', async () => {
        await weaviate.end();
        await weaviate.restart();
        return 'Weaviate ended in order, started again';
      }),
    'weaviate unreachable': () => away(weaviate, 'hang', 'Weaviate unreachable'),
    'weaviate refused': () => away(weaviate, 'refuse', 'Weaviate refuses connections'),
    'weaviate slow': () =>
      excused('weaviate slow', async () => {
        await slow(weaviate, 300);
        return 'Weaviate slow';
      }),
    async 'weaviate read-only'() {
      if (world.mounted) return fillDisk();
      // The state that the disk threshold sets on every shard.
      await holding(
        awayMs,
        () => setShards(weaviate.directUrl, 'READONLY'),
        () => setShards(weaviate.directUrl, 'READY'),
      );
      return 'Weaviate read-only';
    },
  };
}

/** Writes until the bytes are there or the disk is full. */
export async function writeZeros(path: string, bytes: number): Promise<void> {
  const block = Buffer.alloc(1 << 20);
  const file = await open(path, 'w');
  try {
    for (let left = bytes; left > 0; left -= block.length) await file.write(block, 0, Math.min(left, block.length));
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'ENOSPC')) throw cause;
  } finally {
    await file.close();
  }
}

async function readShards(url: string): Promise<{ collection: string; name: string; status: string }[]> {
  const { classes } = (await (await fetch(`${url}/v1/schema`)).json()) as { classes: { class: string }[] };
  const shards = await Promise.all(
    classes.map(async ({ class: collection }) => {
      const answer = await fetch(`${url}/v1/schema/${collection}/shards`);
      return ((await answer.json()) as { name: string; status: string }[]).map((shard) => ({ collection, ...shard }));
    }),
  );
  return shards.flat();
}

async function setShards(url: string, status: 'READONLY' | 'READY'): Promise<void> {
  for (const shard of await readShards(url)) {
    if (shard.status === status) continue;
    const answer = await fetch(`${url}/v1/schema/${shard.collection}/shards/${shard.name}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ status }),
    });
    if (!answer.ok) throw new Error(`a shard could not be set to ${status}: ${await answer.text()}`);
  }
}
