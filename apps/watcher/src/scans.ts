import { collectKnown, type KnownDocuments } from '@sluice/sources';
import type { DueScan, ScanSchedule } from './scan-schedule.js';
import type { SourceRunner } from './source-runner.js';
import type { WatcherDeps } from './watched-source.js';

const UNWATCHED_SCAN_MS = 10_000;

export interface Scans {
  /** Scans that have ended so far, whatever led to them. */
  readonly ended: number;
  /** Starts the scans that are due. They answer requests up to `upTo`. */
  startDue(upTo: number): Promise<void>;
  /** Resolves when no scan is under way. */
  idle(): Promise<void>;
}

export interface ScansOptions {
  runners: readonly SourceRunner[];
  schedule: ScanSchedule;
  signal: AbortSignal;
  warn(error: unknown, message: string): void;
  onEnded(runner: SourceRunner): Promise<void>;
}

/** Runs the scans that the schedule names, each source's apart from the others'. */
export function createScans(deps: WatcherDeps, { runners, schedule, signal, warn, onEnded }: ScansOptions): Scans {
  const { clock, control, logger } = deps;
  /** Scans under way, each of which may wait for long while the queue is full. */
  const underWay = new Map<string, Promise<void>>();
  const lastMs = new Map<string, number>();
  const known = new Set(deps.sources.map(({ name }) => name));
  let ended = 0;

  return {
    get ended() {
      return ended;
    },
    startDue,
    async idle() {
      await Promise.all(underWay.values());
    },
  };

  async function startDue(upTo: number): Promise<void> {
    const due = runners
      .filter(({ source }) => !underWay.has(source.name) && schedule.isDue(source.name))
      .map((runner) => ({ runner, scan: schedule.begin(runner.source.name, upTo, intervalOf(runner)) }));
    if (due.length === 0) return;
    try {
      const names = due.map(({ runner }) => runner.source.name);
      const { known: documents, others } = await collectKnown(deps.walkRecords(), names);
      reportUnconfigured(others);
      for (const { runner, scan } of due) {
        const { name } = runner.source;
        // Not awaited: what one source cannot do, or waits for, must not keep the others from being scanned.
        const work = run(runner, documents.get(name) ?? new Map(), { ...scan, upTo })
          .catch((error: unknown) => fail(name, scan, error))
          .finally(() => underWay.delete(name));
        underWay.set(name, work);
      }
    } catch (error) {
      for (const { runner, scan } of due) fail(runner.source.name, scan, error);
    }
  }

  async function run(runner: SourceRunner, documents: KnownDocuments, scan: DueScan & { upTo: number }): Promise<void> {
    const { name } = runner.source;
    const began = clock.monotonic();
    const acceptRoot = await control.takeAcceptance(name);
    const { retryTransient } = scan;
    const result = await runner.scan({ known: documents, retryTransient, acceptRoot, signal });
    ended++;
    const ms = Math.round(clock.monotonic() - began);
    lastMs.set(name, ms);
    const { files, errorCount, root } = result.summary;
    logger.info({ source: name, files, differences: result.differences, errors: errorCount, root: root.state, ms }, 'scan');
    await onEnded(runner);
    // Not awaited: a file that is written without end must not hold up the next scan.
    result.queued
      .then(async () => {
        await control.answerScan(name, scan.upTo);
        schedule.succeeded(name);
      })
      .catch((error: unknown) => fail(name, scan, error));
  }

  function fail(source: string, scan: DueScan, error: unknown): void {
    if (signal.aborted) return;
    schedule.failed(source, scan);
    warn(error, 'a scan failed; it is tried again');
  }

  /** A source that cannot be watched in whole is scanned more often, but never most of the time. */
  function intervalOf({ source, state }: SourceRunner): number {
    const interval = source.scanIntervalS * 1000;
    if (state().watch_error === undefined) return interval;
    return Math.min(interval, Math.max(UNWATCHED_SCAN_MS, 10 * (lastMs.get(source.name) ?? 0)));
  }

  /** Once in a process' life for each source that is no longer configured: its documents are kept. */
  function reportUnconfigured(documents: ReadonlyMap<string, number>): void {
    for (const [source, count] of documents) {
      if (known.has(source)) continue;
      known.add(source);
      logger.warn(
        { source, documents: count },
        `source "${source}" is no longer configured; its documents are kept and answer queries until: sluice source remove ${source}`,
      );
    }
  }
}
