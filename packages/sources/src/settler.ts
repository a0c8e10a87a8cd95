import { type Clock, type FileStat, type Files, sameStat } from '@sluice/core';

export interface Settled {
  key: string;
  /** Undefined when nothing (or no file) is there any more. */
  stat: FileStat | undefined;
}

/** Waits for many files at once to be unchanged for a time. */
export interface Settler {
  /**
   * Begins to wait for a file; for one that is waited for already, looks again soon.
   *
   * @param key what onSettled is told
   */
  watch(key: string, path: string): void;
  /** Resolves when none is waited for, those that come meanwhile included. */
  idle(): Promise<void>;
  readonly size: number;
  stop(): void;
}

export interface SettlerOptions {
  files: Files;
  clock: Clock;
  /** Milliseconds for which size, mtime, ctime and inode stay the same. */
  stabilityMs: number;
  onSettled(settled: Settled[]): void;
  onError(key: string, error: unknown): void;
}

interface Waiting {
  key: string;
  path: string;
  stat: FileStat | undefined;
  /** Monotonic time since which the stat is the same; undefined before the first look. */
  since: number | undefined;
  /** Monotonic time of the next look. */
  due: number;
  /** Monotonic time at which it was last said to have been touched, and last looked at. */
  touched: number;
  looked: number;
}

/** A quiet time is watched at least in so many looks. */
const LOOKS = 3;
/** Stats asked at a time. */
const AT_ONCE = 128;
/** A file written without a pause is looked at no more often than this. */
const BETWEEN_LOOKS_MS = 20;

export function createSettler(options: SettlerOptions): Settler {
  const { files, clock, stabilityMs } = options;
  const step = Math.max(1, Math.ceil(stabilityMs / LOOKS));
  const waiting = new Map<string, Waiting>();
  let idlers: (() => void)[] = [];
  let stopped = false;
  let running = false;
  let wake = new AbortController();

  async function look(entry: Waiting): Promise<Settled | undefined> {
    const started = clock.monotonic();
    entry.looked = started;
    try {
      const found = await files.stat(entry.path);
      if (found === undefined || found.kind !== 'file') return finish(entry, started, undefined);
      const now = clock.monotonic();
      if (entry.since === undefined || !sameStat(entry.stat, found)) {
        entry.stat = found;
        entry.since = now;
      }
      const left = stabilityMs - (now - entry.since);
      if (left <= 0) return finish(entry, started, found);
      entry.due = now + Math.min(left, step);
    } catch (error) {
      waiting.delete(entry.key);
      options.onError(entry.key, error);
    }
    return undefined;
  }

  /** A touch that came while the file was looked at may be of a change that the look did not see: look again. */
  function finish(entry: Waiting, started: number, stat: FileStat | undefined): Settled | undefined {
    if (entry.touched >= started) {
      entry.due = clock.monotonic();
      return undefined;
    }
    waiting.delete(entry.key);
    return { key: entry.key, stat };
  }

  async function run(): Promise<void> {
    while (waiting.size > 0 && !stopped) {
      const now = clock.monotonic();
      let next = Number.POSITIVE_INFINITY;
      const due: Waiting[] = [];
      for (const entry of waiting.values()) {
        if (entry.due <= now) due.push(entry);
        else next = Math.min(next, entry.due);
      }
      if (due.length === 0) {
        wake = new AbortController();
        await clock.sleep(Math.max(1, next - now), wake.signal).catch(() => undefined);
        continue;
      }
      // All that are due, before the list is gone through again: else each 128 of many thousands would cost a walk over them all.
      for (let at = 0; at < due.length && !stopped; at += AT_ONCE) {
        const settled = (await Promise.all(due.slice(at, at + AT_ONCE).map(look))).filter((item) => item !== undefined);
        if (settled.length > 0 && !stopped) options.onSettled(settled);
      }
    }
    running = false;
    for (const resolve of idlers.splice(0)) resolve();
  }

  return {
    watch(key, path) {
      if (stopped) return;
      const now = clock.monotonic();
      const before = waiting.get(key);
      if (before === undefined)
        waiting.set(key, { key, path, stat: undefined, since: undefined, due: now, touched: -1, looked: now });
      else {
        before.touched = now;
        before.due = Math.min(before.due, Math.max(now, before.looked + BETWEEN_LOOKS_MS));
      }
      if (running) wake.abort(new Error('touched'));
      else {
        running = true;
        void run();
      }
    },
    idle() {
      if (waiting.size === 0 && !running) return Promise.resolve();
      return new Promise((resolve) => idlers.push(resolve));
    },
    get size() {
      return waiting.size;
    },
    stop() {
      stopped = true;
      waiting.clear();
      wake.abort(new Error('stopped'));
      for (const resolve of idlers.splice(0)) resolve();
      idlers = [];
    },
  };
}
