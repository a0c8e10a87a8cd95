import type { ChunkStore, Files } from '@sluice/core';
import { createSourceView, type FolderMarks, type SourceView } from '@sluice/sources';
import type { Config } from './config.js';

/** Kernels stamp files by a clock that ticks every 1 to 10 ms: bytes read before the next tick could change without the stamp. */
const STAMP_MS = 10;

/**
 * Every configured source as single paths are asked for, by name.
 *
 * @param deps.told what the watcher says of a source's root
 */
export function createSourceViews(
  config: Config,
  deps: {
    files: Files;
    store: Pick<ChunkStore, 'walkRecords' | 'recordsOf'>;
    told: (source: string) => Promise<FolderMarks | 'none' | undefined>;
  },
): Map<string, SourceView> {
  return new Map(
    config.sources.map((source) => [
      source.name,
      createSourceView({
        name: source.name,
        root: source.path,
        stabilityMs: Math.max(STAMP_MS, source.stabilityMs),
        settings: { include: source.include, exclude: source.exclude },
        stateFolder: config.runtime.sourcesFolder,
        files: deps.files,
        store: deps.store,
        told: () => deps.told(source.name),
      }),
    ]),
  );
}
