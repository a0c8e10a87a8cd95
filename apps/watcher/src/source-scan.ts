import { join } from 'node:path';
import type { Cause } from '@sluice/core';
import {
  type CompareSummary,
  compareSource,
  createSettler,
  type Difference,
  type KnownDocuments,
  type RootGuard,
  type VerifiedStats,
} from '@sluice/sources';
import { enqueue } from './enqueue.js';
import type { WatchedSource, WatcherDeps } from './watched-source.js';

export interface ScanRequest {
  known: KnownDocuments;
  /** At start and after a flush. */
  retryTransient: boolean;
  signal: AbortSignal;
}

export interface ScanResult {
  summary: CompareSummary;
  differences: number;
  /** Resolves when every file that this scan found different is still and its job is in the queue. Rejects with `queue_unavailable`. */
  queued: Promise<void>;
}

export interface SourceScan {
  run(request: ScanRequest): Promise<ScanResult>;
  stop(): void;
}

/** Differences that wait to be still before the walk is held up: bounds memory, and the load on a store that lags behind. */
const MAX_WAITING = 5000;
const HELD_UP_MS = 50;

interface Outstanding {
  cause: Cause;
  waiters: { settle(): void; fail(error: unknown): void }[];
}

/** Compares one source with the store and puts what differs into the queue, each file once it is still. */
export function createSourceScan(
  deps: WatcherDeps,
  source: WatchedSource,
  parts: { guard: RootGuard; verified: VerifiedStats; onSeen(path: string): void },
): SourceScan {
  const { queue, files, clock } = deps;
  const outstanding = new Map<string, Outstanding>();
  const stopping = new AbortController();

  const settler = createSettler({
    files,
    clock,
    stabilityMs: source.stabilityMs,
    onError: (path) => void send([path]),
    onSettled: (settled) => void send(settled.map(({ key }) => key)),
  });

  /** Whatever became of the file meanwhile, the job will see it. */
  async function send(paths: string[]): Promise<void> {
    const entries = paths.flatMap((path) => {
      const entry = outstanding.get(path);
      outstanding.delete(path);
      return entry === undefined ? [] : [{ path, entry }];
    });
    try {
      await enqueue(
        queue,
        entries.map(({ path, entry }) => ({ request: { source: source.name, path, cause: entry.cause }, gone: false })),
        'bulk',
        stopping.signal,
      );
      for (const { entry } of entries) for (const waiter of entry.waiters) waiter.settle();
    } catch (error) {
      for (const { entry } of entries) for (const waiter of entry.waiters) waiter.fail(error);
    }
  }

  function whenStill(difference: Difference): Promise<void> {
    const entry = outstanding.get(difference.path) ?? { cause: difference.cause, waiters: [] };
    entry.cause = difference.cause;
    outstanding.set(difference.path, entry);
    settler.watch(difference.path, join(source.path, ...difference.path.split('/')));
    return new Promise((settle, fail) => entry.waiters.push({ settle, fail }));
  }

  return {
    async run({ known, retryTransient, signal }) {
      const waits: Promise<void>[] = [];
      const hold = (wait: Promise<void>) => {
        // Awaited as a whole below; without this an early failure would be an unhandled one.
        wait.catch(() => undefined);
        waits.push(wait);
      };
      const comparison = compareSource({
        root: source.path,
        files,
        settings: { include: source.include, exclude: source.exclude },
        known,
        policyFor: (path, format) => deps.policyFor(source.name, path, format),
        guard: parts.guard,
        verified: parts.verified,
        retryTransient,
        mtimeMatters: source.mtimeMatters,
        onFiles: (count) => deps.metrics.filesScanned.inc(count),
        onSeen: parts.onSeen,
        signal,
      });
      let differences = 0;
      let step = await comparison.next();
      while (step.done !== true) {
        differences += step.value.length;
        const gone = step.value.filter((difference) => difference.gone);
        for (const difference of step.value) if (!difference.gone) hold(whenStill(difference));
        if (gone.length > 0) {
          const requests = gone.map(({ path, cause }) => ({ request: { source: source.name, path, cause }, gone: true }));
          await enqueue(queue, requests, 'bulk', signal);
        }
        while (outstanding.size > MAX_WAITING) await clock.sleep(HELD_UP_MS, signal);
        step = await comparison.next();
      }
      return { summary: step.value, differences, queued: Promise.all(waits).then(() => undefined) };
    },
    stop() {
      stopping.abort(new Error('stopped'));
      settler.stop();
      for (const { waiters } of outstanding.values()) for (const waiter of waiters) waiter.fail(new Error('stopped'));
      outstanding.clear();
    },
  };
}
