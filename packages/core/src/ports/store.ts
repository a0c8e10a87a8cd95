import type { Filter } from '../filters.js';
import type { ChunkObject, CommitRecord, Manifest, ManifestPlace } from '../records.js';

/** A reference to any object of a document in the store. */
export interface StoredObject {
  collection: 'chunks' | 'commits' | 'pages';
  id: string;
  /** The fence of the attempt that wrote it. */
  fence: number;
  /** The attempt that wrote it. */
  attempt: string;
}

/**
 * An object that no attempt can have written, since its id is not one of its document's, or it says of no document. No commit can name it,
 * no reader shows it, and it may be deleted at any time.
 */
export interface StrayObject {
  collection: StoredObject['collection'];
  id: string;
  /** The document that it claims to be of, if it names one. */
  docId?: string;
}

/** Called with the objects that a walk comes upon and leaves out. */
export type OnStray = (object: StrayObject) => void;

/** A chunk's text with what decides its visibility, as searches and reads return it. */
export interface StoredChunk extends Omit<ChunkObject, 'vector'> {
  vector?: Float32Array;
}

export interface SearchRequest {
  mode: 'hybrid' | 'dense' | 'keyword';
  query: string;
  /** Needed for hybrid and dense. May still be on its way: the keyword part does not wait for it. */
  vector?: Float32Array | Promise<Float32Array>;
  /** Hybrid only: weight of the dense part, 0..1. */
  alpha: number;
  /**
   * Number of visible hits wanted. Hits of the last one's document that tie with it are returned too: what puts them in order is their place,
   * which stands in the manifest. The pool that is fused is that of 100 hits at least, so a smaller limit gives the first of a larger one's.
   */
  limit: number;
  /** The caller's filter, the access filter already ANDed outermost. */
  filter: Filter;
  /**
   * Keyword scores as shares of the greatest one that is shown. BM25 itself depends on how many documents hold a word, those that the
   * caller may not see among them.
   */
  relativeKeyword?: boolean;
  /** Whether the caller may see a document by a commit's level and groups. */
  mayAccess: (commit: Pick<CommitRecord, 'security_level' | 'allowed_groups'>) => boolean;
}

export interface SearchHit {
  chunk: StoredChunk;
  commit: CommitRecord;
  score: number;
  scores: { dense?: number; keyword?: number; fused?: number };
}

/** What commits and manifests are written to and read from. One contract suite runs on the real store and on the fake. */
export interface ChunkStore {
  /** Creates what is missing and checks what is there. Error `schema_mismatch` names what differs. */
  ensureSchema(): Promise<void>;
  /** Reads what is there and writes nothing. Error `schema_mismatch` names what is missing or differs. */
  checkSchema(): Promise<void>;
  /** Error `store_unavailable` when the store does not answer or is not ready for reads and writes. */
  checkReady(): Promise<void>;

  /** All records of the given documents, both kinds, none left out by a limit. Documents without one have no entry. */
  recordsOf(docUuids: readonly string[]): Promise<Map<string, CommitRecord[]>>;
  /** Inserts, each acknowledged. Ids are unique to an attempt, and an attempt sends each of them once. */
  insertChunks(chunks: readonly ChunkObject[]): Promise<void>;
  /** Inserts the manifest's pages, unless it is small: returns what its record must hold. */
  insertManifest(
    owner: { doc_id: string; doc_uuid: string; fence: number; attempt: string },
    manifest: Manifest,
  ): Promise<ManifestPlace>;
  insertRecord(record: CommitRecord): Promise<void>;

  /** Error `store_rejected` when a page is missing. */
  readManifest(record: CommitRecord): Promise<Manifest>;
  /** Chunks by id, in the order of the ids; missing ones are left out. */
  readChunks(ids: readonly string[], options?: { vectors?: boolean }): Promise<StoredChunk[]>;
  /** Which of these chunk ids exist. */
  existingChunks(ids: readonly string[]): Promise<Set<string>>;
  /** Number of stored chunks of a document that one of the given attempts wrote, the given ids left out. Counted by the store, not listed. */
  countChunks(docUuid: string, revs: readonly string[], withoutIds: readonly string[]): Promise<number>;
  /** Vectors of any chunks with these text hashes, whoever owns them. */
  vectorsByTextHash(textHashes: readonly string[]): Promise<Map<string, Float32Array>>;

  /** Every object of one document in every collection: a fresh listing, none left out by a limit. */
  listObjects(docUuid: string): Promise<StoredObject[]>;
  deleteObjects(objects: readonly Pick<StoredObject, 'collection' | 'id'>[]): Promise<void>;

  /**
   * All records in uuid order, grouped by document, in bulk: what a scan compares with the disk.
   * @param options.after begins behind this document's uuid: how a listing goes on from its cursor
   */
  walkRecords(options?: { after?: string; onStray?: OnStray }): AsyncIterable<CommitRecord[]>;
  /**
   * All objects of the chunk and page collections in uuid order, grouped by document: what verify compares with the records.
   * For chunks metadataHash is chunkMetadataHash() of what the object really holds.
   */
  walkObjects(
    collection: 'chunks' | 'pages',
    options?: { onStray?: OnStray },
  ): AsyncIterable<{ docId: string; docUuid: string; objects: (StoredObject & { metadataHash?: string; textHash?: string })[] }>;

  /** A search that shows whole revisions only (the reader's half of the commit protocol). Best first; ties by doc_id, then id. */
  search(request: SearchRequest): Promise<SearchHit[]>;
  close(): Promise<void>;
}

/** The record that counts: highest fence, ties by attempt. */
export function topRecord<R extends Pick<CommitRecord, 'fence' | 'attempt'>>(records: readonly R[]): R | undefined {
  let top: R | undefined;
  for (const record of records) {
    if (top === undefined || record.fence > top.fence || (record.fence === top.fence && record.attempt > top.attempt))
      top = record;
  }
  return top;
}

/** The commit that counts: status records are passed over. */
export function topCommit<R extends Pick<CommitRecord, 'fence' | 'attempt' | 'kind'>>(records: readonly R[]): R | undefined {
  return topRecord(records.filter((record) => record.kind === 'commit'));
}
