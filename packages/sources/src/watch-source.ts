import type { Cause, Clock, EntryStat, Files } from '@sluice/core';
import { isSidecar, ownerOf } from '@sluice/metadata';
import { createIgnoreReader } from './ignore-reader.js';
import { createIgnoreRules, IGNORE_FILE, type IgnoreSettings, parentOf } from './ignore-rules.js';
import { listSource } from './list-source.js';
import { createPathIndex } from './path-index.js';
import { absolutePath } from './paths.js';
import { needsPolling } from './polling.js';
import { createSettler } from './settler.js';
import { type WatchedTree, watchTree } from './watch-tree.js';

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
  /** Told of documents that changed, were added or went, each once it has been still for stabilityMs. */
  onChanges(changes: Change[]): void;
  /** An ignore file came, changed or went: the source must be scanned, and watched anew. */
  onRules(): void;
  /** A fault of watching, as ENOSPC (no watches left): changes may be missed until the next scan. */
  onError(error: unknown): void;
}

export interface SourceWatch {
  /** Whether the folder is polled. */
  readonly polling: boolean;
  /** Tells of documents that a scan saw, so that a folder that goes takes its documents along. */
  seen(path: string): void;
  /** Waits for a file to be still, as for one that was touched, and then tells onChanges of it. */
  settle(path: string): void;
  /** Resolves when no touched file waits to be still. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

/** Paths looked at, at a time. */
const AT_ONCE = 16;

/**
 * Watches a source. Every touch of a path leads to a look at the disk, which alone decides what happened: the order and names of the
 * system's events are never believed. Resolves when changes from now on are told.
 */
export async function watchSource(options: WatchOptions): Promise<SourceWatch> {
  const { files, settings } = options;
  const root = await files.realpath(options.root);
  const polling = options.polling === 'auto' ? await needsPolling(root) : options.polling;
  const reader = createIgnoreReader({ files, root, settings });
  const folderRules = createIgnoreRules(settings);
  const index = createPathIndex();
  const folderInodes = new Map<string, string>();
  const touched = new Map<string, boolean>();
  let looking = 0;
  let closed = false;
  let idlers: (() => void)[] = [];
  let tree: WatchedTree | undefined;

  const settler = createSettler({
    files,
    clock: options.clock,
    stabilityMs: options.stabilityMs,
    onError: (_key, error) => options.onError(error),
    onSettled(settled) {
      const paths = new Map(
        settled.map(({ key, stat }) => [isSidecar(key) ? ownerOf(key) : key, stat !== undefined || isSidecar(key)]),
      );
      tell([...paths].map(([path, there]) => (there ? upsert(path) : removal(path))));
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

  function touch(path: string): void {
    if (closed) return;
    touched.set(path, true);
    pump();
  }

  function pump(): void {
    for (const path of touched.keys()) {
      if (looking >= AT_ONCE || closed) break;
      touched.delete(path);
      looking++;
      void look(path)
        .catch(options.onError)
        .finally(() => {
          looking--;
          pump();
        });
    }
    if (looking === 0 && touched.size === 0) for (const resolve of idlers.splice(0)) resolve();
  }

  async function look(path: string): Promise<void> {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const stat = path === '' ? undefined : await files.stat(absolutePath(root, path));
    if (closed || path === '') return;
    if (name === IGNORE_FILE) return options.onRules();
    if (stat?.kind === 'folder') return lookIntoFolder(path, stat);
    folderInodes.delete(path);
    if (stat?.kind === 'file') return lookAtFile(path, name);
    // Gone, or a link or the like in its place: so are the documents that were at or below it.
    const gone = [...(index.has(path) ? [path] : []), ...index.below(path)];
    if (isSidecar(name)) await lookAtFile(path, name);
    else if (gone.length > 0) tell(gone.map(removal));
    else if (stat === undefined && name.includes('\uFFFD')) await lookForInvalidName(path, name);
    else if (stat === undefined && (await reader.explain(path)) === undefined) tell([removal(path)]);
  }

  async function lookAtFile(path: string, name: string): Promise<void> {
    if (isSidecar(name)) {
      // Its own path settles; its file's document is told.
      if ((await reader.explain(ownerOf(path))) === undefined) settler.watch(path, absolutePath(root, path));
      return;
    }
    const below = index.below(path);
    if (below.length > 0) tell(below.map(removal));
    if ((await reader.explain(path)) === undefined) settler.watch(path, absolutePath(root, path));
  }

  async function lookIntoFolder(path: string, stat: EntryStat): Promise<void> {
    // A document was here before the folder.
    if (index.has(path)) tell([removal(path)]);
    if (folderInodes.get(path) === stat.inode || (await reader.explain(path, 'folder')) !== undefined) return;
    const below = index.below(path);
    tree?.rewatch(path);
    folderInodes.set(path, stat.inode);
    for await (const batch of listSource({ files, root, settings, below: path, rules: folderRules })) {
      for (const item of batch) {
        if (item.kind === 'file' || item.kind === 'invalid_name' || item.kind === 'error') touch(item.path);
      }
    }
    // Documents of the folder that had this name before.
    for (const other of below) touch(other);
  }

  async function lookForInvalidName(path: string, name: string): Promise<void> {
    const entries = await files.list(absolutePath(root, parentOf(path))).catch(() => []);
    if (entries.some((entry) => !entry.validName && entry.name === name)) tell([upsert(path)]);
  }

  tree = await watchTree({
    root,
    polling,
    ignoresFolder: (path) => folderRules.explainEntry(path, 'folder') !== undefined,
    onTouch: touch,
    onError: options.onError,
  });

  return {
    polling,
    seen: (path) => index.add(path),
    settle: (path) => settler.watch(path, absolutePath(root, path)),
    async idle() {
      do {
        if (looking > 0 || touched.size > 0) await new Promise<void>((resolve) => idlers.push(resolve));
        await settler.idle();
      } while (!closed && (looking > 0 || touched.size > 0));
    },
    async close() {
      closed = true;
      settler.stop();
      touched.clear();
      for (const resolve of idlers.splice(0)) resolve();
      idlers = [];
      await tree?.close();
    },
  };
}
