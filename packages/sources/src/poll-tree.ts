import { relative, sep } from 'node:path';
import { watch } from 'chokidar';

export interface PollOptions {
  /** Absolute path, real: no link. */
  root: string;
  /** Milliseconds between two looks. Default 1,000. */
  pollMs?: number;
  /** Folders that are not looked into. */
  ignoresFolder(relPath: string): boolean;
  /** Something happened at this path; `''`: the root is gone. Told more than once for one change. */
  onTouch(relPath: string): void;
  onError(error: unknown): void;
}

const POLL_MS = 1000;

/** Watches a tree by asking each file for its stat again and again, where the system sends no events. Resolves once all is watched. */
export function pollTree(options: PollOptions): Promise<{ close(): Promise<void> }> {
  const toRelative = (path: string): string => relative(options.root, path).split(sep).join('/');
  const interval = options.pollMs ?? POLL_MS;
  const tree = watch(options.root, {
    ignoreInitial: true,
    followSymlinks: false,
    // Both delay or merge events; the caller looks at the disk instead.
    atomic: false,
    awaitWriteFinish: false,
    usePolling: true,
    interval,
    binaryInterval: interval,
    ignored(path, stats) {
      const relPath = toRelative(path);
      return relPath !== '' && stats?.isDirectory() === true && options.ignoresFolder(relPath);
    },
  });
  tree.on('all', (event, path) => {
    const relPath = toRelative(path);
    if (relPath !== '' || event === 'unlinkDir') options.onTouch(relPath);
  });
  tree.on('error', options.onError);
  return new Promise((resolve) => {
    tree.on('ready', () => resolve({ close: () => tree.close() }));
  });
}
