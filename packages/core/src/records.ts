import type { Chunk, DroppedFact, PageStart } from './chunks.js';
import type { DocumentMetadata, SecurityLevel, StoredStatus } from './documents.js';
import type { ReasonCode } from './errors.js';
import { hashOf } from './ids.js';

/**
 * One object an attempt: which chunks of a document are live, and what is known of the document. Inserted once, never changed.
 * The highest fence wins, ties by attempt.
 */
export interface CommitRecord {
  /** Id of the object in the store: objectUuid(docUuid, 'commit' | 'status', attempt). */
  id: string;
  /** `status` records are the last resort of a failing attempt: they carry status and fence, and license no delete. */
  kind: 'commit' | 'status';
  doc_id: string;
  doc_uuid: string;
  source: string;
  source_path: string;
  fence: number;
  attempt: string;
  /** Fence of the commit this attempt started from; 0 without one. */
  base_fence: number;
  /** Attempts whose chunks are live, save the superseded ids. */
  live: string[];
  /** Ids of chunks that live attempts wrote and that are live no longer. Cumulative: the base's list plus this attempt's own. */
  superseded: string[];
  /** For each superseded id the attempt that wrote it: an attempt none of whose chunks is live leaves both lists. */
  superseded_revs: string[];
  /** Number of live chunks. */
  chunks: number;
  /** Ids of the manifest's pages, in order; none where the manifest is small enough to travel in the record. */
  pages: string[];
  /** The manifest, as the store encodes it, where it has no pages. Walks leave it out. */
  manifest?: string;
  status: StoredStatus;
  reason?: ReasonCode;
  message?: string;
  /** An operator took this dead letter off the list: it stays failed, and is not retried until the file changes. */
  discarded?: boolean;
  /** sha256 of the file that this record describes (the failing one, when failed); '' when it could not be read. */
  content_hash: string;
  /** sha256 of the file whose chunks are live; '' when none are. */
  served_hash: string;
  /** statKey of the file as read; '' when it is gone. */
  stat: string;
  /** sidecarKey of the sidecar as read. */
  sidecar_stat: string;
  /** Hash of parser, chunker and embedder with settings and versions. */
  fingerprint: string;
  /** Hash of what the configuration says of this path's metadata and access. */
  config_hash: string;
  /** Format's name in the parser registry, or ''. */
  format: string;
  /** Opaque; new only when content, chunks or metadata of what is served differ. '' when nothing is served. */
  revision: string;
  security_level: SecurityLevel;
  allowed_groups?: string[];
  /** Metadata of what is served, or of the newest state where nothing is. */
  metadata: DocumentMetadata;
  /** Front matter and sidecar values under names that are not declared: kept with the document, not filterable. */
  extra?: Record<string, unknown>;
  /** Hash of everything document-wide that chunk objects carry: equal hashes mean chunks can be kept. */
  chunk_metadata_hash: string;
  warnings: string[];
  /** ISO instant by the writer's clock. For people, never for decisions. */
  committed_at: string;
  /** Unix milliseconds at which the store accepted the record, by the store's clock. Set by the store when read. */
  created_ms?: number;
}

/** A chunk as stored. Immutable; its id is unique to its attempt. */
export interface ChunkObject {
  id: string;
  doc_id: string;
  doc_uuid: string;
  source: string;
  source_path: string;
  /** The attempt that wrote it. */
  rev: string;
  /** That attempt's fence: what the sweep compares. */
  fence: number;
  kind: string;
  text: string;
  /** What was embedded and what keyword search sees, where it differs from text. */
  embedding_text?: string;
  /** Hash of what was embedded and by which model: how edits and renames find vectors. */
  text_hash: string;
  lang?: string;
  metadata: DocumentMetadata;
  vector: Float32Array;
}

/** What the manifest keeps of a chunk beside its object: everything that may change while its text does not. */
export interface ManifestEntry extends Omit<Chunk, 'text' | 'embeddingText' | 'window' | 'index'> {
  /** Id of the chunk object. */
  id: string;
  /** The attempt that wrote that object. */
  rev: string;
  text_hash: string;
  /** Hash of what the object holds besides document-wide metadata (text, embedded text, kind, language): equal hashes may share an object. */
  object_hash: string;
}

/** Where a manifest is: what the record that names it must hold. */
export type ManifestPlace = Pick<CommitRecord, 'pages' | 'manifest'>;

/** Ordered facts of a revision, stored in the commit when small, else in pages beside it. Entry n is chunk n. */
export interface Manifest {
  entries: ManifestEntry[];
  /** Stretches of the parsed text that no chunk's own text covers (white space, front matter, passages of propositions). */
  gaps: { start: number; text: string }[];
  /** Length of the parsed text in UTF-16 units. */
  length: number;
  pages: PageStart[];
  dropped: DroppedFact[];
  /** Parents of the parent-document strategy, by id. */
  parents?: Record<string, { start: number; end: number }>;
}

/** Hash of everything document-wide that a chunk object carries. Equal hashes mean that a chunk can be kept by a new revision. */
export function chunkMetadataHash(docId: string, metadata: DocumentMetadata): string {
  return hashOf({ docId, metadata });
}
