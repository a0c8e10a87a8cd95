import { setTimeout as sleep } from 'node:timers/promises';

const INTERVAL_MS = 20;

/**
 * Asks again and again until the check neither throws nor yields false, and yields what it yielded.
 *
 * @param limitMs after which the check's last error is thrown. No busy machine reaches it, only a hang does; by default it is below a
 * test's own limit (60 s), so that the failure says what was waited for.
 */
export async function until<T>(check: () => T | Promise<T>, limitMs = 45_000): Promise<Exclude<T, false>> {
  const end = performance.now() + limitMs;
  for (;;) {
    let last: unknown = new Error(`still not so: ${check}`);
    try {
      const answer = await check();
      if (answer !== false) return answer as Exclude<T, false>;
    } catch (error) {
      last = error;
    }
    if (performance.now() > end) throw last;
    await sleep(INTERVAL_MS);
  }
}
