import { type ChunkStore, type Clock, type CommitRecord, type Manifest, SluiceError, type StoredChunk } from '@sluice/core';
import { chunksWithin, textOf } from './text-of.js';

/** Chunks whose manifest entries are kept in memory: about 0.5 KB each. */
const CACHED_ENTRIES = 50_000;
/** Rounds before a read that keeps being overtaken gives up. */
const ROUNDS = 4;

export interface ReadingDeps {
  store: ChunkStore;
  clock: Clock;
  /** `store.reader_grace_ms`: superseded objects live at least that long. */
  readerGraceMs: number;
}

/** Reads of committed revisions that stay whole while documents are being replaced. */
export interface Reading {
  /**
   * Runs a group of store reads that belong together, from the first commit read to the last object read. Begins again when an
   * object was gone (its revision was superseded and swept meanwhile) or when the reads took more than half the grace.
   */
  whole<T>(read: () => Promise<T>): Promise<T>;
  manifest(record: CommitRecord): Promise<Manifest>;
  /** `parsedText.slice(start, end)` of the record's revision. */
  text(record: CommitRecord, start: number, end: number): Promise<string>;
  /** Chunks by id in the order given. Error `store_rejected` when one is gone. */
  chunks(ids: readonly string[], options?: { vectors?: boolean }): Promise<StoredChunk[]>;
}

export function createReading({ store, clock, readerGraceMs }: ReadingDeps): Reading {
  const cache = createManifestCache(CACHED_ENTRIES);

  async function manifest(record: CommitRecord): Promise<Manifest> {
    const cached = cache.get(record.id);
    if (cached !== undefined) return cached;
    const read = await store.readManifest(record);
    cache.set(record.id, read);
    return read;
  }

  async function chunks(ids: readonly string[], options?: { vectors?: boolean }): Promise<StoredChunk[]> {
    const read = await store.readChunks(ids, options);
    if (read.length < new Set(ids).size) {
      throw new SluiceError('store_rejected', `${ids.length - read.length} of ${ids.length} chunks are gone`);
    }
    return read;
  }

  return {
    manifest,
    chunks,
    async text(record, start, end) {
      const entries = await manifest(record);
      const texts = new Map<string, string>();
      for (const chunk of await chunks(chunksWithin(entries, start, end))) texts.set(chunk.id, chunk.text);
      return textOf(entries, texts, start, end);
    },
    async whole(read) {
      for (let round = 1; ; round += 1) {
        const begun = clock.monotonic();
        try {
          const result = await read();
          // Objects never change, so what was found in full is right; the bound keeps a slow reader from living on luck. With a
          // grace of 0 there is no time that would be short enough.
          const inTime = readerGraceMs === 0 || clock.monotonic() - begun <= readerGraceMs / 2;
          if (inTime || round >= ROUNDS) return result;
        } catch (error) {
          if (!(error instanceof SluiceError) || error.code !== 'store_rejected') throw error;
          if (round >= ROUNDS) {
            throw new SluiceError('store_unavailable', `reading a revision was overtaken ${ROUNDS} times: ${error.message}`, {
              cause: error,
            });
          }
        }
      }
    },
  };
}

/** Least recently used manifests, by record id. Safe because a record and its manifest never change. */
function createManifestCache(limit: number) {
  const kept = new Map<string, Manifest>();
  let entries = 0;
  const weight = (manifest: Manifest) => manifest.entries.length + 1;
  return {
    get(id: string): Manifest | undefined {
      const found = kept.get(id);
      if (found !== undefined) {
        kept.delete(id);
        kept.set(id, found);
      }
      return found;
    },
    set(id: string, manifest: Manifest) {
      if (kept.has(id)) return;
      kept.set(id, manifest);
      entries += weight(manifest);
      for (const [oldest, old] of kept) {
        if (entries <= limit || oldest === id) break;
        kept.delete(oldest);
        entries -= weight(old);
      }
    },
  };
}
