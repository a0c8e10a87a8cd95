import { randomBytes } from 'node:crypto';
import type { ReconcileRequest } from '@sluice/core';
import type { Redis } from 'ioredis';

type Force = NonNullable<ReconcileRequest['force']>;

/** A repair asks again if it finds the difference again. */
const KEEP_MS = 24 * 3_600_000;

/** The stronger of two wishes stays. */
const LEAVE = `
local held = redis.call('GET', KEYS[1])
local force = (held and string.match(held, '^rebuild~')) and 'rebuild' or ARGV[1]
redis.call('SET', KEYS[1], force .. '~' .. ARGV[2], 'PX', ARGV[3])
return 1`;

const CLEAR = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`;

/**
 * What a repair demands of a document's next run. Kept beside the job, not in it: an add that a waiting job absorbs would lose it,
 * since BullMQ keeps the waiting job's data.
 */
export function forceNotes(redis: Redis, namespace: string) {
  const key = (docUuid: string) => `${namespace}:force:${docUuid}`;
  return {
    key,
    async leave(docUuid: string, force: Force): Promise<void> {
      await redis.eval(LEAVE, 1, key(docUuid), force, randomBytes(6).toString('hex'), KEEP_MS);
    },
    /** The demand in a note's value. */
    read(note: string | null): Force | undefined {
      const force = note?.split('~')[0];
      return force === 'recommit' || force === 'rebuild' ? force : undefined;
    },
    /** Met: takes the note away, unless another was left meanwhile. */
    async clear(docUuid: string, note: string): Promise<void> {
      await redis.eval(CLEAR, 1, key(docUuid), note);
    },
  };
}
