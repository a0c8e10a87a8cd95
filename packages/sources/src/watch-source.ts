import type { Cause, Clock, EntryStat, Files } from '@sluice/core';
import { isSidecar, ownerOf } from '@sluice/metadata';
import { createFolderWatches, type FolderWatchOptions } from './folder-watches.js';
import { createIgnoreReader } from './ignore-reader.js';
import { createIgnoreRules, IGNORE_FILE, type IgnoreSettings, parentOf } from './ignore-rules.js';
import { createLookQueue } from './look-queue.js';
import { mapLimited } from './map-limited.js';
import { isAbsence } from './node-files.js';
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
  /** Told of documents that changed, were added or went, each once it has been still for stabilityMs. */
  onChanges(changes: Change[]): void;
  /** An ignore file came, changed or went: the source must be scanned, and watched anew. */
  onRules(): void;
  /** The root was moved, removed or replaced: close this watch and begin another when there is a root. */
  onRootGone(): void;
  /** A fault of watching, as ENOSPC (no watches left): changes may be missed until the next scan. */
  onError(error: unknown): void;
  /** How a folder is watched; default fs.watch. */
  watchFolder?: FolderWatchOptions['watch'];
}

export interface SourceWatch {
  /** Whether the folder is polled. */
  readonly polling: boolean;
  /** Tells of documents that a scan saw, so that a folder that goes takes its documents along. */
  seen(path: string): void;
  /** A scan has told of all documents: from now on a path that goes without ever having been seen was none. */
  seenAll(): void;
  /** Waits for a file to be still, as for one that was touched, and then tells onChanges of it. */
  settle(path: string): void;
  /** Resolves when no touched file waits to be still. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

/** Folders entered at a time, at the start. */
const FOLDERS_AT_ONCE = 16;

/**
 * Watches a source. Every touch of a path leads to a look at the disk, which alone decides what happened: the order and names of the
 * system's events are never believed. Resolves when changes from now on are told.
 */
export async function watchSource(options: WatchOptions): Promise<SourceWatch> {
  const { files, settings } = options;
  const root = await files.realpath(options.root);
  const polling = options.polling === 'auto' ? await needsPolling(root) : options.polling;
  const reader = createIgnoreReader({ files, root, settings });
  const index = createPathIndex();
  const looks = createLookQueue({ look, onError: options.onError });
  const watches = createFolderWatches({
    root,
    onTouch: looks.add,
    onError: options.onError,
    ...(options.watchFolder === undefined ? {} : { watch: options.watchFolder }),
  });
  let closed = false;
  /** Until a scan has told of all documents, a path that goes may be one that only the store knows. */
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

  async function look(path: string): Promise<void> {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const stat = path === '' ? undefined : await files.stat(absolutePath(root, path));
    if (closed) return;
    if (path === '') return options.onRootGone();
    if (name === IGNORE_FILE) return options.onRules();
    if (stat?.kind === 'folder') return lookIntoFolder(path, stat);
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
    if ((await reader.explain(path, 'folder')) !== undefined) return;
    // The watch comes before the listing, so that nothing falls between the two. Polling sees what is in a new folder by itself.
    if (polling || !watches.enter(path, stat)) return;
    const entries = await files.list(absolutePath(root, path)).catch((error: unknown) => {
      watches.leave(path);
      if (!isAbsence(error)) throw error;
      // It went before it could be listed; whatever is there now is looked at anew.
      looks.add(path);
      return [];
    });
    for (const entry of entries) looks.add(childPath(path, entry.name));
    // Documents of a folder that had this path before.
    for (const other of index.below(path)) looks.add(other);
  }

  async function isInvalidName(path: string, name: string): Promise<boolean> {
    const entries = await files.list(absolutePath(root, parentOf(path))).catch(() => []);
    return entries.some((entry) => !entry.validName && entry.name === name);
  }

  /** Watches a folder that is there at the start, without telling of it; gives the folders in it. */
  async function enterAtStart(path: string): Promise<string[]> {
    const stat = await files.stat(absolutePath(root, path));
    if (stat?.kind !== 'folder' || (path !== '' && (await reader.explain(path, 'folder')) !== undefined)) return [];
    watches.enter(path, stat);
    const entries = await files.list(absolutePath(root, path)).catch((error: unknown) => {
      if (!isAbsence(error)) options.onError(error);
      return [];
    });
    return entries.filter((entry) => entry.kind === 'folder' && entry.validName).map((entry) => childPath(path, entry.name));
  }

  async function enterAll(): Promise<void> {
    let level = [''];
    while (level.length > 0 && !closed) level = (await mapLimited(level, FOLDERS_AT_ONCE, enterAtStart)).flat();
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
  if (!polling) await enterAll();

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
    async close() {
      closed = true;
      looks.stop();
      settler.stop();
      watches.close();
      await poll?.close();
    },
  };
}
