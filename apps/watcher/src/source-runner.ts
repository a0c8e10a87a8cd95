import { join } from 'node:path';
import type { WatchedSourceState } from '@sluice/queues';
import {
  type Change,
  createRootGuard,
  type FolderMarks,
  type KnownDocuments,
  lacksWatches,
  loadVerifiedStats,
  type RootState,
  type SourceWatch,
  watchSource,
} from '@sluice/sources';
import { createChangeQueue } from './change-queue.js';
import { createBatcher, createRateLimit } from './enqueue.js';
import { createSourceScan, type ScanResult, type SourceScan } from './source-scan.js';
import type { WatchedSource, WatcherDeps } from './watched-source.js';

/** Why a source is to be scanned, beside its interval. */
export type ScanReason = 'start' | 'request' | 'root' | 'rules' | 'watch' | 'queue';

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

/** Events in a row that may have overrun the system's own queue, and the quiet time after which a scan looks for what was lost. */
const BURST = 5000;
const BURST_QUIET_MS = 2000;
const LOG_EVERY_MS = 60_000;
/** Between two tries to watch what could not be watched. */
const TRY_AGAIN_MS = 10_000;

/** Watches and scans one source. It enqueues, and never waits for what the jobs do. */
export function createSourceRunner(
  deps: WatcherDeps,
  source: WatchedSource,
  onScanNeeded: (reason: ScanReason, delayMs?: number) => void,
): SourceRunner {
  const { files, clock, queue } = deps;
  const logger = deps.logger.child({ source: source.name });
  const guard = createRootGuard({ source: source.name, root: source.path, stateFolder: deps.stateFolder, files });
  const mayLog = createRateLimit(clock, LOG_EVERY_MS);
  let scan: SourceScan | undefined;
  let watch: SourceWatch | undefined;
  let watchedFolder: string | undefined;
  let root: RootState = { state: 'ok' };
  let watchError: string | undefined;
  let lastScan: { files: number; at: string } | undefined;
  let burst = 0;
  let triedAt = 0;
  let folder: FolderMarks | undefined;
  let tending: Promise<void> | undefined;
  let stopped = false;

  const changeQueue = createChangeQueue({
    ...{ queue, clock, source: source.name, stabilityMs: source.stabilityMs },
    onLeftToScan: leaveToScan,
  });
  const events = createBatcher<Change>({
    async send(batch) {
      // One request a path, the last that was told.
      const changes = [...new Map(batch.map((change) => [change.path, change])).values()];
      const gone = changes.some(({ cause }) => cause === 'unlink');
      // A root that goes takes its files along, one by one.
      const mayDelete = !gone || (await guard.look()).state === 'ok';
      if (!mayDelete) onScanNeeded('root');
      await changeQueue.put(changes.filter(({ cause }) => cause !== 'unlink' || mayDelete));
      burst += changes.length;
      if (burst >= BURST) {
        burst = 0;
        onScanNeeded('watch', BURST_QUIET_MS);
      }
    },
    onError: leaveToScan,
  });

  function leaveToScan(error: unknown = new Error('the queue is full')): void {
    report(error, 'changes could not be queued; a scan will find them');
    onScanNeeded('queue');
  }

  function report(error: unknown, message: string): void {
    const { pass, suppressed } = mayLog(`${message} ${codeOf(error)}`);
    if (pass) logger.warn({ err: error, suppressed }, message);
  }

  /** Which folder the root is; undefined when there is none, or none that can be asked. */
  async function rootFolder(): Promise<string | undefined> {
    try {
      const stat = await files.stat(await files.realpath(source.path));
      return stat?.kind === 'folder' ? `${stat.device}:${stat.inode}` : undefined;
    } catch {
      return undefined;
    }
  }

  async function openWatch(): Promise<void> {
    watchedFolder = await rootFolder();
    if (watchedFolder === undefined || stopped) return;
    watchError = undefined;
    triedAt = clock.monotonic();
    watch = await watchSource({
      root: source.path,
      files,
      clock,
      settings: { include: source.include, exclude: source.exclude },
      polling: source.polling,
      stabilityMs: source.stabilityMs,
      ...(deps.watchFolder === undefined ? {} : { watchFolder: deps.watchFolder }),
      onChanges: (changes) => events.add(changes),
      onRules() {
        // Folders may have to be watched that were not, and the other way round.
        watchedFolder = undefined;
        onScanNeeded('rules', source.stabilityMs);
      },
      onRootGone() {
        watchedFolder = undefined;
        void runner.tend();
      },
      onError(error) {
        const code = codeOf(error);
        if (lacksWatches(error)) {
          const limit =
            code === 'ENOSPC' ? 'fs.inotify.max_user_watches' : 'fs.inotify.max_user_instances or the limit of open files';
          watchError = `${code}: the system has no file watches left, so some changes are found by scans only; raise ${limit} and start again`;
        }
        report(error, 'watching is disturbed; a scan looks for what was missed');
        onScanNeeded('watch', BURST_QUIET_MS);
      },
    }).catch((error: unknown) => {
      // Nothing is watched: the next look begins again.
      watchedFolder = undefined;
      watchError = `${codeOf(error)}: the folder cannot be watched, so changes are found by scans only; it is tried again`;
      throw error;
    });
    logger.debug({ polling: watch.polling }, 'watching');
  }

  async function closeWatch(): Promise<void> {
    const before = watch;
    watch = undefined;
    watchedFolder = undefined;
    await before?.close();
  }

  async function tendRoot(): Promise<void> {
    // What a scan found unreadable stays so until a listing succeeds.
    const seen = await guard.look({ list: root.state === 'unreadable' });
    // A root that was never seen before is `replaced` until the first scan, which knows its documents.
    await note(seen.state === 'replaced' && lastScan === undefined ? root : seen);
    const usable = seen.state === 'ok' || seen.state === 'replaced';
    const present = usable ? await rootFolder() : undefined;
    if (present === watchedFolder && (present !== undefined || watch === undefined)) return tryAgain();
    await closeWatch();
    if (present === undefined) return;
    await openWatch();
    onScanNeeded('root');
  }

  async function tryAgain(): Promise<void> {
    if (clock.monotonic() - triedAt < TRY_AGAIN_MS) return;
    const watchesMore = await watch?.tryAgain();
    triedAt = clock.monotonic();
    if (watchesMore === true) onScanNeeded('watch');
  }

  async function note(seen: RootState): Promise<void> {
    folder = seen.state === 'ok' ? await guard.remembered() : undefined;
    if (seen.state !== root.state) {
      if (seen.state === 'ok') logger.info({ root_state: seen.state }, 'the root is there; deletes are no longer suspended');
      else logger.warn({ root_state: seen.state }, seen.message);
    }
    root = seen;
    // Whatever was watched is not what comes back, even if it comes back before the next look.
    if (seen.state === 'missing' || seen.state === 'unreadable') watchedFolder = undefined;
  }

  const runner: SourceRunner = {
    source,
    async start() {
      const verified = await loadVerifiedStats(join(deps.stateFolder, `${source.name}.verified.ndjson`));
      scan = createSourceScan(deps, source, { guard, verified, onSeen: (path) => watch?.seen(path) });
      await runner.tend();
      onScanNeeded('start');
    },
    async tend() {
      if (stopped) return;
      tending ??= tendRoot()
        .catch((error: unknown) => report(error, 'the root could not be watched; it is tried again'))
        .finally(() => {
          tending = undefined;
        });
      await tending;
    },
    async scan({ acceptRoot, ...request }) {
      if (scan === undefined) throw new Error('not started');
      if (acceptRoot) await note(await guard.accept());
      const before = watch;
      const result = await scan.run(request);
      // Of a watch that began while the scan was under way, the scan may have told nothing.
      if (watch === before && result.summary.root.state === 'ok') watch?.seenAll();
      await note(result.summary.root);
      lastScan = { files: result.summary.files, at: new Date(clock.now()).toISOString() };
      for (const { path, error } of result.summary.errors) {
        report(error, `${path === '' ? source.path : path} could not be read; what is known of it is kept`);
      }
      return result;
    },
    state() {
      const reachable = root.state === 'ok' || root.state === 'replaced';
      return {
        reachable,
        deletes_suspended: root.state !== 'ok',
        ...(root.state === 'ok' ? {} : { message: root.message }),
        ...(folder === undefined ? {} : { folder }),
        polling: watch?.polling ?? source.polling === true,
        ...(lastScan === undefined ? {} : { files: lastScan.files, scanned_at: lastScan.at }),
        ...(watchError === undefined ? {} : { watch_error: watchError }),
      };
    },
    async stop() {
      stopped = true;
      await tending;
      await closeWatch();
      await scan?.stop();
      await events.idle();
      await changeQueue.stop();
    },
  };
  return runner;
}

function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return error instanceof Error ? error.message : String(error);
}
