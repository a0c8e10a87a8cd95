import {
  attemptUuid,
  type ChunkObject,
  type ChunkStore,
  type CommitRecord,
  chunkMetadataHash,
  type DocumentMetadata,
  docUuid,
  type Manifest,
  objectUuid,
  sha256,
} from '@sluice/core';

export interface SeedOptions {
  source?: string;
  documents: number;
  chunksPerDocument: number;
  dimensions: number;
  /** Number of the first document; default 0. */
  first?: number;
  /** Documents written at once; default 8. */
  concurrency?: number;
  /** Text of a chunk; default one line that names document and passage. */
  textOf?: (document: number, index: number) => string;
  /** 0 (default) for new documents; 1 replaces those of 0, and so on. Nothing is deleted. */
  revision?: number;
}

/** Fences of a revision's documents begin here, and are as many apart as there may be documents. */
const FENCES = 1_700_000_000_000_000;
const FENCES_A_REVISION = 1_000_000_000;

/**
 * Fills a store with whole, committed documents whose vectors come from a seed: nothing is parsed or embedded. Document n is
 * `<source>/seed/<n>.txt`. For tests and commands that need many chunks.
 */
export async function seedStore(store: ChunkStore, options: SeedOptions): Promise<{ documents: number; chunks: number }> {
  const { documents, chunksPerDocument, concurrency = 8 } = options;
  const end = (options.first ?? 0) + documents;
  let next = options.first ?? 0;
  async function work(): Promise<void> {
    while (next < end) await seedDocument(store, next++, options);
  }
  await Promise.all(Array.from({ length: concurrency }, work));
  return { documents, chunks: documents * chunksPerDocument };
}

async function seedDocument(store: ChunkStore, n: number, options: SeedOptions): Promise<void> {
  const source = options.source ?? 'seeded';
  const path = `seed/${n}.txt`;
  const doc_id = `${source}/${path}`;
  const { revision = 0, textOf = (document, index) => `seeded document ${document} passage ${index}` } = options;
  const fence = FENCES + revision * FENCES_A_REVISION + n;
  const owner = { doc_id, doc_uuid: docUuid(doc_id), fence, attempt: attemptUuid() };
  const metadata: DocumentMetadata = { doc_type: 'document', tags: [], security_level: 1, fields: {} };
  const chunks: ChunkObject[] = [];
  const manifest: Manifest = { entries: [], gaps: [], length: 0, pages: [], dropped: [] };
  for (let index = 0; index < options.chunksPerDocument; index++) {
    const text = textOf(n, index);
    const text_hash = sha256(text);
    const id = objectUuid(owner.doc_uuid, 'chunk', owner.attempt, index);
    const { attempt: rev, doc_uuid } = owner;
    const vector = seededVector(text_hash, options.dimensions);
    chunks.push({
      id,
      doc_id,
      doc_uuid,
      source,
      source_path: path,
      rev,
      fence,
      kind: 'paragraph',
      text,
      text_hash,
      metadata,
      vector,
    });
    const start = manifest.length + (index === 0 ? 0 : 1);
    manifest.entries.push({
      id,
      rev,
      text_hash,
      object_hash: sha256(`paragraph ${text}`),
      kind: 'paragraph',
      start,
      end: start + text.length,
      prefix: '',
      derived: false,
      headingPath: [],
      tokens: Math.ceil(text.length / 4),
      metadata: {},
    });
    if (index > 0) manifest.gaps.push({ start: start - 1, text: '\n' });
    manifest.length = start + text.length;
  }
  await store.insertChunks(chunks);
  const record: CommitRecord = {
    id: objectUuid(owner.doc_uuid, 'commit', owner.attempt),
    kind: 'commit',
    ...owner,
    source,
    source_path: path,
    base_fence: revision === 0 ? 0 : fence - FENCES_A_REVISION,
    live: [owner.attempt],
    superseded: [],
    superseded_revs: [],
    chunks: chunks.length,
    ...(await store.insertManifest(owner, manifest)),
    status: 'indexed',
    content_hash: sha256(doc_id),
    served_hash: sha256(doc_id),
    stat: '1:1:1:1',
    sidecar_stat: '',
    fingerprint: 'seed',
    config_hash: 'seed',
    format: 'text',
    revision: sha256(`${doc_id} seed ${revision}`).slice(0, 16),
    security_level: 1,
    metadata,
    chunk_metadata_hash: chunkMetadataHash(doc_id, metadata),
    warnings: [],
    committed_at: '2024-01-01T00:00:00.000Z',
  };
  await store.insertRecord(record);
}

/** A unit vector drawn from a hash: xorshift32, uniform in -1..1 before scaling. */
function seededVector(hash: string, dimensions: number): Float32Array {
  let state = Number.parseInt(hash.slice(0, 8), 16) | 1;
  const vector = new Float32Array(dimensions);
  for (let i = 0; i < dimensions; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    vector[i] = (state >>> 0) / 2 ** 31 - 1;
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}
