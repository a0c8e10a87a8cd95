import { chunkMetadataHash, type Manifest, type ReadResult, SluiceError } from '@sluice/core';
import { type Attempt, isServing } from './attempt.js';
import { buildRecord, isIndexedAs, NOTHING_LIVE, type RecordContent } from './build-record.js';
import type { IngestionDeps } from './deps.js';
import type { FileState, ResolvedDocument } from './document-metadata.js';
import { type ChunkPlan, planChunks } from './plan-chunks.js';
import { type Published, publish } from './publish.js';
import { revisionOf } from './revision.js';
import { type ChunkOptions, type WriteCounts, writeChunks } from './write-chunks.js';

interface WriteOptions extends ChunkOptions {
  /** False after a kept chunk was found missing: then every chunk is written again. */
  keep: boolean;
}

export interface WrittenDocument {
  published: Published;
  status: 'indexed' | 'empty';
  chunks: number;
  counts: WriteCounts;
  warnings: string[];
}

/** Thrown when the store holds another number of live chunks than the manifest names: a kept chunk was lost. */
export class LostChunks extends Error {}

interface DocumentToWrite {
  attempt: Attempt;
  disk: FileState;
  read: ReadResult;
  resolved: ResolvedDocument;
}

/** Steps 4 and 5 for a document that was read: its new chunks, its manifest, its commit. */
export async function writeDocument(
  deps: IngestionDeps,
  { attempt, disk, read, resolved }: DocumentToWrite,
  options: WriteOptions,
): Promise<WrittenDocument> {
  const { base, target } = attempt;
  const attemptId = attempt.fence.attempt;
  const { metadata } = resolved;
  const metadataHash = chunkMetadataHash(target.docId, metadata);
  const baseManifest =
    isServing(base) && read.chunks.length > 0 ? await deps.store.readManifest(base).catch(forgetBadManifest) : undefined;
  const plan = planChunks(
    { documentUuid: target.docUuid, attempt: attemptId, embedder: deps.embedder.id },
    read.chunks,
    base === undefined || baseManifest === undefined
      ? undefined
      : {
          record: base,
          manifest: baseManifest,
          keep: options.keep && base.chunk_metadata_hash === metadataHash && isIndexedAs(base, disk.policy.configHash),
        },
  );

  const counts = await writeChunks(
    deps,
    {
      docId: target.docId,
      docUuid: target.docUuid,
      source: target.source.name,
      sourcePath: target.sourcePath,
      attempt: attemptId,
      fence: attempt.fence.value,
      metadata,
    },
    plan.fresh,
    options,
  );
  await checkCount(deps, target, plan);
  const warnings = [...new Set([...read.warnings, ...resolved.warnings])];
  const common = {
    kind: 'commit',
    content_hash: read.contentHash,
    fingerprint: disk.policy.fingerprint(read.format),
    format: read.format,
    metadata,
    warnings,
    extra: resolved.extra,
  } as const;

  const content: RecordContent =
    plan.manifest.length === 0
      ? { ...NOTHING_LIVE, ...common, status: 'empty' }
      : {
          ...common,
          ...(await insertNamed(deps, attempt, read, plan)),
          status: 'indexed',
          served_hash: read.contentHash,
          revision: revisionOf(target.docId, read.contentHash, plan.manifest, metadata),
          chunk_metadata_hash: metadataHash,
        };
  const published = await publish(deps, attempt, disk, buildRecord(deps, attempt, disk, content));
  return { published, status: plan.manifest.length === 0 ? 'empty' : 'indexed', chunks: plan.manifest.length, counts, warnings };
}

/** Inserts the manifest. @returns what the commit names */
async function insertNamed(
  deps: IngestionDeps,
  { target, fence }: Attempt,
  { gaps, length, pages, dropped }: ReadResult,
  { manifest: entries, live, superseded, supersededRevs }: ChunkPlan,
): Promise<Pick<RecordContent, 'live' | 'superseded' | 'superseded_revs' | 'chunks' | 'pages' | 'manifest'>> {
  await deps.onStep?.('manifest', target.docId);
  const manifest: Manifest = { entries, gaps, length, pages, dropped };
  const owner = { doc_id: target.docId, doc_uuid: target.docUuid, fence: fence.value, attempt: fence.attempt };
  const place = await deps.store.insertManifest(owner, manifest);
  return { live, superseded, superseded_revs: supersededRevs, chunks: entries.length, ...place };
}

/** A base whose manifest cannot be read keeps nothing; its chunks are superseded as a whole, since none of its attempts stays live. */
function forgetBadManifest(cause: unknown): undefined {
  if (cause instanceof SluiceError && cause.code === 'store_rejected') return undefined;
  throw cause;
}

/** A batch may fail in part without a word, and a kept chunk may be gone: what the store counts must be what the manifest names. */
async function checkCount(deps: IngestionDeps, target: Attempt['target'], plan: ChunkPlan): Promise<void> {
  if (plan.manifest.length === 0) return;
  // Inserts are acknowledged one by one, so without kept chunks there is nothing that could be missing.
  if (plan.fresh.length === plan.manifest.length) return;
  const stored = await deps.store.countChunks(target.docUuid, plan.live, plan.superseded);
  if (stored !== plan.manifest.length) {
    throw new LostChunks(`${target.docId}: the store holds ${stored} live chunks where ${plan.manifest.length} were named`);
  }
}
