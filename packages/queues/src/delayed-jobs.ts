import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';

/** Jobs looked at in one script call, so that none holds Redis for long. */
const SLICE = 1000;
/** Milliseconds by which clocks may differ, or be set, without anything being done about it. */
const TOLERANCE_MS = 2000;

/**
 * Brings the jobs forward that would wait longer than their own delay, a slice from a score on. BullMQ's score is the due time in
 * Unix milliseconds * 4096 + a counter; the marker is what idle workers wait for. One script, since a job may be taken or replaced
 * between two commands.
 * The scores given differ, so that a slice's end is never among equal ones. Answers the number brought forward, and the last score looked at, '' at the end.
 */
const BRING_FORWARD = `
local prefix, now, tolerance = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
local delayed = prefix .. 'delayed'
local found = redis.call('ZRANGE', delayed, ARGV[3], '+inf', 'BYSCORE', 'LIMIT', 0, ARGV[4], 'WITHSCORES')
local moved = 0
for at = 1, #found, 2 do
  local delay = tonumber(redis.call('HGET', prefix .. found[at], 'delay') or '0')
  if tonumber(found[at + 1]) / 4096 - now > delay + tolerance then
    redis.call('ZADD', delayed, string.format('%.0f', (now + delay) * 4096 + ARGV[5] + moved), found[at])
    moved = moved + 1
  end
end
if moved > 0 then
  local first = redis.call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
  redis.call('ZADD', prefix .. 'marker', string.format('%.0f', math.floor(tonumber(first[2]) / 4096)), '1')
end
return {moved, found[#found] or ''}`;

/**
 * Makes no job wait longer than its delay, whatever happened to clocks. Due times are computed by the clock of who delays a job, and
 * compared with the clock of a worker; when that is behind, or was set back, a job would wait for the difference. Due times are only
 * ever brought nearer: a clock that is ahead or set forward ends waits early, which does no harm.
 *
 * @param nowMs this worker's clock, Unix milliseconds: the one by which it will take the job
 * @returns number of jobs brought forward
 */
export async function bringForward(redis: Redis, prefix: string, nowMs: number): Promise<number> {
  let total = 0;
  // Nearer than this no job can be too far off, whatever its delay.
  let from = String((nowMs + TOLERANCE_MS) * 4096);
  for (;;) {
    const [moved, last] = (await redis.eval(BRING_FORWARD, 1, prefix, nowMs, TOLERANCE_MS, from, SLICE, total)) as [
      number,
      string,
    ]; // the script's reply
    total += moved;
    if (last === '') return total;
    from = `(${last}`;
  }
}

/** One job, whatever its delay. Answers 0 when it is not among the delayed ones. */
const MAKE_DUE = `
local delayed, due = KEYS[1] .. 'delayed', tonumber(ARGV[1])
if not redis.call('ZSCORE', delayed, ARGV[2]) then return 0 end
redis.call('ZADD', delayed, string.format('%.0f', due * 4096), ARGV[2])
redis.call('ZADD', KEYS[1] .. 'marker', string.format('%.0f', due), '1')
return 1`;

/**
 * Ends a job's delay.
 *
 * @param nowMs this worker's clock, Unix milliseconds
 * @returns whether it was delayed
 */
export async function makeDue(redis: Redis, prefix: string, id: string, nowMs: number): Promise<boolean> {
  return (await redis.eval(MAKE_DUE, 1, prefix, nowMs, id)) === 1;
}

/** Calls bringForward again and again, `everyMs` apart and more where a look takes long, until it is aborted. */
export async function keepBringingForward(options: {
  redis: Redis;
  prefix: string;
  everyMs: number;
  signal: AbortSignal;
  onMoved(count: number): void;
  onError(error: Error): void;
}): Promise<void> {
  const { redis, prefix, everyMs, signal } = options;
  for (let tookMs = 0; !signal.aborted; ) {
    await sleep(Math.max(everyMs, 20 * tookMs), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    const began = performance.now();
    try {
      const moved = await bringForward(redis, prefix, Date.now());
      if (moved > 0) options.onMoved(moved);
    } catch (error) {
      options.onError(error instanceof Error ? error : new Error(String(error)));
    }
    tookMs = performance.now() - began;
  }
}
