import type { Clock } from '@sluice/core';
import type { Redis } from 'ioredis';
import { withRedis } from './redis.js';

/** How exactly the last use of a key is known, ms: a busy key costs Redis one command in this time. */
const PRECISION_MS = 60_000;

/** When keys of the API were last used, for those who look after them. Kept in Redis: it may be lost, and no call waits for it. */
export interface KeyUse {
  touch(keyId: string): void;
  /** ISO instants by id of key. Errors: `queue_unavailable`. */
  all(): Promise<ReadonlyMap<string, string>>;
  forget(keyId: string): void;
}

export function createKeyUse(options: { redis: Redis; namespace: string; clock: Clock }): KeyUse {
  const { redis, clock } = options;
  const hash = `${options.namespace}:key-use`;
  const noted = new Map<string, number>();
  return {
    touch(keyId) {
      const at = clock.now();
      if (at - (noted.get(keyId) ?? Number.NEGATIVE_INFINITY) < PRECISION_MS) return;
      noted.set(keyId, at);
      withRedis(redis, () => redis.hset(hash, keyId, new Date(at).toISOString())).catch(() => noted.delete(keyId));
    },
    all: () => withRedis(redis, async () => new Map(Object.entries(await redis.hgetall(hash)))),
    forget(keyId) {
      noted.delete(keyId);
      withRedis(redis, () => redis.hdel(hash, keyId)).catch(() => {});
    },
  };
}
