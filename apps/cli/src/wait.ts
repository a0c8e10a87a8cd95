import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from './context.js';

const POLL_MS = 100;

/** Asks again and again until there is an answer. Undefined when `timeoutMs` has passed without one. */
export async function waitFor<T>(
  { signal }: Pick<Context, 'signal'>,
  timeoutMs: number | undefined,
  ask: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const end = timeoutMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    const left = end - performance.now();
    if (left <= 0) return undefined;
    await delay(Math.min(POLL_MS, left), undefined, { signal });
  }
}
