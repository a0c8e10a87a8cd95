import { collectKnown } from '@sluice/sources';
import { createRateLimit } from './enqueue.js';
import { createSourceRunner, type ScanReason, type SourceRunner } from './source-runner.js';
import type { WatcherDeps } from './watched-source.js';

export interface WatcherApp {
  /** Resolves when every source that is there is watched. Scans follow by themselves. */
  start(): Promise<void>;
  /** Also while start is under way, of which nothing follows then. */
  stop(): Promise<void>;
  /** Scans that have ended so far, whatever led to them. */
  readonly scans: number;
}

/** How often requests for scans are looked for, and roots are looked at. */
const LOOK_MS = 200;
const TEND_MS = 1000;
/** A state that stays the same is published so often, so that it does not expire. */
const PUBLISH_MS = 5000;
const FLUSH_MS = 5000;
/** First wait after a scan that failed; doubled up to the longest. */
const RETRY_MS = 500;
const LONGEST_RETRY_MS = 5000;
const UNWATCHED_SCAN_MS = 10_000;
const LOG_EVERY_MS = 60_000;

interface Due {
  /** Monotonic time of the next scan. */
  at: number;
  /** A start or a flush: failures that may have passed are tried again. */
  retryTransient: boolean;
  /** Highest request answered. */
  answered: number;
  /** Scans that failed in a row. */
  failures: number;
  /** The last scan failed, and the next has not begun. */
  held: boolean;
}

/** Turns what happens in the sources' folders into reconcile jobs: by events, and by scans at start, in intervals and on request. */
export function createWatcherApp(deps: WatcherDeps): WatcherApp {
  const { clock, control, logger } = deps;
  const stopping = new AbortController();
  const { signal } = stopping;
  const mayLog = createRateLimit(clock, LOG_EVERY_MS);
  const due = new Map<string, Due>();
  const runners = deps.sources.map((source) =>
    createSourceRunner(deps, source, (reason, delayMs) => need(source.name, reason, delayMs)),
  );
  const loops: Promise<void>[] = [];
  const told = new Set(deps.sources.map(({ name }) => name));
  const published = new Map<string, { text: string; at: number }>();
  const lastMs = new Map<string, number>();
  /** Scans under way, each of which may wait for long while the queue is full. */
  const scanning = new Map<string, Promise<void>>();
  let scans = 0;
  let queueAway = false;

  function need(source: string, reason: ScanReason, delayMs = 0): void {
    const entry = entryOf(source);
    // A scan that failed waits for its turn, whoever asks.
    if (!entry.held) entry.at = Math.min(entry.at, clock.monotonic() + delayMs);
    if (reason === 'start') entry.retryTransient = true;
  }

  function entryOf(source: string): Due {
    const entry = due.get(source) ?? {
      at: Number.POSITIVE_INFINITY,
      retryTransient: false,
      answered: 0,
      failures: 0,
      held: false,
    };
    due.set(source, entry);
    return entry;
  }

  /** A source that cannot be watched in whole is scanned more often, but never most of the time. */
  function intervalOf({ source, state }: SourceRunner): number {
    const interval = source.scanIntervalS * 1000;
    if (state().watch_error === undefined) return interval;
    return Math.min(interval, Math.max(UNWATCHED_SCAN_MS, 10 * (lastMs.get(source.name) ?? 0)));
  }

  function warn(error: unknown, message: string): void {
    const text = error instanceof Error ? error.message : String(error);
    const { pass, suppressed } = mayLog(`${message} ${text}`);
    if (pass) logger.warn({ err: error, suppressed }, message);
  }

  async function repeat(everyMs: number, work: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      await work().catch((error: unknown) => {
        if (!signal.aborted) warn(error, 'the watcher is disturbed; it goes on');
      });
      await clock.sleep(everyMs, signal).catch(() => undefined);
    }
  }

  /** The number up to which a scan that begins now answers; undefined while the queue is away. */
  async function lookAtControl(): Promise<number | undefined> {
    try {
      const view = await control.look(deps.sources.map(({ name }) => name));
      for (const [source, requested] of view.requested) if (requested > entryOf(source).answered) need(source, 'request');
      // Jobs may be lost with a flush, and what happened while the queue was away was not told to it.
      if (view.flushed || queueAway) for (const { name } of deps.sources) need(name, view.flushed ? 'start' : 'queue');
      if (view.flushed) published.clear();
      if (view.flushed) logger.warn('Redis has lost its keys; all sources are scanned');
      queueAway = false;
      return view.now;
    } catch (error) {
      queueAway = true;
      warn(error, 'the queue is away; a scan follows when it is back');
      return undefined;
    }
  }

  async function scanDue(): Promise<void> {
    const upTo = await lookAtControl();
    const now = clock.monotonic();
    if (upTo === undefined) return;
    const chosen = runners.filter(({ source }) => !scanning.has(source.name) && entryOf(source.name).at <= now);
    if (chosen.length === 0) return;
    const before = new Map(chosen.map(({ source }) => [source.name, entryOf(source.name)]));
    for (const runner of chosen) {
      const { failures } = entryOf(runner.source.name);
      due.set(runner.source.name, { at: now + intervalOf(runner), retryTransient: false, answered: upTo, failures, held: false });
    }
    const names = chosen.map(({ source }) => source.name);
    try {
      const { known, others } = await collectKnown(deps.walkRecords(), names);
      tellOfUnconfigured(others);
      for (const runner of chosen) {
        const { name } = runner.source;
        // Not awaited: what one source cannot do, or waits for, must not keep the others from being scanned.
        const work = scanOne(runner, known.get(name) ?? new Map(), before.get(name), upTo)
          .catch((error: unknown) => retry(name, before.get(name), error))
          .finally(() => scanning.delete(name));
        scanning.set(name, work);
      }
    } catch (error) {
      for (const name of names) retry(name, before.get(name), error);
    }
  }

  /** Once in a process' life for each source that is no longer configured: its documents are kept. */
  function tellOfUnconfigured(documents: ReadonlyMap<string, number>): void {
    for (const [source, count] of documents) {
      if (told.has(source)) continue;
      told.add(source);
      logger.warn(
        { source, documents: count },
        `source "${source}" is no longer configured; its documents are kept and answer queries until: sluice source remove ${source}`,
      );
    }
  }

  async function publish(runner: SourceRunner): Promise<void> {
    const { name } = runner.source;
    const state = runner.state();
    const text = JSON.stringify(state);
    const before = published.get(name);
    if (queueAway || (before?.text === text && clock.monotonic() - before.at < PUBLISH_MS)) return;
    await control.publish(name, state);
    published.set(name, { text, at: clock.monotonic() });
  }

  /** A scan that failed is due again soon, and not answered. */
  function retry(source: string, entry: Due | undefined, error: unknown): void {
    if (signal.aborted) return;
    const meanwhile = entryOf(source);
    const failures = meanwhile.failures + 1;
    const wait = Math.min(RETRY_MS * 2 ** Math.min(failures - 1, 10), LONGEST_RETRY_MS);
    const at = clock.monotonic() + wait;
    const retryTransient = entry?.retryTransient === true || meanwhile.retryTransient;
    due.set(source, { at, retryTransient, answered: entry?.answered ?? 0, failures, held: true });
    warn(error, 'a scan failed; it is tried again');
  }

  const flushMetrics = () =>
    deps.metrics.flush().catch((cause: unknown) => logger.warn({ cause: String(cause) }, 'metrics could not be written'));

  async function scanOne(
    runner: SourceRunner,
    known: Parameters<SourceRunner['scan']>[0]['known'],
    entry: Due | undefined,
    upTo: number,
  ): Promise<void> {
    const { name } = runner.source;
    const began = clock.monotonic();
    const acceptRoot = await control.takeAcceptance(name);
    const result = await runner.scan({ known, retryTransient: entry?.retryTransient ?? false, acceptRoot, signal });
    scans++;
    const ms = Math.round(clock.monotonic() - began);
    lastMs.set(name, ms);
    const { files, errorCount, root } = result.summary;
    logger.info({ source: name, files, differences: result.differences, errors: errorCount, root: root.state, ms }, 'scan');
    await publish(runner);
    // A scan is done though its numbers cannot be written: on a full disk it would be asked for again and again.
    await flushMetrics();
    // Not awaited: a file that is written without end must not hold up the next scan.
    result.queued
      .then(async () => {
        await control.answerScan(name, upTo);
        entryOf(name).failures = 0;
      })
      .catch((error: unknown) => retry(name, entry, error));
  }

  return {
    get scans() {
      return scans;
    },
    async start() {
      await Promise.all(runners.map((runner) => runner.start()));
      loops.push(
        repeat(LOOK_MS, scanDue),
        repeat(TEND_MS, async () => {
          await Promise.all(runners.map((runner) => runner.tend()));
          await Promise.all(runners.map(publish));
        }),
        repeat(FLUSH_MS, flushMetrics),
      );
    },
    async stop() {
      stopping.abort(new Error('stopped'));
      await Promise.all(loops);
      await Promise.all(scanning.values());
      await Promise.all(runners.map((runner) => runner.stop()));
      await flushMetrics();
    },
  };
}
