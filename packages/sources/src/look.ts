import type { EntryStat, Files } from '@sluice/core';
import { isSidecar, ownerOf } from '@sluice/metadata';
import type { DocumentReport } from './document-report.js';
import type { IgnoreReader } from './ignore-reader.js';
import { IGNORE_FILE, parentOf } from './ignore-rules.js';
import { absolutePath } from './paths.js';
import type { WatchedFolders } from './watched-folders.js';

export interface LookOptions {
  /** Absolute path of the source, without links. */
  root: string;
  files: Files;
  reader: IgnoreReader;
  documents: DocumentReport;
  folders: WatchedFolders;
  /** Waits for a file to be still, and then reports it. */
  settle(path: string): void;
  /** Asks for a look at a path. */
  lookAt(path: string): void;
  onRules(): void;
  onRootGone(): void;
  /** `complete`: a scan has reported all documents. Until then a path that goes may be one that only the store knows. */
  state: { readonly closed: boolean; readonly complete: boolean };
}

/** Looks at a path that was touched, and reports what the disk says of it. `''` is the root, which went. */
export function createLook(options: LookOptions): (path: string) => Promise<void> {
  const { root, files, reader, documents, folders, settle, state } = options;
  return async (path) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const stat = path === '' ? undefined : await files.stat(absolutePath(root, path));
    if (state.closed) return;
    if (path === '') return options.onRootGone();
    if (name === IGNORE_FILE) return options.onRules();
    if (stat?.kind === 'folder') {
      // Where a sidecar was expected it must not be taken for none.
      if (isSidecar(name) && (await isRead(ownerOf(path)))) documents.send([documents.changed(ownerOf(path))]);
      return lookIntoFolder(path, stat);
    }
    folders.leave(path);
    // What was below it when it was a folder.
    documents.send(documents.below(path).map(documents.gone));
    if (isSidecar(name)) {
      if (await isRead(ownerOf(path))) settle(path);
    } else if (stat?.kind === 'file') {
      if (await isRead(path)) settle(path);
    } else if (stat === undefined && name.includes('\uFFFD') && (await isInvalidName(path, name))) {
      documents.send([documents.changed(path)]);
    } else if (documents.has(path) || (!state.complete && stat === undefined && (await isRead(path)))) {
      // Gone; or a link, or the like, stands where a document was.
      documents.send([documents.gone(path)]);
    }
  };

  async function isRead(path: string, kind?: 'folder'): Promise<boolean> {
    return (await reader.explain(path, kind)) === undefined;
  }

  async function lookIntoFolder(path: string, stat: EntryStat): Promise<void> {
    if (documents.has(path)) documents.send([documents.gone(path)]);
    if (!(await isRead(path, 'folder')) || state.closed) return;
    const entries = await folders.enter(path, stat);
    if (entries === undefined) return;
    // What is in it, and documents of a folder that had this path before.
    for (const entry of [...entries, ...documents.below(path)]) options.lookAt(entry);
  }

  async function isInvalidName(path: string, name: string): Promise<boolean> {
    const entries = await files.list(absolutePath(root, parentOf(path))).catch(() => []);
    return entries.some((entry) => !entry.validName && entry.name === name);
  }
}
