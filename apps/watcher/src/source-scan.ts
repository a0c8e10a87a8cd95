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
import { createBatcher, enqueue } from './enqueue.js';
import type { WatchedSource, WatcherDeps } from './watched-source.js';

interface ScanRequest {
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
  /** Resolves when nothing is under way; what waits is left to the scan of the next start. */
  stop(): Promise<void>;
}

/** Differences that wait to be still, or for room in the queue, before the walk is held up: bounds memory. */
const MAX_WAITING = 5000;
const HELD_UP_MS = 50;

interface Outstanding {
  cause: Cause;
  /** Scans that found it. */
  tallies: Tally[];
}

interface Unsent extends Outstanding {
  path: string;
  gone: boolean;
}

/** Compares one source with the store and puts what differs into the queue, each file once it is still. */
export function createSourceScan(
  deps: WatcherDeps,
  source: WatchedSource,
  parts: { guard: RootGuard; verified: VerifiedStats; onSeen(path: string): void },
): SourceScan {
  const { queue, files, clock } = deps;
  /** What waits to be still. */
  const outstanding = new Map<string, Outstanding>();
  /** Differences that are not in the queue yet: those that wait to be still, and those that wait for room. */
  let unsent = 0;
  const stopping = new AbortController();

  const settler = createSettler({
    files,
    clock,
    stabilityMs: source.stabilityMs,
    onError: (path) => isStill([path]),
    onSettled: (settled) => isStill(settled.map(({ key }) => key)),
  });

  // One at a time, since each waits while the queue is full: many that wait would all ask Redis, and all add when there is room.
  const sends = createBatcher<Unsent>({
    async send(batch) {
      const requests = batch.map(({ path, cause, gone }) => ({ request: { source: source.name, path, cause }, gone }));
      let failure: unknown;
      try {
        await enqueue(queue, requests, 'bulk', stopping.signal);
      } catch (error) {
        failure = error;
      }
      unsent -= batch.length;
      for (const { tallies } of batch) for (const tally of tallies) tally.end(failure);
    },
    onError: () => undefined,
  });

  /** Whatever became of the file meanwhile, the job will see it. */
  function isStill(paths: string[]): void {
    const still = paths.flatMap((path) => {
      const entry = outstanding.get(path);
      outstanding.delete(path);
      return entry === undefined ? [] : [{ path, gone: false, ...entry }];
    });
    sends.add(still);
  }

  function take(difference: Difference, tally: Tally): void {
    const { path, cause } = difference;
    tally.begin();
    const entry = outstanding.get(path);
    if (difference.gone || entry === undefined) unsent++;
    if (difference.gone) {
      sends.add([{ ...difference, tallies: [tally] }]);
      return;
    }
    outstanding.set(path, { cause, tallies: [...(entry?.tallies ?? []), tally] });
    settler.watch(path, join(source.path, ...path.split('/')));
  }

  return {
    async run({ known, retryTransient, signal }) {
      const tally = createTally();
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
        for (const difference of step.value) take(difference, tally);
        while (unsent > MAX_WAITING) await clock.sleep(HELD_UP_MS, signal);
        step = await comparison.next();
      }
      tally.end();
      return { summary: step.value, differences, queued: tally.queued };
    },
    async stop() {
      stopping.abort(new Error('stopped'));
      settler.stop();
      for (const { tallies } of outstanding.values()) for (const tally of tallies) tally.end(new Error('stopped'));
      outstanding.clear();
      await sends.idle();
    },
  };
}

/** Counts what of one scan is not in the queue yet, the walk itself as one. A promise for each of millions of files would be too much. */
interface Tally {
  begin(): void;
  end(failure?: unknown): void;
  /** Resolves when everything has ended, rejects with the first failure. */
  readonly queued: Promise<void>;
}

function createTally(): Tally {
  let left = 1;
  let settle: (failure?: unknown) => void = () => undefined;
  const queued = new Promise<void>((resolve, reject) => {
    settle = (failure) => (failure === undefined ? resolve() : reject(failure));
  });
  // Awaited when the walk is over; without this an early failure would be an unhandled one.
  queued.catch(() => undefined);
  return {
    queued,
    begin() {
      left++;
    },
    end(failure) {
      left--;
      if (failure !== undefined || left === 0) settle(failure);
    },
  };
}
