import { once } from 'node:events';
import type { FieldType } from '@sluice/core';
import { createFences, createRedis } from '@sluice/queues';
import { createStore } from '@sluice/store';
import { createWordEmbedder, dropCollections, testServices } from '@sluice/testkit';
import { afterAll, beforeAll } from 'vitest';
import { type Harness, type HarnessOptions, useHarnesses } from './harness.js';

/** Harnesses on the real Weaviate with real fences, each with a collection of its own; all of it is gone when the file's tests are over. */
export function useRealStores(name: string): {
  harness(options?: HarnessOptions): Promise<Harness>;
  /** Gives the latest harness a store that knows other declared fields, as after a change of the configuration. */
  declare(h: Harness, fields: Record<string, FieldType>): Promise<void>;
  /** Name in Weaviate of a collection of the latest harness. */
  latest(kind: 'Chunk' | 'Commit'): string;
} {
  const { redis: redisUrl, weaviate } = testServices();
  const namespace = `${name}${process.pid}x${Date.now().toString(36)}`;
  const redis = createRedis({ url: redisUrl, role: 'producer' });
  const open = useHarnesses();
  let collections = 0;
  const storeWith = (fields: Record<string, FieldType>) =>
    createStore({
      url: weaviate,
      namespace,
      collection: `c${collections}`,
      dimensions: createWordEmbedder().dimensions,
      fields,
      readerGraceMs: 0,
      clockSkewMs: 0,
    });
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
    async declare(h, fields) {
      const store = storeWith(fields);
      await store.ensureSchema();
      h.deps.store = store;
      h.configure({ fields });
    },
    async harness(options = {}) {
      const embedder = createWordEmbedder();
      collections += 1;
      const store = storeWith(options.fields ?? {});
      const made = await open({ ...options, store, embedder });
      made.deps.fences = createFences({ redis, namespace: `${namespace}${collections}` });
      return made;
    },
  };
}
