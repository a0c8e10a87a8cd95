import type { ChunkStore, Clock, Files } from '@sluice/core';
import { createIgnoreReader } from './ignore-reader.js';
import type { IgnoreSettings, IgnoreVerdict } from './ignore-rules.js';
import { sampleKnown, stillKnown } from './known-documents.js';
import { absolutePath } from './paths.js';
import { createRootGuard, type FolderMarks, type RootState, SAMPLE } from './root-guard.js';

/** A source as the worker and the `why` command see it: single paths, nothing watched. */
export interface SourceView {
  readonly name: string;
  readonly root: string;
  readonly stabilityMs: number;
  /** Whether a path is a document by its name and the ignore files above it. */
  accepts(relPath: string): Promise<boolean>;
  /** Which rule makes a path no document (or a folder's files none); undefined where none does. Default: a file. */
  explain(relPath: string, kind?: 'file' | 'folder'): Promise<IgnoreVerdict | undefined>;
  /** Bytes of the file at a path; 0 where there is none, or it cannot be looked at. */
  sizeOf(relPath: string): Promise<number>;
  /** False while the root is missing, unreadable, or another folder than that of the source: then nothing may be deleted. */
  mayDelete(): Promise<boolean>;
  rootState(): Promise<RootState>;
}

export function createSourceView(options: {
  name: string;
  /** Absolute path. */
  root: string;
  stabilityMs: number;
  settings: IgnoreSettings;
  /** `<data>/sources`, the folder in which the watcher's root guard keeps its state. */
  stateFolder: string;
  files: Files;
  /**
   * Decides by the documents stored whether the root is the source's where the watcher's state does not tell, as with a data folder of
   * one's own. Default: such a root is `replaced`.
   */
  store?: Pick<ChunkStore, 'walkRecords' | 'recordsOf'>;
  /** What the watcher says of the root; asked where its state is in another data folder. */
  told?: () => Promise<FolderMarks | 'none' | undefined>;
  /** Default: the system's. */
  clock?: Pick<Clock, 'monotonic'>;
}): SourceView {
  const { name, root, stabilityMs, files, store, told, clock } = options;
  const reader = createIgnoreReader({ files, root, settings: options.settings });
  const guard = createRootGuard({
    source: name,
    root,
    stateFolder: options.stateFolder,
    files,
    ...(store && {
      known: (among) => (among === undefined ? sampleKnown(store.walkRecords(), name, SAMPLE) : stillKnown(store, name, among)),
    }),
    ...(told && { told }),
    ...(clock && { clock }),
  });
  return {
    name,
    root,
    stabilityMs,
    accepts: async (relPath) => (await reader.explain(relPath)) === undefined,
    explain: (relPath, kind) => reader.explain(relPath, kind),
    async sizeOf(relPath) {
      const stat = await files.stat(absolutePath(root, relPath)).catch(() => undefined);
      return stat?.kind === 'file' ? stat.size : 0;
    },
    mayDelete: async () => (await guard.look()).state === 'ok',
    rootState: () => guard.look(),
  };
}
