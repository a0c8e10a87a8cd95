import { basename, relative, sep } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';

export interface TreeOptions {
  /** Absolute path, real: no link. */
  root: string;
  polling: boolean;
  /** Milliseconds between two looks when polling. */
  pollMs?: number;
  /** Folders that are not watched. */
  ignoresFolder(relPath: string): boolean;
  /** Something happened at this path: created, changed, moved or gone. Told more than once for one change; never with a wrong path. */
  onTouch(relPath: string): void;
  onError(error: unknown): void;
}

export interface WatchedTree {
  /** Watches a folder anew: one that came after the start, or that took the place of another with the same name. */
  rewatch(relPath: string): void;
  close(): Promise<void>;
}

const POLL_MS = 1000;

/**
 * Watches a folder tree and tells which paths were touched. Resolves once the whole tree is watched: what happens after that is told.
 *
 * Without polling only folders are watched, not each file in them: the system tells of a folder's files by their names, which costs one
 * watch a folder instead of one a file, and the numbers of both are limited (inotify). chokidar passes these on as `raw`.
 */
export function watchTree(options: TreeOptions): Promise<WatchedTree> {
  const { root, polling } = options;
  const toRelative = (path: string): string => relative(root, path).split(sep).join('/');

  const tree: FSWatcher = watch(root, {
    ignoreInitial: true,
    followSymlinks: false,
    // Both delay or merge events; the caller does that by looking at the disk.
    atomic: false,
    awaitWriteFinish: false,
    usePolling: polling,
    interval: options.pollMs ?? POLL_MS,
    binaryInterval: options.pollMs ?? POLL_MS,
    ignored(path, stats) {
      const relPath = toRelative(path);
      if (relPath === '' || stats === undefined) return false;
      return stats.isDirectory() ? options.ignoresFolder(relPath) : !polling;
    },
  });

  tree.on('all', (_event, path) => {
    const relPath = toRelative(path);
    if (relPath !== '') options.onTouch(relPath);
  });
  if (!polling) {
    tree.on('raw', (_event, name, details: unknown) => {
      const folder = watchedPath(details);
      if (folder === undefined || typeof name !== 'string' || name === '') return;
      const relFolder = toRelative(folder);
      // When a watched folder itself is moved or removed it tells its own name as if it were a file's in it.
      if (name === basename(folder)) options.onTouch(relFolder);
      options.onTouch(relFolder === '' ? name : `${relFolder}/${name}`);
    });
  }
  tree.on('error', options.onError);

  const watched: WatchedTree = {
    rewatch(relPath) {
      const path = `${root}${sep}${relPath.split('/').join(sep)}`;
      tree.unwatch(path);
      tree.add(path);
    },
    close: () => tree.close(),
  };
  return new Promise((resolve) => {
    tree.on('ready', () => resolve(watched));
  });
}

function watchedPath(details: unknown): string | undefined {
  if (typeof details !== 'object' || details === null || !('watchedPath' in details)) return undefined;
  return typeof details.watchedPath === 'string' ? details.watchedPath : undefined;
}
