import type { Files } from '@sluice/core';
import {
  type Change,
  createRootGuard,
  type FolderMarks,
  lacksWatches,
  type RootGuard,
  type RootState,
  type SourceWatch,
  type WatchOptions,
  watchSource,
} from '@sluice/sources';
import type { Logger } from '@sluice/telemetry';
import type { WatchedSource, WatcherDeps } from './watched-source.js';

/** Why a source is to be scanned, beside its interval. */
export type ScanReason = 'start' | 'request' | 'root' | 'rules' | 'watch' | 'queue';
export type NeedScan = (reason: ScanReason, delayMs?: number) => void;

/** The root of a source, and the watch over it, which begins and ends with the root. */
export interface RootWatch {
  readonly guard: RootGuard;
  current(): RootWatchState;
  /** Looks whether the root is still the one that is watched; watches it again when it came back. Call about once a second. */
  tend(): Promise<void>;
  /** Takes over what a scan found of the root. */
  note(seen: RootState): Promise<void>;
  stop(): Promise<void>;
}

export interface RootWatchState {
  /** What was found last. */
  root: RootState;
  /** What the folder is known by, while the root is the one that is watched. */
  folder: FolderMarks | undefined;
  /** Undefined while there is no root. */
  watch: SourceWatch | undefined;
  /** Why changes are found by scans only, if they are. */
  error: string | undefined;
}

export interface RootWatchEvents {
  onChanges(changes: readonly Change[]): void;
  onScanNeeded: NeedScan;
  report(error: unknown, message: string): void;
  /** Whether a scan has ended: only then it is known whether a root that was never seen is the right one. */
  wasScanned(): boolean;
}

/** After disturbed events, the quiet time after which a scan looks for what was lost. */
export const QUIET_MS = 2000;
/** Between two tries to watch what could not be watched. */
const TRY_AGAIN_MS = 10_000;

export function createRootWatch(deps: WatcherDeps, source: WatchedSource, events: RootWatchEvents): RootWatch {
  const { files, clock } = deps;
  const logger = deps.logger.child({ source: source.name });
  const guard = createRootGuard({ source: source.name, root: source.path, stateFolder: deps.stateFolder, files });
  let root: RootState = { state: 'ok' };
  let folder: FolderMarks | undefined;
  let watch: SourceWatch | undefined;
  /** Which folder is watched; undefined: none, or it is to be watched again. */
  let watched: string | undefined;
  let watchError: string | undefined;
  let triedAt = 0;
  let tending: Promise<void> | undefined;
  let stopped = false;

  return {
    guard,
    current: () => ({ root, folder, watch, error: watchError }),
    tend,
    note,
    async stop() {
      stopped = true;
      await tending;
      await closeWatch();
    },
  };

  async function tend(): Promise<void> {
    if (stopped) return;
    tending ??= tendRoot()
      .catch((error: unknown) => events.report(error, 'the root could not be watched; it is tried again'))
      .finally(() => {
        tending = undefined;
      });
    await tending;
  }

  async function tendRoot(): Promise<void> {
    // What a scan found unreadable stays so until a listing succeeds.
    const seen = await guard.look({ list: root.state === 'unreadable' });
    // A root that was never seen before is `replaced` until the first scan, which knows its documents.
    await note(seen.state === 'replaced' && !events.wasScanned() ? root : seen);
    const present = seen.state === 'ok' || seen.state === 'replaced' ? await folderAt(source.path, files) : undefined;
    if (present === watched && (present !== undefined || watch === undefined)) return tryAgain();
    await closeWatch();
    if (present === undefined) return;
    await openWatch(present);
    events.onScanNeeded('root');
  }

  async function note(seen: RootState): Promise<void> {
    folder = seen.state === 'ok' ? await guard.remembered() : undefined;
    if (seen.state !== root.state) logRoot(logger, seen);
    root = seen;
    // Whatever was watched is not what comes back, even if it comes back before the next look.
    if (seen.state === 'missing' || seen.state === 'unreadable') watched = undefined;
  }

  async function openWatch(present: string): Promise<void> {
    if (stopped) return;
    watched = present;
    watchError = undefined;
    triedAt = clock.monotonic();
    watch = await watchWith(deps, source, {
      onChanges: events.onChanges,
      onRules() {
        // Folders may have to be watched that were not, and the other way round.
        watched = undefined;
        events.onScanNeeded('rules', source.stabilityMs);
      },
      onRootGone() {
        watched = undefined;
        void tend();
      },
      onError(error) {
        watchError = lackOfWatches(error) ?? watchError;
        events.report(error, 'watching is disturbed; a scan looks for what was missed');
        events.onScanNeeded('watch', QUIET_MS);
      },
    }).catch((error: unknown) => {
      // Nothing is watched: the next look begins again.
      watched = undefined;
      watchError = `${codeOf(error)}: the folder cannot be watched, so changes are found by scans only; it is tried again`;
      throw error;
    });
    logger.debug({ polling: watch.polling }, 'watching');
  }

  async function tryAgain(): Promise<void> {
    if (clock.monotonic() - triedAt < TRY_AGAIN_MS) return;
    const watchesMore = await watch?.tryAgain();
    triedAt = clock.monotonic();
    if (watchesMore === true) events.onScanNeeded('watch');
  }

  async function closeWatch(): Promise<void> {
    const before = watch;
    watch = undefined;
    watched = undefined;
    await before?.close();
  }
}

function watchWith(
  { files, clock, watchFolder }: WatcherDeps,
  { path, include, exclude, polling, stabilityMs }: WatchedSource,
  handlers: Pick<WatchOptions, 'onChanges' | 'onRules' | 'onRootGone' | 'onError'>,
): Promise<SourceWatch> {
  return watchSource({
    ...{ root: path, files, clock, polling, stabilityMs, settings: { include, exclude } },
    ...(watchFolder === undefined ? {} : { watchFolder }),
    ...handlers,
  });
}

function logRoot(logger: Logger, root: RootState): void {
  if (root.state === 'ok') logger.info({ root_state: root.state }, 'the root is there; deletes are no longer suspended');
  else logger.warn({ root_state: root.state }, root.message);
}

/** Which folder stands there; undefined when there is none, or none that can be asked. */
async function folderAt(path: string, files: Files): Promise<string | undefined> {
  try {
    const stat = await files.stat(await files.realpath(path));
    return stat?.kind === 'folder' ? `${stat.device}:${stat.inode}` : undefined;
  } catch {
    return undefined;
  }
}

function lackOfWatches(error: unknown): string | undefined {
  if (!lacksWatches(error)) return undefined;
  const code = codeOf(error);
  const limit = code === 'ENOSPC' ? 'fs.inotify.max_user_watches' : 'fs.inotify.max_user_instances or the limit of open files';
  return `${code}: the system has no file watches left, so some changes are found by scans only; raise ${limit} and start again`;
}

/** The system's code of an error, or what it says. */
export function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return error instanceof Error ? error.message : String(error);
}
