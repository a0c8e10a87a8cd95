import { type Clock, type FileStat, type Files, sameStat } from '@sluice/core';

export interface StabilityOptions {
  /** Milliseconds for which size, mtime, ctime and inode stay the same. */
  stabilityMs: number;
  clock: Clock;
  signal?: AbortSignal;
}

/** A quiet time is watched at least in so many looks, so that a change inside it begins it anew soon. */
const LOOKS = 3;

/**
 * Waits until a file has been still for stabilityMs, and returns its stat; undefined when it is gone or no file (any more).
 * Times are taken from this process' own clock, never from the file: a server's clock may differ.
 */
export async function waitUntilStable(files: Files, path: string, options: StabilityOptions): Promise<FileStat | undefined> {
  let last = await files.stat(path);
  let since = options.clock.monotonic();
  for (;;) {
    if (last === undefined || last.kind !== 'file') return undefined;
    const left = options.stabilityMs - (options.clock.monotonic() - since);
    if (left <= 0) return last;
    await options.clock.sleep(Math.min(left, Math.ceil(options.stabilityMs / LOOKS)), options.signal);
    const next = await files.stat(path);
    if (!sameStat(last, next)) {
      last = next;
      since = options.clock.monotonic();
    }
  }
}
