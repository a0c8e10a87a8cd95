import { createRateLimit } from './enqueue.js';
import { createScanSchedule } from './scan-schedule.js';
import { createScans } from './scans.js';
import { createSourceRunner, type SourceRunner } from './source-runner.js';
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
const LOG_EVERY_MS = 60_000;

/** Turns what happens in the sources' folders into reconcile jobs: by events, and by scans at start, in intervals and on request. */
export function createWatcherApp(deps: WatcherDeps): WatcherApp {
  const { clock, control, logger } = deps;
  const stopping = new AbortController();
  const { signal } = stopping;
  const mayLog = createRateLimit(clock, LOG_EVERY_MS);
  const names = deps.sources.map(({ name }) => name);
  const schedule = createScanSchedule(clock);
  const runners = deps.sources.map((source) =>
    createSourceRunner(deps, source, (reason, delayMs) => schedule.need(source.name, reason, delayMs)),
  );
  const scans = createScans(deps, {
    ...{ runners, schedule, signal, warn },
    async onEnded(runner) {
      await publish(runner);
      // A scan is done though its numbers cannot be written: on a full disk it would be asked for again and again.
      await flushMetrics();
    },
  });
  const loops: Promise<void>[] = [];
  const published = new Map<string, { text: string; at: number }>();
  let queueAway = false;

  return {
    get scans() {
      return scans.ended;
    },
    async start() {
      await Promise.all(runners.map((runner) => runner.start()));
      loops.push(
        repeat(LOOK_MS, async () => {
          const upTo = await lookAtControl();
          if (upTo !== undefined) await scans.startDue(upTo);
        }),
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
      await scans.idle();
      await Promise.all(runners.map((runner) => runner.stop()));
      await flushMetrics();
    },
  };

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
      const view = await control.look(names);
      for (const [source, requested] of view.requested) schedule.request(source, requested);
      // Jobs may be lost with a flush, and what happened while the queue was away is not in it.
      if (view.flushed || queueAway) for (const name of names) schedule.need(name, view.flushed ? 'start' : 'queue');
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

  async function publish(runner: SourceRunner): Promise<void> {
    const { name } = runner.source;
    const state = runner.state();
    const text = JSON.stringify(state);
    const before = published.get(name);
    if (queueAway || (before?.text === text && clock.monotonic() - before.at < PUBLISH_MS)) return;
    await control.publish(name, state);
    published.set(name, { text, at: clock.monotonic() });
  }

  async function flushMetrics(): Promise<void> {
    await deps.metrics.flush().catch((cause: unknown) => logger.warn({ cause: String(cause) }, 'metrics could not be written'));
  }

  function warn(error: unknown, message: string): void {
    const text = error instanceof Error ? error.message : String(error);
    const { pass, suppressed } = mayLog(`${message} ${text}`);
    if (pass) logger.warn({ err: error, suppressed }, message);
  }
}
