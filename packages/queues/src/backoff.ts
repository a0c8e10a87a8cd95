const LONGEST_MS = 10 * 60_000;

/**
 * Wait before attempt `attempt + 1`: doubled each time, plus up to a half at random, so that documents which failed together don't
 * come back together. The exponential part is a lower bound.
 */
export function backoffMs(baseMs: number, attempt: number): number {
  return Math.min(LONGEST_MS, Math.round(baseMs * 2 ** (attempt - 1) * (1 + Math.random() / 2)));
}
