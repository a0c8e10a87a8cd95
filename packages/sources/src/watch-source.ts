import { type Cause, type Clock, type EntryStat, type Files, isAbsence } from '@sluice/core';
import { isSidecar, ownerOf } from '@sluice/metadata';
import { createFolderWatches, type FolderWatchOptions } from './folder-watches.js';
import { createIgnoreReader } from './ignore-reader.js';
import { createIgnoreRules, IGNORE_FILE, type IgnoreSettings, parentOf } from './ignore-rules.js';
import { createLookQueue } from './look-queue.js';
import { mapLimited } from './map-limited.js';
import { lacksWatches } from './node-files.js';
import { createPathIndex } from './path-index.js';
import { absolutePath, childPath } from './paths.js';
import { pollTree } from './poll-tree.js';
import { needsPolling } from './polling.js';
import { createSettler } from './settler.js';

/** A document path that changed, told once it is still. */
export interface Change {
  path: string;
  cause: Extract<Cause, 'add' | 'change' | 'unlink'>;
}

export interface WatchOptions {
  /** Absolute path of the root; must be there. */
  root: string;
  files: Files;
  clock: Clock;
  settings: IgnoreSettings;
  polling: 'auto' | boolean;
  stabilityMs: number;
  /** Called with documents that changed, were added or went, each once it has been still for stabilityMs. */
  onChanges(changes: Change[]): void;
  /** An ignore file came, changed or went: the source must be scanned, and watched again. */
  onRules(): void;
  /** The root was moved, removed or replaced: close this watch and begin another when there is a root. */
  onRootGone(): void;
  /**
   * A fault of watching, as ENOSPC (no watches left): changes may be missed until the next scan. Of an entry that cannot be looked
   * at, as in a folder of others, told once until it can.
   */
  onError(error: unknown): void;
  /** How a folder is watched; default fs.watch. */
  watchFolder?: FolderWatchOptions['watch'];
}

export interface SourceWatch {
  /** Whether the folder is polled. */
  readonly polling: boolean;
  /** Takes the documents that a scan saw, so that a folder that goes takes its documents along. */
  seen(path: string): void;
  /** A scan has reported all documents: from now on a path that goes without ever having been seen was none. */
  seenAll(): void;
  /** Waits for a file to be still, as for one that was touched, and then tells onChanges of it. */
  settle(path: string): void;
  /** Looks again at what could not be looked at or watched. True when some of it can be now: a scan must tell what it holds. */
  tryAgain(): Promise<boolean>;
  /** Resolves when no touched file waits to be still. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

/** Folders entered at a time, at the start. */
const FOLDERS_AT_ONCE = 16;

/**
 * Watches a source. Every touch of a path leads to a look at the disk, which alone decides what happened: the order and names of the
 * system's events are never believed. Resolves when changes from now on are told; what cannot be entered is left out, and the rest is
 * watched. Rejects when the root itself cannot be watched.
 */
export async function watchSource(options: WatchOptions): Promise<SourceWatch> {
  const { files, settings } = options;
  const root = await files.realpath(options.root);
  const polling = options.polling === 'auto' ? await needsPolling(root) : options.polling;
  const reader = createIgnoreReader({ files, root, settings });
  const index = createPathIndex();
  const looks = createLookQueue({ look: (path) => look(path).catch((error) => fail(path, error)), onError: options.onError });
  const watches = createFolderWatches({
    root,
    onTouch: looks.add,
    onError(error, path) {
      if (!lacksWatches(error)) return fail(path, error);
      failed.delete(path);
      options.onError(error);
    },
    ...(options.watchFolder === undefined ? {} : { watch: options.watchFolder }),
  });
  /** What could not be looked at or watched, and why. */
  const failed = new Map<string, unknown>();
  let closed = false;
  /** Until a scan has reported all documents, a path that goes may be one that only the store knows. */
  let complete = false;

  const settler = createSettler({
    files,
    clock: options.clock,
    stabilityMs: options.stabilityMs,
    onError: (_path, error) => options.onError(error),
    onSettled(settled) {
      tell(
        settled.map(({ key, stat }) => {
          // A sidecar's document is told, whether the sidecar came or went; the job finds out whether the document is there.
          if (isSidecar(key)) return upsert(ownerOf(key));
          return stat === undefined ? removal(key) : upsert(key);
        }),
      );
    },
  });

  function tell(changes: Change[]): void {
    if (changes.length > 0 && !closed) options.onChanges(changes);
  }

  function upsert(path: string): Change {
    const cause = index.has(path) ? 'change' : 'add';
    index.add(path);
    return { path, cause };
  }

  function removal(path: string): Change {
    index.delete(path);
    return { path, cause: 'unlink' };
  }

  function fail(path: string, error: unknown): void {
    if (closed) return;
    const known = failed.has(path);
    // Polling looks again by itself.
    if (!polling) failed.set(path, error);
    if (!known) options.onError(error);
  }

  async function look(path: string): Promise<void> {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const stat = path === '' ? undefined : await files.stat(absolutePath(root, path));
    if (closed) return;
    if (path === '') return options.onRootGone();
    if (name === IGNORE_FILE) return options.onRules();
    if (stat?.kind === 'folder') {
      // Where a sidecar was expected it must not be taken for none.
      if (isSidecar(name) && (await reader.explain(ownerOf(path))) === undefined) tell([upsert(ownerOf(path))]);
      return lookIntoFolder(path, stat);
    }
    watches.leave(path);
    // What was below it when it was a folder.
    tell(index.below(path).map(removal));
    if (isSidecar(name)) {
      if ((await reader.explain(ownerOf(path))) === undefined) settler.watch(path, absolutePath(root, path));
    } else if (stat?.kind === 'file') {
      if ((await reader.explain(path)) === undefined) settler.watch(path, absolutePath(root, path));
    } else if (stat === undefined && name.includes('\uFFFD') && (await isInvalidName(path, name))) {
      tell([upsert(path)]);
    } else if (index.has(path) || (!complete && stat === undefined && (await reader.explain(path)) === undefined)) {
      // Gone; or a link, or the like, stands where a document was.
      tell([removal(path)]);
    }
  }

  async function lookIntoFolder(path: string, stat: EntryStat): Promise<void> {
    if (index.has(path)) tell([removal(path)]);
    if ((await reader.explain(path, 'folder')) !== undefined || closed) return;
    // The watch comes before the listing, so that nothing falls between the two. Polling sees what is in a new folder by itself.
    if (polling || !watches.enter(path, stat)) return;
    const entries = await files.list(absolutePath(root, path)).catch((error: unknown) => {
      watches.leave(path);
      if (!isAbsence(error)) throw error;
      // It went before it could be listed; whatever is there now is looked at again.
      looks.add(path);
      return [];
    });
    if (watches.has(path)) failed.delete(path);
    for (const entry of entries) looks.add(childPath(path, entry.name));
    // Documents of a folder that had this path before.
    for (const other of index.below(path)) looks.add(other);
  }

  async function isInvalidName(path: string, name: string): Promise<boolean> {
    const entries = await files.list(absolutePath(root, parentOf(path))).catch(() => []);
    return entries.some((entry) => !entry.validName && entry.name === name);
  }

  /** Watches a folder without telling of it; gives the folders in it. */
  async function enterSilently(path: string): Promise<string[]> {
    try {
      const stat = await files.stat(absolutePath(root, path));
      const wanted = stat?.kind === 'folder' && (path === '' || (await reader.explain(path, 'folder')) === undefined);
      if (wanted && !closed) watches.enter(path, stat);
      const entries = wanted ? await files.list(absolutePath(root, path)) : [];
      if (!wanted || watches.has(path)) failed.delete(path);
      return entries.filter((entry) => entry.kind === 'folder' && entry.validName).map((entry) => childPath(path, entry.name));
    } catch (error) {
      if (isAbsence(error)) failed.delete(path);
      else {
        // A watch that stays would be taken for one on a folder that is known.
        watches.leave(path);
        fail(path, error);
      }
      return [];
    }
  }

  async function enterAll(paths: string[]): Promise<void> {
    let level = paths;
    while (level.length > 0 && !closed) level = (await mapLimited(level, FOLDERS_AT_ONCE, enterSilently)).flat();
  }

  async function close(): Promise<void> {
    closed = true;
    looks.stop();
    settler.stop();
    watches.close();
    await poll?.close();
  }

  const folderRules = createIgnoreRules(settings);
  const poll = polling
    ? await pollTree({
        root,
        // Ignore files are read where a path is looked at; here only what needs no reading.
        ignoresFolder: (path) => folderRules.explainEntry(path, 'folder') !== undefined,
        onTouch: looks.add,
        onError: options.onError,
      })
    : undefined;
  if (!polling) {
    // Known from the beginning: a failure of the root is not told, but thrown.
    failed.set('', new Error(`${root} cannot be watched`));
    const top = await enterSilently('');
    if (failed.has('')) {
      await close();
      throw failed.get('');
    }
    await enterAll(top);
  }

  return {
    polling,
    seen: (path) => index.add(path),
    seenAll() {
      complete = true;
    },
    settle: (path) => settler.watch(path, absolutePath(root, path)),
    async idle() {
      do {
        await looks.idle();
        await settler.idle();
      } while (!closed && looks.size > 0);
    },
    async tryAgain() {
      const paths = [...failed.keys()];
      await enterAll(paths);
      return paths.some((path) => !failed.has(path));
    },
    close,
  };
}
