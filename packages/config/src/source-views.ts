import type { ChunkStore, Files } from '@sluice/core';
import { createSourceView, type SourceView } from '@sluice/sources';
import type { Config } from './config.js';

/** Every configured source as single paths are asked for, by name. */
export function createSourceViews(config: Config, files: Files, store: Pick<ChunkStore, 'walkRecords'>): Map<string, SourceView> {
  return new Map(
    config.sources.map((source) => [
      source.name,
      createSourceView({
        name: source.name,
        root: source.path,
        stabilityMs: source.stabilityMs,
        settings: { include: source.include, exclude: source.exclude },
        stateFolder: config.runtime.sourcesFolder,
        files,
        store,
      }),
    ]),
  );
}
