import type { ChunkObject, DocumentMetadata } from '@sluice/core';
import type { IngestionDeps } from './deps.js';
import type { Lru } from './lru.js';
import type { ReconcileOptions } from './outcome.js';
import type { FreshChunk } from './plan-chunks.js';

export interface WriteContext {
  docId: string;
  docUuid: string;
  source: string;
  sourcePath: string;
  attempt: string;
  fence: number;
  metadata: DocumentMetadata;
}

export interface WriteCounts {
  computed: number;
  reused: number;
}

export interface ChunkOptions extends Pick<ReconcileOptions, 'signal' | 'onProgress'> {
  /** Vectors this process has seen lately, by text hash: a repeated paragraph is looked up once. */
  vectors: Lru<string, Float32Array>;
}

/**
 * Finds or computes the vectors of the new chunks and inserts them, slice by slice: one slice is inserted while the next is
 * embedded, so memory stays bounded however long the document is.
 */
export async function writeChunks(
  deps: IngestionDeps,
  context: WriteContext,
  fresh: readonly FreshChunk[],
  options: ChunkOptions,
): Promise<WriteCounts> {
  const { signal, onProgress } = options;
  const counts: WriteCounts = { computed: 0, reused: 0 };
  let inserting: Promise<void> | undefined;
  try {
    for (let at = 0; at < fresh.length; at += deps.settings.sliceSize) {
      signal?.throwIfAborted();
      const slice = fresh.slice(at, at + deps.settings.sliceSize);
      await deps.onStep?.('embed', context.docId);
      const found = await vectorsFor(deps, slice, counts, options);
      await deps.onStep?.('embedded', context.docId);
      await inserting;
      inserting = insertSlice(deps, context, slice, found);
      // Without a handler a rejection during the next slice's embedding would end the process; it is awaited above or below.
      inserting.catch(() => {});
      onProgress?.((at + slice.length) / fresh.length);
    }
  } finally {
    // Also on a failure: nothing of this attempt may still be on its way when the caller records the outcome.
    await inserting?.catch(() => {});
  }
  await inserting;
  return counts;
}

async function insertSlice(
  deps: IngestionDeps,
  context: WriteContext,
  slice: readonly FreshChunk[],
  found: ReadonlyMap<string, Float32Array>,
): Promise<void> {
  const end = deps.metrics.stageSeconds.startTimer({ stage: 'insert' });
  await deps.onStep?.('insert', context.docId);
  await deps.store.insertChunks(slice.map((chunk) => chunkObject(context, chunk, found)));
  await deps.onStep?.('inserted', context.docId);
  end();
}

function chunkObject(context: WriteContext, chunk: FreshChunk, found: ReadonlyMap<string, Float32Array>): ChunkObject {
  const vector = found.get(chunk.textHash);
  if (vector === undefined) throw new Error('a new chunk has no vector');
  return {
    id: chunk.id,
    doc_id: context.docId,
    doc_uuid: context.docUuid,
    source: context.source,
    source_path: context.sourcePath,
    rev: context.attempt,
    fence: context.fence,
    kind: chunk.kind,
    text: chunk.text,
    ...(chunk.embeddingText === chunk.text ? {} : { embedding_text: chunk.embeddingText }),
    text_hash: chunk.textHash,
    ...(chunk.lang === undefined ? {} : { lang: chunk.lang }),
    metadata: context.metadata,
    vector,
  };
}

async function vectorsFor(
  deps: IngestionDeps,
  slice: readonly FreshChunk[],
  counts: WriteCounts,
  { vectors: cache, signal }: ChunkOptions,
): Promise<Map<string, Float32Array>> {
  const found = new Map<string, Float32Array>();
  const texts = new Map<string, string>();
  for (const chunk of slice) {
    const known = found.get(chunk.textHash) ?? cache.get(chunk.textHash);
    if (known === undefined) texts.set(chunk.textHash, chunk.embeddingText);
    else found.set(chunk.textHash, known);
  }
  if (texts.size > 0) {
    for (const [hash, vector] of await deps.store.vectorsByTextHash([...texts.keys()])) {
      if (!texts.delete(hash)) continue;
      found.set(hash, vector);
      cache.set(hash, vector);
    }
  }
  const reused = slice.length - texts.size;
  const missing = [...texts];
  if (missing.length > 0) {
    const end = deps.metrics.stageSeconds.startTimer({ stage: 'embed' });
    const computed = await deps.embedder.embed(
      missing.map(([, text]) => text),
      signal,
    );
    end();
    for (const [n, [hash]] of missing.entries()) {
      const vector = computed[n];
      if (vector === undefined) throw new Error(`the embedder gave ${computed.length} vectors for ${missing.length} texts`);
      found.set(hash, vector);
      cache.set(hash, vector);
    }
  }
  counts.computed += missing.length;
  counts.reused += reused;
  deps.metrics.embeddingsReused.inc(reused);
  return found;
}
