import { type CommitRecord, type DocumentMetadata, objectUuid } from '@sluice/core';
import type { Attempt } from './attempt.js';
import type { IngestionDeps } from './deps.js';
import type { DiskState } from './observe.js';

/** What an attempt decides about the content; identity, fence and disk facts are added by {@link buildRecord}. */
export type RecordContent = Pick<
  CommitRecord,
  | 'kind'
  | 'live'
  | 'superseded'
  | 'superseded_revs'
  | 'chunks'
  | 'pages'
  | 'status'
  | 'content_hash'
  | 'served_hash'
  | 'fingerprint'
  | 'format'
  | 'revision'
  | 'metadata'
  | 'chunk_metadata_hash'
  | 'warnings'
> &
  Partial<Pick<CommitRecord, 'manifest' | 'reason' | 'message' | 'discarded' | 'extra'>>;

export function buildRecord(
  deps: Pick<IngestionDeps, 'clock'>,
  { target, fence, base }: Attempt,
  disk: DiskState,
  content: RecordContent,
): CommitRecord {
  const { security_level, allowed_groups } = content.metadata;
  return {
    id: objectUuid(target.docUuid, content.kind, fence.attempt),
    doc_id: target.docId,
    doc_uuid: target.docUuid,
    source: target.source.name,
    source_path: target.sourcePath,
    fence: fence.value,
    attempt: fence.attempt,
    base_fence: base?.fence ?? 0,
    stat: disk.kind === 'file' ? disk.statKey : '',
    sidecar_stat: disk.kind === 'file' ? disk.sidecarStat : '',
    config_hash: disk.kind === 'file' ? disk.policy.configHash : '',
    security_level,
    ...(allowed_groups === undefined ? {} : { allowed_groups }),
    committed_at: new Date(deps.clock.now()).toISOString(),
    ...content,
  };
}

/** The part of a record that says nothing is live. */
export const NOTHING_LIVE = {
  live: [],
  superseded: [],
  superseded_revs: [],
  chunks: 0,
  pages: [],
  served_hash: '',
  revision: '',
  chunk_metadata_hash: '',
} satisfies Partial<RecordContent>;

/** The part of a record that names exactly what the base names. */
export function sameAsBase(base: CommitRecord) {
  const { live, superseded, superseded_revs, chunks, pages, manifest, served_hash, revision, chunk_metadata_hash, extra } = base;
  return {
    live,
    superseded,
    superseded_revs,
    chunks,
    pages,
    ...(manifest === undefined ? {} : { manifest }),
    served_hash,
    revision,
    chunk_metadata_hash,
    ...(extra === undefined ? {} : { extra }),
  };
}

/**
 * Whether the chunks of a record have the index properties that the configuration wants. A declared field whose type changed (int to
 * number) has another property under the same value, so a document with declared fields is only sure to have it under the same hash.
 */
export function isIndexedAs(record: Pick<CommitRecord, 'config_hash' | 'metadata'>, configHash: string): boolean {
  return record.config_hash === configHash || Object.keys(record.metadata.fields).length === 0;
}

/** Why a document is as it is, carried over from a record. */
function reasonOf(record: CommitRecord): Partial<Pick<CommitRecord, 'reason' | 'message' | 'discarded'>> {
  return {
    ...(record.reason === undefined ? {} : { reason: record.reason }),
    ...(record.message === undefined ? {} : { message: record.message }),
    ...(record.discarded === undefined ? {} : { discarded: record.discarded }),
  };
}

/** What a deleted document's commit says of its content. */
export function deletedAs(access: Pick<DocumentMetadata, 'security_level' | 'allowed_groups'>): RecordContent {
  return {
    ...NOTHING_LIVE,
    kind: 'commit',
    status: 'deleted',
    content_hash: '',
    fingerprint: '',
    format: '',
    metadata: bareMetadata(access),
    warnings: [],
  };
}

/** The base's content under a new fence: everything but what is live of it, and where its manifest is. */
export function contentOf(base: CommitRecord) {
  const { kind, status, content_hash, fingerprint, format, metadata, warnings } = base;
  return { kind, status, content_hash, fingerprint, format, metadata, warnings, ...reasonOf(base) };
}

/** Metadata for a record of a document of which nothing is known but who may see it. */
export function bareMetadata(access: Pick<DocumentMetadata, 'security_level' | 'allowed_groups'>): DocumentMetadata {
  const { security_level, allowed_groups } = access;
  return {
    doc_type: 'document',
    tags: [],
    fields: {},
    security_level,
    ...(allowed_groups === undefined ? {} : { allowed_groups }),
  };
}
