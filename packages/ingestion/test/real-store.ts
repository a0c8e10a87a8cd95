import { once } from 'node:events';
import { createFences, createRedis } from '@sluice/queues';
import { createStore } from '@sluice/store';
import { createWordEmbedder, dropCollections, testServices } from '@sluice/testkit';
import { afterAll, beforeAll } from 'vitest';
import { type Harness, type HarnessOptions, useHarnesses } from './harness.js';

/** Harnesses on the real Weaviate with real fences, each with a collection of its own; all of it is gone when the file's tests are over. */
export function useRealStores(name: string): {
  harness(options?: HarnessOptions): Promise<Harness>;
  /** Name in Weaviate of a collection of the latest harness. */
  latest(kind: 'Chunk' | 'Commit'): string;
} {
  const { redis: redisUrl, weaviate } = testServices();
  const namespace = `${name}${process.pid}x${Date.now().toString(36)}`;
  const redis = createRedis({ url: redisUrl, role: 'producer' });
  const open = useHarnesses();
  let collections = 0;
  beforeAll(async () => {
    if (redis.status !== 'ready') await once(redis, 'ready');
  });
  afterAll(async () => {
    const keys = await redis.keys(`${namespace}*`);
    if (keys.length > 0) await redis.del(keys);
    redis.disconnect();
    await dropCollections(weaviate, namespace);
  });
  return {
    latest: (kind) => `${namespace}${kind}C${collections}`,
    async harness(options = {}) {
      const embedder = createWordEmbedder();
      collections += 1;
      const { dimensions } = embedder;
      const collection = `c${collections}`;
      const store = createStore({ url: weaviate, namespace, collection, dimensions, readerGraceMs: 0, clockSkewMs: 0 });
      const made = await open({ ...options, store, embedder });
      made.deps.fences = createFences({ redis, namespace: `${namespace}${collections}` });
      return made;
    },
  };
}
