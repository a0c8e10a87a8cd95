import { type FSWatcher, watch } from 'node:fs';
import { basename } from 'node:path';
import { type EntryStat, isAbsence } from '@sluice/core';
import { errorCode } from './node-files.js';
import { absolutePath, childPath } from './paths.js';

/** One watch a folder: the system reports a folder's entries by name, so no file needs a watch of its own (their number is limited). */
export interface FolderWatches {
  /**
   * Watches a folder, if this very folder is not watched at this path already.
   *
   * @returns false when it was: nothing new can be in it
   */
  enter(relPath: string, stat: EntryStat): boolean;
  /** Ends the watches at and below a path. */
  leave(relPath: string): void;
  has(relPath: string): boolean;
  readonly size: number;
  close(): void;
}

export interface FolderWatchOptions {
  root: string;
  /** Something happened at this path; `''`: the root itself was moved or removed. Told more than once for one change. */
  onTouch(relPath: string): void;
  /** A folder that cannot be watched, or no more; ENOSPC or EMFILE when the system has no watches left. */
  onError(error: unknown, relPath: string): void;
  /** Default: fs.watch. */
  watch?: typeof watch;
}

interface Watched {
  watcher: FSWatcher;
  identity: string;
}

/**
 * Why not chokidar here (docs/adr: watching folders): it reads a folder again at each event and keeps a watch on a folder that was
 * moved away when another takes its name, so that changes in the new one are never told.
 */
export function createFolderWatches(options: FolderWatchOptions): FolderWatches {
  const watched = new Map<string, Watched>();

  function drop(relPath: string): void {
    watched.get(relPath)?.watcher.close();
    watched.delete(relPath);
  }

  function enter(relPath: string, stat: EntryStat): boolean {
    // Birth too, since a new folder may be given the inode of one that is gone, whose watch is dead.
    const identity = `${stat.device}:${stat.inode}:${stat.birthNs}`;
    const before = watched.get(relPath);
    if (before?.identity === identity) return false;
    if (before !== undefined) leave(relPath);
    const path = absolutePath(options.root, relPath);
    try {
      const watcher = (options.watch ?? watch)(path, (event, name) => {
        if (watched.get(relPath)?.watcher !== watcher) return;
        // A folder that is moved or removed tells its own name. A child may have that name too, so the folder is looked at again.
        if (name === null || (event === 'rename' && name === basename(path))) {
          drop(relPath);
          options.onTouch(relPath);
        }
        if (name !== null) options.onTouch(childPath(relPath, name));
      });
      watcher.on('error', (error) => {
        if (watched.get(relPath)?.watcher === watcher) drop(relPath);
        // Windows reports a removed folder in this way.
        if (!isAbsence(error) && errorCode(error) !== 'EPERM') options.onError(error, relPath);
        options.onTouch(relPath);
      });
      watched.set(relPath, { watcher, identity });
    } catch (error) {
      if (!isAbsence(error)) options.onError(error, relPath);
    }
    return true;
  }

  function leave(relPath: string): void {
    if (!watched.has(relPath)) return;
    drop(relPath);
    for (const other of [...watched.keys()]) if (relPath === '' || other.startsWith(`${relPath}/`)) drop(other);
  }

  return {
    enter,
    leave,
    has: (relPath) => watched.has(relPath),
    get size() {
      return watched.size;
    },
    close() {
      for (const relPath of [...watched.keys()]) drop(relPath);
    },
  };
}
