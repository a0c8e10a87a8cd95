import { join } from 'node:path';
import type { WatchedSourceState } from '@sluice/queues';
import { type Change, type KnownDocuments, loadVerifiedStats } from '@sluice/sources';
import { createChangeQueue } from './change-queue.js';
import { createBatcher, createRateLimit } from './enqueue.js';
import { codeOf, createRootWatch, type NeedScan, QUIET_MS, type RootWatchState } from './root-watch.js';
import { createSourceScan, type ScanResult, type SourceScan } from './source-scan.js';
import type { WatchedSource, WatcherDeps } from './watched-source.js';

export interface SourceRunner {
  readonly source: WatchedSource;
  start(): Promise<void>;
  /** Looks whether the root is still the one that is watched; watches it again when it came back. Call about once a second. */
  tend(): Promise<void>;
  scan(request: {
    known: KnownDocuments;
    retryTransient: boolean;
    acceptRoot: boolean;
    signal: AbortSignal;
  }): Promise<ScanResult>;
  state(): WatchedSourceState;
  stop(): Promise<void>;
}

/** Events in a row that may have overrun the system's own queue. */
const BURST = 5000;
const LOG_EVERY_MS = 60_000;

/** Watches and scans one source. It enqueues, and never waits for what the jobs do. */
export function createSourceRunner(deps: WatcherDeps, source: WatchedSource, onScanNeeded: NeedScan): SourceRunner {
  const { clock } = deps;
  const logger = deps.logger.child({ source: source.name });
  const mayLog = createRateLimit(clock, LOG_EVERY_MS);
  let scan: SourceScan | undefined;
  let lastScan: { files: number; at: string } | undefined;

  const changes = createChangeEntry(deps, source, { mayDelete, onScanNeeded, report });
  const rootWatch = createRootWatch(deps, source, {
    onChanges: changes.add,
    wasScanned: () => lastScan !== undefined,
    ...{ onScanNeeded, report },
  });
  const { guard } = rootWatch;

  async function mayDelete(): Promise<boolean> {
    return (await guard.look()).state === 'ok';
  }

  function report(error: unknown, message: string): void {
    const { pass, suppressed } = mayLog(`${message} ${codeOf(error)}`);
    if (pass) logger.warn({ err: error, suppressed }, message);
  }

  return {
    source,
    async start() {
      const verified = await loadVerifiedStats(join(deps.stateFolder, `${source.name}.verified.ndjson`));
      scan = createSourceScan(deps, source, { guard, verified, onSeen: (path) => rootWatch.current().watch?.seen(path) });
      await rootWatch.tend();
      onScanNeeded('start');
    },
    tend: rootWatch.tend,
    async scan({ acceptRoot, ...request }) {
      if (scan === undefined) throw new Error('not started');
      if (acceptRoot) await rootWatch.note(await guard.accept());
      const before = rootWatch.current().watch;
      const result = await scan.run(request);
      // Of a watch that began while the scan was under way, the scan may have told nothing.
      if (rootWatch.current().watch === before && result.summary.root.state === 'ok') before?.seenAll();
      await rootWatch.note(result.summary.root);
      lastScan = { files: result.summary.files, at: new Date(clock.now()).toISOString() };
      for (const { path, error } of result.summary.errors) {
        report(error, `${path === '' ? source.path : path} could not be read; what is known of it is kept`);
      }
      return result;
    },
    state: () => stateOf(rootWatch.current(), source, lastScan),
    async stop() {
      await rootWatch.stop();
      await scan?.stop();
      await changes.stop();
    },
  };
}

/** Takes changes from the watch to the queue. A delete is only queued while the root is the known one. */
function createChangeEntry(
  { queue, clock }: WatcherDeps,
  source: WatchedSource,
  to: { mayDelete(): Promise<boolean>; onScanNeeded: NeedScan; report(error: unknown, message: string): void },
) {
  const changeQueue = createChangeQueue({
    ...{ queue, clock, source: source.name, stabilityMs: source.stabilityMs },
    onLeftToScan: leaveToScan,
  });
  let burst = 0;
  const events = createBatcher<Change>({
    async send(batch) {
      // One request a path, the last that was detected.
      const changes = [...new Map(batch.map((change) => [change.path, change])).values()];
      const gone = changes.some(({ cause }) => cause === 'unlink');
      // A root that goes takes its files along, one by one.
      const mayDelete = !gone || (await to.mayDelete());
      if (!mayDelete) to.onScanNeeded('root');
      await changeQueue.put(changes.filter(({ cause }) => cause !== 'unlink' || mayDelete));
      burst += changes.length;
      if (burst >= BURST) {
        burst = 0;
        to.onScanNeeded('watch', QUIET_MS);
      }
    },
    onError: leaveToScan,
  });
  return {
    add: events.add,
    async stop() {
      await events.idle();
      await changeQueue.stop();
    },
  };

  function leaveToScan(error: unknown = new Error('the queue is full')): void {
    to.report(error, 'changes could not be queued; a scan will find them');
    to.onScanNeeded('queue');
  }
}

function stateOf(
  { root, folder, watch, error }: RootWatchState,
  source: WatchedSource,
  lastScan: { files: number; at: string } | undefined,
): WatchedSourceState {
  return {
    reachable: root.state === 'ok' || root.state === 'replaced',
    deletes_suspended: root.state !== 'ok',
    ...(root.state === 'ok' ? {} : { message: root.message }),
    ...(folder === undefined ? {} : { folder }),
    polling: watch?.polling ?? source.polling === true,
    ...(lastScan === undefined ? {} : { files: lastScan.files, scanned_at: lastScan.at }),
    ...(error === undefined ? {} : { watch_error: error }),
  };
}
