import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until something holds; what it throws counts as not yet. Throws after `timeoutMs`, naming what was waited for. */
export async function waitFor(
  holds: () => boolean | Promise<boolean>,
  timeoutMs: number,
  what: string,
  intervalMs = 50,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  let last: unknown;
  for (;;) {
    try {
      if (await holds()) return;
      last = undefined;
    } catch (cause) {
      last = cause;
    }
    if (performance.now() > deadline)
      throw new Error(`waited ${timeoutMs / 1000} s in vain until ${what}${last === undefined ? '' : ` (${String(last)})`}`);
    await sleep(intervalMs);
  }
}
