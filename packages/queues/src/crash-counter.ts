import type { Redis } from 'ioredis';

/** Outlives any wait until a job of a killed worker runs again. */
const KEEP_MS = 24 * 3_600_000;

export interface Crashes {
  count: number;
  /** Unix milliseconds at which the work began that never ended last; 0 when there is none. */
  beganMs: number;
}

/** Counts, per document, the times that work on it began and never ended: its worker was killed, or frozen until it lost the job. */
export interface CrashCounter {
  /** Key of a document's count. */
  key(docUuid: string): string;
  /** What the key's value says. */
  read(value: string | null): Crashes;
  /** Notes that work begins, for the time after `crashes`. */
  begin(docUuid: string, crashes: number): void;
  /** Work ended, well or badly: the count starts again. */
  end(docUuid: string): void;
  /** Work ended, but what it was about was not recorded: the count is as it was before. */
  restore(docUuid: string, crashes: Crashes): void;
}

/**
 * Kept outside BullMQ, whose own limit fails a job for good after so many stalls, with attempts left and nothing recorded, and
 * whose count goes with the job.
 *
 * Nothing waits for its writes: commands of one connection run in order, so a job's end is noted after its counter is gone, and a
 * lost write costs one count at most.
 */
export function createCrashCounter(redis: Redis, namespace: string, onError: (error: Error) => void): CrashCounter {
  const key = (docUuid: string) => `${namespace}:crashes:${docUuid}`;
  return {
    key,
    read(value) {
      const [count = 0, beganMs = 0] = (value ?? '').split(' ').map(Number);
      return { count, beganMs };
    },
    begin(docUuid, crashes) {
      redis.set(key(docUuid), `${crashes + 1} ${Date.now()}`, 'PX', KEEP_MS).catch(onError);
    },
    end(docUuid) {
      redis.del(key(docUuid)).catch(onError);
    },
    restore(docUuid, { count, beganMs }) {
      redis.set(key(docUuid), `${count} ${beganMs}`, 'PX', KEEP_MS).catch(onError);
    },
  };
}
