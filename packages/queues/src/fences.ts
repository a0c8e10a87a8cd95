import { attemptUuid, type Clock, type Fence, type Fences, systemClock } from '@sluice/core';
import type { Redis } from 'ioredis';
import { withRedis } from './redis.js';

/**
 * How long a counter outlives its last use. Losing one is safe (the next fence is above it by the clock, and nothing is deleted on a
 * missing counter), but it makes the sweep write the document once more; a tombstone is swept after a day.
 */
const KEEP_MS = 7 * 24 * 3_600_000;

/** The server's run_id changes with every start and failover: a counter that was rolled back with it is recognised. */
const RUN_ID = `local run_id = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')`;

/** Microseconds pass 2^53 in the year 2255, so Lua's doubles hold them exactly; %.0f prints them without an exponent. */
const TAKE = `
${RUN_ID}
local time = redis.call('TIME')
local counter = tonumber(redis.call('HGET', KEYS[1], 'fence') or '0')
local fence = math.max(counter, tonumber(time[1]) * 1000000 + tonumber(time[2]), tonumber(ARGV[1]), tonumber(ARGV[2])) + 1
local text = string.format('%.0f', fence)
redis.call('HSET', KEYS[1], 'fence', text, 'attempt', ARGV[3], 'run_id', run_id)
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return text`;

const HOLDS = `
${RUN_ID}
local held = redis.call('HMGET', KEYS[1], 'fence', 'attempt', 'run_id')
return (held[1] == ARGV[1] and held[2] == ARGV[2] and held[3] == run_id) and 1 or 0`;

export interface FencesOptions {
  redis: Redis;
  /** Prefix of the instance's keys. */
  namespace: string;
  /** Default: the system's. */
  clock?: Pick<Clock, 'now'>;
}

/**
 * The fences of the commit protocol (PROTOCOL: Writer 1 and 6), one Lua call each. The newest fence is above every earlier one of its
 * document also after a flush, since Redis' clock, the worker's and the floor count too.
 * Errors: `queue_unavailable`.
 */
export function createFences({ redis, namespace, clock = systemClock }: FencesOptions): Fences {
  const key = (docUuid: string) => `${namespace}:fence:${docUuid}`;
  return {
    async take(docUuid, floor = 0): Promise<Fence> {
      const attempt = attemptUuid();
      const own = Math.round(clock.now() * 1000);
      const value = await withRedis(redis, () => redis.eval(TAKE, 1, key(docUuid), own, floor, attempt, KEEP_MS));
      return { value: Number(value), attempt };
    },
    async holds(docUuid, fence): Promise<boolean> {
      const held = await withRedis(redis, () => redis.eval(HOLDS, 1, key(docUuid), fence.value.toFixed(0), fence.attempt));
      return held === 1;
    },
  };
}
