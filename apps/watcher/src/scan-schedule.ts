import type { Clock } from '@sluice/core';
import type { ScanReason } from './root-watch.js';

/** First wait after a scan that failed, milliseconds; doubled up to the longest. */
const RETRY_MS = 500;
const LONGEST_RETRY_MS = 5000;

/** One scan: what asked for it, and what it answers when it is done. */
export interface DueScan {
  /** A start or a flush: failures that may have passed are tried again. */
  retryTransient: boolean;
  /** Highest request answered before it. */
  answered: number;
}

interface Entry extends DueScan {
  /** Monotonic time of the next scan. */
  at: number;
  /** Scans that failed in a row. */
  failures: number;
  /** The last scan failed, and the next has not begun. */
  held: boolean;
}

/** When each source is to be scanned next. It keeps time, and scans nothing. */
export interface ScanSchedule {
  need(source: string, reason: ScanReason, delayMs?: number): void;
  /** Scans are asked for by numbers: makes the source due unless a scan has answered this one. */
  request(source: string, requested: number): void;
  isDue(source: string): boolean;
  /** A scan begins, which answers requests up to `upTo`; the next follows after the interval. */
  begin(source: string, upTo: number, intervalMs: number): DueScan;
  /** A scan that failed is due again soon, and not answered. */
  failed(source: string, scan: DueScan): void;
  succeeded(source: string): void;
}

export function createScanSchedule(clock: Clock): ScanSchedule {
  const entries = new Map<string, Entry>();
  return {
    need,
    request(source, requested) {
      if (requested > entryOf(source).answered) need(source, 'request');
    },
    isDue: (source) => entryOf(source).at <= clock.monotonic(),
    begin(source, upTo, intervalMs) {
      const { retryTransient, answered, failures } = entryOf(source);
      const at = clock.monotonic() + intervalMs;
      entries.set(source, { at, retryTransient: false, answered: upTo, failures, held: false });
      return { retryTransient, answered };
    },
    failed(source, { retryTransient, answered }) {
      const entry = entryOf(source);
      entry.failures++;
      entry.at = clock.monotonic() + Math.min(RETRY_MS * 2 ** Math.min(entry.failures - 1, 10), LONGEST_RETRY_MS);
      entry.retryTransient ||= retryTransient;
      entry.answered = answered;
      entry.held = true;
    },
    succeeded(source) {
      entryOf(source).failures = 0;
    },
  };

  function need(source: string, reason: ScanReason, delayMs = 0): void {
    const entry = entryOf(source);
    // A scan that failed waits for its turn, whoever asks.
    if (!entry.held) entry.at = Math.min(entry.at, clock.monotonic() + delayMs);
    if (reason === 'start') entry.retryTransient = true;
  }

  function entryOf(source: string): Entry {
    let entry = entries.get(source);
    if (entry === undefined) {
      entry = { at: Number.POSITIVE_INFINITY, retryTransient: false, answered: 0, failures: 0, held: false };
      entries.set(source, entry);
    }
    return entry;
  }
}
