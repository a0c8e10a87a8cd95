import {
  type ChunkStore,
  type CommitRecord,
  docUuid,
  documentPrefix,
  isDocId,
  type OnStray,
  type StoredObject,
  topRecord,
} from '@sluice/core';

export type StoredChunkFacts = StoredObject & { metadataHash?: string; textHash?: string };

/** Everything the store holds of one document. */
export interface DocumentObjects {
  docId: string;
  docUuid: string;
  records: CommitRecord[];
  chunks: StoredChunkFacts[];
  pages: StoredObject[];
  /**
   * A record above all that readers and writers are shown: the walk lists it, no question for the document's records finds it. A store
   * that was killed while it wrote may leave such a one.
   */
  unseen?: CommitRecord;
}

/** Documents, and objects of theirs, whose records are asked for at a time. */
const DOCUMENTS_AT_ONCE = 100;
const OBJECTS_AT_ONCE = 10_000;

interface Cursor<T> {
  /** What all ids of the document's objects begin with: the order of the walks. */
  key: string | undefined;
  value: T | undefined;
  advance(): Promise<void>;
}

async function openCursor<T>(items: AsyncIterable<T>, uuidOf: (item: T) => string): Promise<Cursor<T>> {
  const iterator = items[Symbol.asyncIterator]();
  const cursor: Cursor<T> = {
    key: undefined,
    value: undefined,
    async advance() {
      const next = await iterator.next();
      cursor.value = next.done ? undefined : next.value;
      cursor.key = cursor.value === undefined ? undefined : documentPrefix(uuidOf(cursor.value));
    },
  };
  await cursor.advance();
  return cursor;
}

/**
 * Walks the three collections side by side in uuid order and yields one document at a time, so that memory is bounded by the largest
 * document. The walks are no snapshot: who finds a difference reads that document again before believing it.
 *
 * @param onStray is called with what belongs to no document, which is left out
 */
export async function* walkDocuments(store: ChunkStore, onStray: OnStray): AsyncIterable<DocumentObjects> {
  let group: DocumentObjects[] = [];
  let objects = 0;
  for await (const document of walkObjects(store, onStray)) {
    group.push(document);
    objects += document.chunks.length + document.pages.length;
    if (group.length < DOCUMENTS_AT_ONCE && objects < OBJECTS_AT_ONCE) continue;
    yield* withUnseen(store, group);
    group = [];
    objects = 0;
  }
  yield* withUnseen(store, group);
}

async function* withUnseen(store: ChunkStore, documents: readonly DocumentObjects[]): AsyncIterable<DocumentObjects> {
  const recorded = documents.filter(({ records }) => records.length > 0);
  const shown = recorded.length === 0 ? undefined : await store.recordsOf(recorded.map(({ docUuid }) => docUuid));
  for (const document of documents) {
    const listed = topRecord(document.records);
    // Fences only grow: what was committed since the walk is above what it listed.
    const isUnseen = listed !== undefined && (topRecord(shown?.get(document.docUuid) ?? [])?.fence ?? 0) < listed.fence;
    yield isUnseen ? { ...document, unseen: listed } : document;
  }
}

async function* walkObjects(store: ChunkStore, onStray: OnStray): AsyncIterable<DocumentObjects> {
  const records = await openCursor(store.walkRecords({ onStray }), (group) => group[0]?.doc_uuid ?? '');
  const chunks = await openCursor(store.walkObjects('chunks', { onStray }), (group) => group.docUuid);
  const pages = await openCursor(store.walkObjects('pages', { onStray }), (group) => group.docUuid);
  for (;;) {
    const [key] = [records.key, chunks.key, pages.key].filter((one) => one !== undefined).sort();
    if (key === undefined) return;
    const document: DocumentObjects = { docId: '', docUuid: '', records: [], chunks: [], pages: [] };
    if (records.key === key && records.value !== undefined) {
      document.records = records.value;
      document.docId = records.value[0]?.doc_id ?? '';
      document.docUuid = records.value[0]?.doc_uuid ?? '';
      await records.advance();
    }
    for (const [cursor, into] of [
      [chunks, 'chunks'],
      [pages, 'pages'],
    ] as const) {
      if (cursor.key !== key || cursor.value === undefined) continue;
      document.docId ||= cursor.value.docId;
      document.docUuid ||= cursor.value.docUuid;
      document[into] = cursor.value.objects;
      await cursor.advance();
    }
    // What is of no document by its own doc_id could be reached by no job. (A document's own chunk that names another is known by its hash.)
    const isNamed = isDocId(document.docId) && document.docUuid === docUuid(document.docId);
    if (document.records.length === 0 && !isNamed) {
      for (const { collection, id } of [...document.chunks, ...document.pages])
        onStray({ collection, id, docId: document.docId });
      continue;
    }
    yield document;
  }
}

/** Reads a document that a walk, which is no snapshot, came upon: its records, then a fresh listing of its objects. */
export async function readAgain(store: ChunkStore, document: DocumentObjects): Promise<DocumentObjects> {
  const records = (await store.recordsOf([document.docUuid])).get(document.docUuid) ?? [];
  const objects = await store.listObjects(document.docUuid);
  const facts = new Map(document.chunks.map((chunk) => [chunk.id, chunk]));
  return {
    docId: document.docId,
    docUuid: document.docUuid,
    records,
    // What a chunk holds never changes, so the facts of the walk still hold for those that are still there.
    chunks: objects.filter((object) => object.collection === 'chunks').map((object) => ({ ...object, ...facts.get(object.id) })),
    pages: objects.filter((object) => object.collection === 'pages'),
  };
}
