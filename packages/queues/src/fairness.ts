import type { Urgency } from '@sluice/core';
import type { Redis } from 'ioredis';

/** BullMQ's priorities run from 1 (first) to 2^21 - 1; 0 would jump all of them. Each urgency has a band of its own. */
const BANDS: Record<Urgency, { first: number; last: number }> = {
  interactive: { first: 1, last: 2 ** 20 - 1 },
  bulk: { first: 2 ** 20, last: 2 ** 21 - 1 },
};

/**
 * Start-time fair queueing (Goyal, Vin and Cheng 1996) with jobs of equal cost: a flow's next job stands one place behind its last
 * one, but not before the place that is being served. So flows take turns however many jobs one of them has waiting. A score of
 * BullMQ's sorted set is priority * 2^32 + a counter. A place past the band's end is its end: order is lost there, jobs are not.
 */
const RESERVE = `
local first, last, count = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[4])
local low = string.format('%.0f', first * 4294967296)
local high = string.format('%.0f', (last + 1) * 4294967296 - 1)
local head = redis.call('ZRANGE', KEYS[1], low, high, 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')
local place = first
if head[2] then
  place = math.floor(tonumber(head[2]) / 4294967296)
else
  redis.call('DEL', KEYS[2])
end
place = math.min(last, math.max(place, tonumber(redis.call('HGET', KEYS[2], ARGV[3]) or '0')))
redis.call('HSET', KEYS[2], ARGV[3], string.format('%.0f', place + count))
redis.call('PEXPIRE', KEYS[2], 86400000)
return place`;

export interface PlaceKeys {
  /** BullMQ's sorted set of prioritized jobs. */
  prioritized: string;
  namespace: string;
}

/** Priorities for the next `count` jobs of a flow, in order. */
export async function reservePriorities(
  redis: Redis,
  keys: PlaceKeys,
  { flow, urgency, count }: { flow: string; urgency: Urgency; count: number },
): Promise<number[]> {
  const { first, last } = BANDS[urgency];
  const place = Number(
    await redis.eval(RESERVE, 2, keys.prioritized, `${keys.namespace}:places:${urgency}`, first, last, flow, count),
  );
  return Array.from({ length: count }, (_, index) => Math.min(last, place + index));
}

export function urgencyOf(priority: number): Urgency {
  return priority >= BANDS.bulk.first ? 'bulk' : 'interactive';
}
