import type { Clock, Files } from '@sluice/core';
import { isSidecar, ownerOf } from '@sluice/metadata';
import { type Change, createDocumentReport, type DocumentReport } from './document-report.js';
import type { FolderWatchOptions } from './folder-watches.js';
import { createIgnoreReader } from './ignore-reader.js';
import { createIgnoreRules, type IgnoreSettings } from './ignore-rules.js';
import { createLook } from './look.js';
import { createLookQueue } from './look-queue.js';
import { absolutePath } from './paths.js';
import { pollTree } from './poll-tree.js';
import { needsPolling } from './polling.js';
import { createSettler, type Settled } from './settler.js';
import { createWatchedFolders } from './watched-folders.js';

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
   * at, as in a folder of others, once until it can.
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

/**
 * Watches a source. Every touch of a path leads to a look at the disk, which alone decides what happened: the order and names of the
 * system's events are never believed. Resolves when changes from now on are reported; what cannot be entered is left out, and the rest
 * is watched. Rejects when the root itself cannot be watched.
 */
export async function watchSource(options: WatchOptions): Promise<SourceWatch> {
  const { files, settings, onError } = options;
  const root = await files.realpath(options.root);
  const polling = options.polling === 'auto' ? await needsPolling(root) : options.polling;
  const reader = createIgnoreReader({ files, root, settings });
  const documents = createDocumentReport(options.onChanges);
  const state = { closed: false, complete: false };
  const settler = createSettler({
    ...{ files, clock: options.clock, stabilityMs: options.stabilityMs },
    onError: (_path, error) => onError(error),
    onSettled: (settled) => documents.send(settled.map((each) => changeOf(each, documents))),
  });
  const settle = (path: string) => settler.watch(path, absolutePath(root, path));
  const looks = createLookQueue({ look: (path) => look(path).catch((error) => folders.fail(path, error)), onError });
  const folders = createWatchedFolders({
    ...{ root, files, reader, polling, onError, onTouch: looks.add },
    ...(options.watchFolder === undefined ? {} : { watch: options.watchFolder }),
  });
  const look = createLook({
    ...{ root, files, reader, documents, folders, settle, state },
    ...{ lookAt: looks.add, onRules: options.onRules, onRootGone: options.onRootGone },
  });

  async function close(): Promise<void> {
    state.closed = true;
    documents.close();
    looks.stop();
    settler.stop();
    folders.close();
    await poll?.close();
  }

  const folderRules = createIgnoreRules(settings);
  const poll = polling
    ? await pollTree({
        root,
        // Ignore files are read where a path is looked at; here only what needs no reading.
        ignoresFolder: (path) => folderRules.explainEntry(path, 'folder') !== undefined,
        onTouch: looks.add,
        onError,
      })
    : undefined;
  if (!polling) {
    await folders.enterRoot().catch(async (error: unknown) => {
      await close();
      throw error;
    });
  }

  return {
    polling,
    seen: documents.add,
    seenAll() {
      state.complete = true;
    },
    settle,
    async idle() {
      do {
        await looks.idle();
        await settler.idle();
      } while (!state.closed && looks.size > 0);
    },
    tryAgain: folders.tryAgain,
    close,
  };
}

/** A sidecar's document is reported, whether the sidecar came or went; the job finds out whether the document is there. */
function changeOf({ key, stat }: Settled, documents: DocumentReport): Change {
  if (isSidecar(key)) return documents.changed(ownerOf(key));
  return stat === undefined ? documents.gone(key) : documents.changed(key);
}
