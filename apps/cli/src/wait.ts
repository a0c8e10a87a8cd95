import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from './context.js';

/** First pause between two questions; it grows to the longest, since each answer costs the API a count of what is stored. */
const POLL_MS = 100;
const LONGEST_POLL_MS = 1_000;

/** Asks again and again until there is an answer. Undefined when `timeoutMs` has passed without one. */
export async function waitFor<T>(
  { signal }: Pick<Context, 'signal'>,
  timeoutMs: number | undefined,
  ask: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const end = timeoutMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + timeoutMs;
  for (let pause = POLL_MS; ; pause = Math.min(LONGEST_POLL_MS, pause * 1.25)) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    const left = end - performance.now();
    if (left <= 0) return undefined;
    await delay(Math.min(pause, left), undefined, { signal });
  }
}
