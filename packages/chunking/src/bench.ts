import type { ChunkingSettings, ParsedDocument } from '@sluice/core';
import { type ChunkingDeps, chunkDocument } from './chunk-document.js';

export interface ChunkingRate {
  chunks: number;
  ms: number;
  /** UTF-16 units of the parsed text a second, in millions: MB/s of ASCII text. */
  unitsPerSecond: number;
}

/** How fast a document is chunked, once. What the embedder or the language model takes is in it: give fakes to leave it out. */
export async function measureChunking(
  document: ParsedDocument,
  settings: ChunkingSettings,
  deps: ChunkingDeps,
): Promise<ChunkingRate> {
  const begin = performance.now();
  const { chunks } = await chunkDocument(document, settings, deps);
  const ms = performance.now() - begin;
  return { chunks: chunks.length, ms, unitsPerSecond: document.text.length / 1e6 / (ms / 1_000) };
}
