import type { Redis } from 'ioredis';

/** Outlives any wait until a job of a killed worker runs again. */
const KEEP_MS = 24 * 3_600_000;

/** Counts, per document, the times that work on it began and never ended: its worker was killed, or frozen until it lost the job. */
export interface CrashCounter {
  /** Times so far. */
  count(docUuid: string): Promise<number>;
  begin(docUuid: string): Promise<void>;
  /** Work ended, well or badly: the count starts again. */
  end(docUuid: string): Promise<void>;
}

/**
 * Kept outside BullMQ, whose own limit fails a job for good after so many stalls, with attempts left and nothing recorded, and
 * whose count goes with the job.
 */
export function createCrashCounter(redis: Redis, namespace: string): CrashCounter {
  const key = (docUuid: string) => `${namespace}:crashes:${docUuid}`;
  return {
    count: async (docUuid) => Number((await redis.get(key(docUuid))) ?? 0),
    async begin(docUuid) {
      await redis.multi().incr(key(docUuid)).pexpire(key(docUuid), KEEP_MS).exec();
    },
    async end(docUuid) {
      await redis.del(key(docUuid));
    },
  };
}
