import {
  attemptUuid,
  type ChunkObject,
  type ChunkStore,
  type CommitRecord,
  chunkMetadataHash,
  type DocumentMetadata,
  docUuid,
  type Filter,
  objectUuid,
  type SearchRequest,
  sha256,
  splitDocId,
} from '@sluice/core';

export const CONTRACT_DIMENSIONS = 8;

/** A fence as they come: microseconds since 1970, above 2^32. */
export const FENCE = 1_760_000_000_123_457;

let sourceNumber = 0;

/** Makes chunks and records of documents by hand, without ingestion. Each has a source of its own, so that tests share a store. */
export function createContractDocuments(store: ChunkStore) {
  const source = `s${process.pid}x${Date.now().toString(36)}n${sourceNumber++}`;

  const metadataOf = (metadata: Partial<DocumentMetadata> = {}): DocumentMetadata => ({
    doc_type: 'document',
    tags: [],
    security_level: 1,
    fields: {},
    ...metadata,
  });

  function chunkOf(path: string, n: number, text: string, rest: Partial<ChunkObject> & { rev: string }): ChunkObject {
    const docId = `${source}/${path}`;
    const uuid = docUuid(docId);
    return {
      id: objectUuid(uuid, 'chunk', rest.rev, n),
      doc_id: docId,
      doc_uuid: uuid,
      source,
      source_path: path,
      fence: 1,
      kind: 'paragraph',
      text,
      text_hash: sha256(text),
      metadata: metadataOf(),
      vector: unit([1, n + 1, 0, 0, 0, 0, 0, 0]),
      ...rest,
    };
  }

  function recordOf(path: string, rest: Partial<CommitRecord>): CommitRecord {
    const docId = `${source}/${path}`;
    const attempt = rest.attempt ?? attemptUuid();
    const metadata = rest.metadata ?? metadataOf();
    return {
      id: objectUuid(docUuid(docId), rest.kind ?? 'commit', attempt),
      kind: 'commit',
      doc_id: docId,
      doc_uuid: docUuid(docId),
      ...splitRecord(docId),
      fence: 1,
      attempt,
      base_fence: 0,
      live: [],
      superseded: [],
      superseded_revs: [],
      chunks: 0,
      pages: [],
      status: 'indexed',
      content_hash: '',
      served_hash: '',
      stat: '1:2:3:4',
      sidecar_stat: '',
      fingerprint: 'f',
      config_hash: 'c',
      format: 'text',
      revision: 'r',
      security_level: metadata.security_level,
      metadata,
      chunk_metadata_hash: chunkMetadataHash(docId, metadata),
      warnings: [],
      committed_at: '2024-01-01T00:00:00.000Z',
      ...rest,
    };
  }

  /** One revision with a chunk a text. */
  async function write(
    path: string,
    texts: readonly string[],
    rest: Partial<CommitRecord> & { vectors?: number[][]; chunk?: Partial<ChunkObject> } = {},
  ): Promise<{ chunks: ChunkObject[]; record: CommitRecord }> {
    const { vectors, chunk, ...recordRest } = rest;
    const rev = rest.attempt ?? attemptUuid();
    const fence = rest.fence ?? 1;
    const metadata = metadataOf(rest.metadata);
    const chunks = texts.map((text, n) => {
      const vector = vectors?.[n];
      return chunkOf(path, n, text, {
        rev,
        fence,
        metadata,
        ...(vector === undefined ? {} : { vector: unit(vector) }),
        ...chunk,
      });
    });
    await store.insertChunks(chunks);
    const record = recordOf(path, {
      ...recordRest,
      metadata,
      attempt: rev,
      fence,
      live: texts.length > 0 ? [rev] : [],
      chunks: texts.length,
    });
    await store.insertRecord(record);
    return { chunks, record };
  }

  function request(rest: Partial<SearchRequest> = {}): SearchRequest {
    const own: Filter = { op: 'eq', field: 'source', value: source };
    const { filter, ...others } = rest;
    return {
      mode: 'hybrid',
      query: 'kettle',
      vector: unit([1, 0, 0, 0, 0, 0, 0, 0]),
      alpha: 0.5,
      limit: 10,
      mayAccess: () => true,
      ...others,
      filter: filter === undefined ? own : { op: 'and', of: [own, filter] },
    };
  }

  return { source, docId: (path: string) => `${source}/${path}`, chunkOf, recordOf, write, request, metadataOf };
}

function splitRecord(docId: string): { source: string; source_path: string } {
  const { source, sourcePath } = splitDocId(docId);
  return { source, source_path: sourcePath };
}

export function unit(values: readonly number[]): Float32Array {
  const length = Math.hypot(...values);
  return Float32Array.from(values, (value) => value / length);
}
