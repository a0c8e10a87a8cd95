import { type Clock, SluiceError } from '@sluice/core';

export interface RateLimitOptions {
  /** Sustained calls a second. */
  perSecond: number;
  /** Calls at once before that rate holds. */
  burst: number;
}

/** Callers that are remembered: more than this and the longest unseen is forgotten, which can only be lenient. */
const MAX_CALLERS = 10_000;

/** A token bucket a caller. `take` throws `rate_limited` with the seconds to wait. */
export function createRateLimit({ perSecond, burst }: RateLimitOptions, clock: Clock) {
  const buckets = new Map<string, { tokens: number; at: number }>();

  function refill(caller: string): { tokens: number; at: number } {
    const now = clock.monotonic();
    const before = buckets.get(caller) ?? { tokens: burst, at: now };
    const bucket = { tokens: Math.min(burst, before.tokens + ((now - before.at) / 1000) * perSecond), at: now };
    // Set again, so that the map's order is that of the last call.
    buckets.delete(caller);
    buckets.set(caller, bucket);
    const oldest = buckets.keys().next().value;
    if (buckets.size > MAX_CALLERS && oldest !== undefined) buckets.delete(oldest);
    return bucket;
  }

  return {
    take(caller: string): void {
      const bucket = refill(caller);
      if (bucket.tokens < 1) {
        const wait = Math.ceil((1 - bucket.tokens) / perSecond);
        throw new SluiceError('rate_limited', `Too many requests: try again in ${wait} s.`, { details: { retry_after_s: wait } });
      }
      bucket.tokens -= 1;
    },
  };
}
