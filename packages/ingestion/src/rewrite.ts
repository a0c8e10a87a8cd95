import {
  type CommitRecord,
  chunkMetadataHash,
  type DocumentMetadata,
  type Manifest,
  objectUuid,
  SluiceError,
} from '@sluice/core';
import type { Attempt } from './attempt.js';
import type { RecordContent } from './build-record.js';
import type { IngestionDeps } from './deps.js';
import { revisionOf } from './revision.js';

/** Chunks read and written at a time. */
const SLICE = 100;

type Rewritten = Pick<
  RecordContent,
  | 'live'
  | 'superseded'
  | 'superseded_revs'
  | 'chunks'
  | 'pages'
  | 'manifest'
  | 'served_hash'
  | 'revision'
  | 'chunk_metadata_hash'
  | 'metadata'
  | 'extra'
>;

/**
 * Copies every live chunk of the base, with its vector, under this attempt and with the given metadata: how a change of access takes
 * effect under one commit without the content being touched, how a document of many attempts becomes one of one, and how chunks get
 * properties that they were indexed without. The file is not read.
 *
 * @throws MissingChunk when a chunk that the base names, or the list of them, is not in the store
 */
export async function rewriteBase(
  deps: IngestionDeps,
  { target, fence, base }: Attempt & { base: CommitRecord },
  metadata: DocumentMetadata,
): Promise<Rewritten> {
  const manifest = await readBaseManifest(deps, base);
  const entries: Manifest['entries'] = [];
  for (let at = 0; at < manifest.entries.length; at += SLICE) {
    const slice = manifest.entries.slice(at, at + SLICE);
    const stored = await deps.store.readChunks(
      slice.map((entry) => entry.id),
      { vectors: true },
    );
    const byId = new Map(stored.map((chunk) => [chunk.id, chunk]));
    const copies = slice.flatMap((entry, n) => {
      const chunk = byId.get(entry.id);
      // A chunk that was lost cannot be copied; the document is then written again from the disk instead.
      if (chunk?.vector === undefined) throw new MissingChunk(`chunk ${entry.id} is named by the commit but is not in the store`);
      const id = objectUuid(target.docUuid, fence.attempt, 'copy', at + n);
      entries.push({ ...entry, id, rev: fence.attempt });
      return [{ ...chunk, vector: chunk.vector, id, rev: fence.attempt, fence: fence.value, metadata }];
    });
    await deps.store.insertChunks(copies);
    deps.metrics.embeddingsReused.inc(copies.length);
  }
  const place = await deps.store.insertManifest(
    { doc_id: target.docId, doc_uuid: target.docUuid, fence: fence.value, attempt: fence.attempt },
    { ...manifest, entries },
  );
  return {
    live: [fence.attempt],
    superseded: [],
    superseded_revs: [],
    chunks: entries.length,
    ...place,
    served_hash: base.served_hash,
    revision: revisionOf(target.docId, base.served_hash, entries, metadata),
    chunk_metadata_hash: chunkMetadataHash(target.docId, metadata),
    metadata,
    ...(base.extra === undefined ? {} : { extra: base.extra }),
  };
}

/** Whether every chunk that the base names is stored, and the list of them: else it would be served in part. */
export async function isWhole(deps: Pick<IngestionDeps, 'store'>, base: CommitRecord): Promise<boolean> {
  if ((await deps.store.countChunks(base.doc_uuid, base.live, base.superseded)) !== base.chunks) return false;
  return readBaseManifest(deps, base).then(
    () => true,
    (cause: unknown) => {
      if (cause instanceof MissingChunk) return false;
      throw cause;
    },
  );
}

/** @throws MissingChunk when its pages are lost, or were swept while this attempt slept and another one took the base's place */
function readBaseManifest(deps: Pick<IngestionDeps, 'store'>, base: CommitRecord): Promise<Manifest> {
  return deps.store.readManifest(base).catch((cause: unknown) => {
    if (cause instanceof SluiceError && cause.code === 'store_rejected') throw new MissingChunk(cause.message);
    throw cause;
  });
}

/** A chunk that the base names, or the list of them, is not in the store. */
export class MissingChunk extends Error {}
