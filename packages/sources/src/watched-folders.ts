import { type EntryStat, type Files, isAbsence } from '@sluice/core';
import { createFolderWatches, type FolderWatchOptions } from './folder-watches.js';
import type { IgnoreReader } from './ignore-reader.js';
import { mapLimited } from './map-limited.js';
import { lacksWatches } from './node-files.js';
import { absolutePath, childPath } from './paths.js';

export interface WatchedFoldersOptions {
  /** Absolute path, without links. */
  root: string;
  files: Files;
  reader: IgnoreReader;
  /** True: no folder is watched, for all of them are polled, and polling looks again by itself. */
  polling: boolean;
  onTouch(path: string): void;
  /** Of each path that cannot be looked at or watched, once until it can. */
  onError(error: unknown): void;
  /** How a folder is watched; default fs.watch. */
  watch?: FolderWatchOptions['watch'];
}

/** The folders of a source that are watched, and the paths that could not be. */
export interface WatchedFolders {
  /** Watches the root and all that is in it, as far as it can be entered. Rejects when the root itself cannot be watched. */
  enterRoot(): Promise<void>;
  /** Watches a folder that a look found. Paths of what is in it; undefined when nothing in it can be new. */
  enter(path: string, stat: EntryStat): Promise<string[] | undefined>;
  /** Ends the watches at and below a path. */
  leave(path: string): void;
  /** Takes a path that could not be looked at. */
  fail(path: string, error: unknown): void;
  /** Tries what failed again. True when some of it can be watched now. */
  tryAgain(): Promise<boolean>;
  close(): void;
}

/** Folders entered at a time, at the start. */
const FOLDERS_AT_ONCE = 16;

export function createWatchedFolders(options: WatchedFoldersOptions): WatchedFolders {
  const { root, files, reader, polling } = options;
  /** What could not be looked at or watched, and why. */
  const failed = new Map<string, unknown>();
  let closed = false;
  const watches = createFolderWatches({
    root,
    onTouch: options.onTouch,
    onError(error, path) {
      if (!lacksWatches(error)) return fail(path, error);
      failed.delete(path);
      options.onError(error);
    },
    ...(options.watch === undefined ? {} : { watch: options.watch }),
  });

  return {
    async enterRoot() {
      // Known from the beginning: a failure of the root is not reported, but thrown.
      failed.set('', new Error(`${root} cannot be watched`));
      const top = await enterSilently('');
      if (failed.has('')) throw failed.get('');
      await enterAll(top);
    },
    async enter(path, stat) {
      // The watch comes before the listing, so that nothing falls between the two. Polling sees what is in a new folder by itself.
      if (polling || !watches.enter(path, stat)) return undefined;
      const entries = await files.list(absolutePath(root, path)).catch((error: unknown) => {
        watches.leave(path);
        if (!isAbsence(error)) throw error;
        // It went before it could be listed; whatever is there now is looked at again.
        options.onTouch(path);
        return [];
      });
      if (watches.has(path)) failed.delete(path);
      return entries.map((entry) => childPath(path, entry.name));
    },
    leave: watches.leave,
    fail,
    async tryAgain() {
      const paths = [...failed.keys()];
      await enterAll(paths);
      return paths.some((path) => !failed.has(path));
    },
    close() {
      closed = true;
      watches.close();
    },
  };

  function fail(path: string, error: unknown): void {
    if (closed) return;
    const known = failed.has(path);
    if (!polling) failed.set(path, error);
    if (!known) options.onError(error);
  }

  async function enterAll(paths: string[]): Promise<void> {
    let level = paths;
    while (level.length > 0 && !closed) level = (await mapLimited(level, FOLDERS_AT_ONCE, enterSilently)).flat();
  }

  /** Watches a folder without a look at what is in it; gives the folders in it. */
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
}
