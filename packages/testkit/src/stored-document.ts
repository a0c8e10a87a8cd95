import {
  attemptUuid,
  type ChunkObject,
  type ChunkStore,
  type CommitRecord,
  chunkMetadataHash,
  type DocumentMetadata,
  docUuid,
  type Embedder,
  type Manifest,
  type ManifestEntry,
  objectUuid,
  type PageStart,
  sha256,
  splitDocId,
} from '@sluice/core';

/** A document to put into a store without running ingestion. */
export interface DocumentToStore {
  docId: string;
  /** The parsed text; each paragraph (parted by blank lines) becomes a chunk. Default: nothing is served. */
  text?: string;
  metadata?: Partial<DocumentMetadata>;
  fence?: number;
  /** The commit that this one was made from, whose chunks it supersedes. */
  base?: CommitRecord;
  pages?: PageStart[];
  headingPath?: string[];
  /** Members of the record that differ. */
  record?: Partial<CommitRecord>;
}

/**
 * Stores one committed revision as a writer would. A chunk's window is the paragraph with its neighbours, its parent the whole text.
 * Returns the commit.
 */
export async function storeDocument(store: ChunkStore, embedder: Embedder, document: DocumentToStore): Promise<CommitRecord> {
  const { docId, base, fence = (base?.fence ?? 0) + 1_000 } = document;
  const { source, sourcePath } = splitDocId(docId);
  const owner = { doc_id: docId, doc_uuid: docUuid(docId), fence, attempt: attemptUuid() };
  const metadata: DocumentMetadata = { doc_type: 'document', tags: [], security_level: 1, fields: {}, ...document.metadata };
  const text = document.text ?? '';
  const spans = paragraphsOf(text);
  const vectors = await embedder.embed(spans.map(({ start, end }) => text.slice(start, end)));

  const chunks: ChunkObject[] = [];
  const entries: ManifestEntry[] = [];
  for (const [index, { start, end }] of spans.entries()) {
    const own = text.slice(start, end);
    const id = objectUuid(owner.doc_uuid, 'chunk', owner.attempt, index);
    const text_hash = sha256(own);
    chunks.push({
      id,
      doc_id: docId,
      doc_uuid: owner.doc_uuid,
      source,
      source_path: sourcePath,
      rev: owner.attempt,
      fence,
      kind: 'paragraph',
      text: own,
      text_hash,
      metadata,
      vector: vectors[index] ?? new Float32Array(embedder.dimensions),
    });
    entries.push({
      id,
      rev: owner.attempt,
      text_hash,
      object_hash: sha256(`paragraph ${own}`),
      kind: 'paragraph',
      start,
      end,
      prefix: '',
      derived: false,
      headingPath: document.headingPath ?? [],
      tokens: own.split(/\s+/).length + 2,
      windowStart: spans[index - 1]?.start ?? start,
      windowEnd: spans[index + 1]?.end ?? end,
      parentId: 'whole',
      parentStart: 0,
      parentEnd: text.length,
      metadata: {},
    });
  }
  const manifest: Manifest = {
    entries,
    gaps: gapsOf(text, spans),
    length: text.length,
    pages: document.pages ?? [],
    dropped: [],
  };
  await store.insertChunks(chunks);
  const place = chunks.length === 0 ? { pages: [] } : await store.insertManifest(owner, manifest);
  const record: CommitRecord = {
    id: objectUuid(owner.doc_uuid, 'commit', owner.attempt),
    kind: 'commit',
    ...owner,
    source,
    source_path: sourcePath,
    base_fence: base?.fence ?? 0,
    live: chunks.length === 0 ? [] : [owner.attempt],
    superseded: [],
    superseded_revs: [],
    chunks: chunks.length,
    ...place,
    status: chunks.length === 0 ? 'empty' : 'indexed',
    content_hash: sha256(text),
    served_hash: chunks.length === 0 ? '' : sha256(text),
    stat: '1:1:1:1',
    sidecar_stat: '',
    fingerprint: 'test',
    config_hash: 'test',
    format: 'text',
    revision: chunks.length === 0 ? '' : sha256(`${docId} ${text} ${JSON.stringify(metadata)}`).slice(0, 16),
    security_level: metadata.security_level,
    ...(metadata.allowed_groups === undefined ? {} : { allowed_groups: metadata.allowed_groups }),
    metadata,
    chunk_metadata_hash: chunkMetadataHash(docId, metadata),
    warnings: [],
    committed_at: new Date(fence).toISOString(),
    ...document.record,
  };
  await store.insertRecord(record);
  return record;
}

type Span = { start: number; end: number };

function paragraphsOf(text: string): Span[] {
  return [...text.matchAll(/\S(?:[^\n]|\n(?!\n))*/g)].map((match) => {
    const end = match.index + match[0].trimEnd().length;
    return { start: match.index, end };
  });
}

function gapsOf(text: string, spans: readonly Span[]): Manifest['gaps'] {
  const gaps: Manifest['gaps'] = [];
  let cursor = 0;
  for (const { start, end } of [...spans, { start: text.length, end: text.length }]) {
    if (start > cursor) gaps.push({ start: cursor, text: text.slice(cursor, start) });
    cursor = Math.max(cursor, end);
  }
  return gaps;
}
