import {
  type CommitRecord,
  documentPrefix,
  isOfDocument,
  type Manifest,
  type OnStray,
  SluiceError,
  type StoredChunk,
  type StoredObject,
} from '@sluice/core';
import { CHUNK_FIELDS, type ChunkCodec, factsOf } from './chunk-codec.js';
import type { Graphql, Row } from './graphql.js';
import { decodeManifest } from './manifest-codec.js';
import type { CollectionNames } from './names.js';
import {
  claimedDocId,
  createdOf,
  decodeHead,
  decodeRecord,
  HEAD_FIELDS,
  LEAN_RECORD_FIELDS,
  RECORD_FIELDS,
  type RecordHead,
} from './record-codec.js';
import { and, anyOf, not } from './translate-filter.js';
import { createWalk } from './walk.js';

export interface ReadsOptions {
  graphql: Graphql;
  names: CollectionNames;
  codec: ChunkCodec;
  maxResults: () => Promise<number>;
}

/** Two requests of 50 documents cost the server a third more than one of 100. */
const DOCUMENTS_A_REQUEST = 200;
const RECORDS_A_REQUEST = 1_000;
const IDS_A_REQUEST = 200;
const HASHES_A_REQUEST = 100;
const PAGES_A_REQUEST = 8;
/** Objects of a page of a walk. */
const WALK = 2_000;
/** Chunks are larger: a page of a walk over them is held down, so that a walk needs little memory. */
const WALK_CHUNKS = 1_000;
/** Most documents have a few objects in each collection. */
const DOCUMENT_PAGES = { first: 8, size: 500 };

export function createReads({ graphql, names, codec, maxResults }: ReadsOptions) {
  const walk = createWalk(graphql, maxResults);

  /** Rows of the commits of documents, grouped by document. `decode` reads what `fields` asks for. */
  async function recordsBy<R extends RecordHead>(
    docUuids: readonly string[],
    fields: string,
    decode: (row: Row) => R | undefined,
  ): Promise<Map<string, R[]>> {
    const found = new Map<string, R[]>();
    const runs = inRuns([...new Set(docUuids)], DOCUMENTS_A_REQUEST);
    for (const rows of await Promise.all(runs.map((run) => commitRows(run, fields)))) {
      for (const record of rows.map(decode)) if (record !== undefined) pushTo(found, record.doc_uuid, record);
    }
    return found;
  }

  async function commitRows(docUuids: readonly string[], fields: string): Promise<Row[]> {
    const limit = Math.min(RECORDS_A_REQUEST, await maxResults());
    const rows = await graphql.rows(names.commits, `limit:${limit},where:${anyOf('doc_uuid', docUuids)}`, fields);
    // A full answer may have been cut: ask for fewer documents, for a single one by a walk, which no limit cuts.
    if (rows.length < limit) return rows;
    const [only] = docUuids;
    if (docUuids.length === 1 && only !== undefined) return collect(walkDocument(names.commits, only, fields));
    const half = docUuids.length >> 1;
    return (await Promise.all([commitRows(docUuids.slice(0, half), fields), commitRows(docUuids.slice(half), fields)])).flat();
  }

  /** Rows of one document: its objects' ids begin alike, so they lie together in uuid order. No limit cuts them, no filter is needed. */
  async function* walkDocument(collection: string, docUuid: string, fields: string): AsyncGenerator<Row[]> {
    for await (const rows of walk(collection, fields, { ...DOCUMENT_PAGES, after: beforeDocument(docUuid) })) {
      const own = rows.filter((row) => isOfDocument(row._additional?.id ?? '', docUuid));
      if (own.length > 0) yield own;
      if (own.length < rows.length) return;
    }
  }

  async function byIds(
    collection: string,
    ids: readonly string[],
    fields: string,
    perRequest: number,
  ): Promise<Map<string, Row>> {
    const size = Math.min(perRequest, await maxResults());
    const found = new Map<string, Row>();
    const parts = await Promise.all(
      inRuns([...new Set(ids)], size).map((run) =>
        graphql.rows(collection, `limit:${run.length},where:${anyOf('id', run)}`, fields),
      ),
    );
    for (const row of parts.flat()) if (row._additional?.id !== undefined) found.set(row._additional.id, row);
    return found;
  }

  /** For each hash the vector of a chunk that has it, if there is one. Mostly there is none: one request says so for all of them. */
  async function vectorsOf(hashes: readonly string[]): Promise<Map<string, Float32Array>> {
    const vectors = new Map<string, Float32Array>();
    const fields = 'text_hash _additional{vector}';
    const limit = Math.min(hashes.length * 2, await maxResults());
    const rows = await graphql.rows(names.chunks, `limit:${limit},where:${anyOf('text_hash', hashes)}`, fields);
    note(rows);
    const rest = hashes.filter((hash) => !vectors.has(hash));
    if (rows.length < limit || rest.length === 0) return vectors;
    // A text that occurs a thousand times has crowded out others: a query for each of those, in one request.
    const query = rest.map((hash, i) => `h${i}:${names.chunks}(limit:1,where:${anyOf('text_hash', [hash])}){${fields}}`);
    note(Object.values(await graphql.get(query.join(' '))).flat());
    return vectors;

    function note(found: readonly Row[]): void {
      for (const { text_hash: hash, _additional } of found) {
        const vector = _additional?.vector;
        if (typeof hash === 'string' && vector != null && vector.length > 0) vectors.set(hash, Float32Array.from(vector));
      }
    }
  }

  async function pagesOf(record: CommitRecord): Promise<string[]> {
    const rows = await byIds(names.pages, record.pages, 'data _additional{id}', PAGES_A_REQUEST);
    return record.pages.map((id) => {
      const text = rows.get(id)?.data;
      if (typeof text !== 'string') throw damaged(record, `page ${id} is missing`);
      return text;
    });
  }

  /** The manifest that a record carries, for one that was read by a walk. */
  async function manifestOf(record: CommitRecord): Promise<string> {
    const rows = await byIds(names.commits, [record.id], 'manifest _additional{id}', 1);
    const text = rows.get(record.id)?.manifest;
    if (typeof text !== 'string') throw damaged(record, 'its record holds none');
    return text;
  }

  return {
    recordsOf: (docUuids: readonly string[]): Promise<Map<string, CommitRecord[]>> =>
      recordsBy(docUuids, RECORD_FIELDS, decodeRecord),

    headsOf: (docUuids: readonly string[]): Promise<Map<string, RecordHead[]>> => recordsBy(docUuids, HEAD_FIELDS, decodeHead),

    /** Unix milliseconds, by the store's clock, at which it took the records of these ids. */
    async createdOf(ids: readonly string[]): Promise<Map<string, number>> {
      const rows = await byIds(names.commits, ids, '_additional{id creationTimeUnix}', IDS_A_REQUEST);
      const created = new Map<string, number>();
      for (const [id, row] of rows) {
        const moment = createdOf(row);
        if (moment !== undefined) created.set(id, moment);
      }
      return created;
    },

    async readChunks(ids: readonly string[], options: { vectors?: boolean } = {}): Promise<StoredChunk[]> {
      const fields = `${CHUNK_FIELDS} _additional{id${options.vectors ? ' vector' : ''}}`;
      const rows = await byIds(names.chunks, ids, fields, IDS_A_REQUEST);
      return ids.flatMap((id) => {
        const row = rows.get(id);
        return (row === undefined ? undefined : codec.decode(row)) ?? [];
      });
    },

    async existingChunks(ids: readonly string[]): Promise<Set<string>> {
      return new Set((await byIds(names.chunks, ids, '_additional{id}', 1_000)).keys());
    },

    async countChunks(docUuid: string, revs: readonly string[], withoutIds: readonly string[]): Promise<number> {
      if (revs.length === 0) return 0;
      const parts = [anyOf('doc_uuid', [docUuid]), anyOf('rev', revs)];
      if (withoutIds.length > 0) parts.push(not(anyOf('id', withoutIds)));
      return graphql.count(names.chunks, and(parts));
    },

    async vectorsByTextHash(textHashes: readonly string[]): Promise<Map<string, Float32Array>> {
      const vectors = new Map<string, Float32Array>();
      for (const run of inRuns([...new Set(textHashes)], HASHES_A_REQUEST)) {
        for (const [hash, vector] of await vectorsOf(run)) vectors.set(hash, vector);
      }
      return vectors;
    },

    async readManifest(record: CommitRecord): Promise<Manifest> {
      if (record.chunks === 0) return { entries: [], gaps: [], length: 0, pages: [], dropped: [] };
      const data = record.pages.length > 0 ? await pagesOf(record) : [record.manifest ?? (await manifestOf(record))];
      return decodeManifest(data).catch((error) => {
        throw damaged(record, error instanceof Error ? error.message : String(error));
      });
    },

    async listObjects(docUuid: string): Promise<StoredObject[]> {
      const lists = await Promise.all(
        (['chunks', 'commits', 'pages'] as const).map(async (collection) => {
          const objects: StoredObject[] = [];
          for await (const rows of walkDocument(names[collection], docUuid, OBJECT_FIELDS[collection])) {
            for (const object of rows.map((row) => objectOf(collection, row))) {
              if (object?.docUuid === docUuid) objects.push(withoutDocument(object));
            }
          }
          return objects;
        }),
      );
      return lists.flat();
    },

    async *walkRecords(options: { after?: string; onStray?: OnStray } = {}): AsyncGenerator<CommitRecord[]> {
      let group: CommitRecord[] = [];
      const after = options.after === undefined ? '' : behindDocument(options.after);
      for await (const rows of walk(names.commits, LEAN_RECORD_FIELDS, { size: WALK, after })) {
        for (const row of rows) {
          const record = decodeRecord(row);
          if (record === undefined) {
            tellStray(options.onStray, 'commits', row);
            continue;
          }
          if (group[0] !== undefined && group[0].doc_uuid !== record.doc_uuid) {
            yield group;
            group = [];
          }
          group.push(record);
        }
      }
      if (group.length > 0) yield group;
    },

    async *walkObjects(collection: 'chunks' | 'pages', options: { onStray?: OnStray } = {}) {
      const chunks = collection === 'chunks';
      const fields = chunks ? `facts ${codec.indexedFields} _additional{id}` : OBJECT_FIELDS.pages;
      let group:
        | { docId: string; docUuid: string; objects: (StoredObject & { metadataHash?: string; textHash?: string })[] }
        | undefined;
      for await (const rows of walk(names[collection], fields, { size: chunks ? WALK_CHUNKS : WALK })) {
        for (const row of rows) {
          const object = objectOf(collection, row);
          if (object === undefined) {
            tellStray(options.onStray, collection, row);
            continue;
          }
          if (group !== undefined && group.docUuid !== object.docUuid) {
            yield group;
            group = undefined;
          }
          group ??= { docId: object.docId, docUuid: object.docUuid, objects: [] };
          const textHash = factsOf(row)?.text_hash;
          group.objects.push({
            ...withoutDocument(object),
            ...(chunks ? { metadataHash: codec.metadataHashOf(row) } : {}),
            ...(textHash === undefined ? {} : { textHash }),
          });
        }
      }
      if (group !== undefined) yield group;
    },
  };
}

const OBJECT_FIELDS = {
  chunks: 'facts _additional{id}',
  commits: 'head _additional{id}',
  pages: 'doc_id doc_uuid attempt fence _additional{id}',
};

interface OwnedObject extends StoredObject {
  docId: string;
  docUuid: string;
}

/** Undefined when no attempt can have written the object: see StrayObject of core. */
function objectOf(collection: StoredObject['collection'], row: Row): OwnedObject | undefined {
  const object = decodeObject(collection, row);
  return object !== undefined && isOfDocument(object.id, object.docUuid) ? object : undefined;
}

function tellStray(onStray: OnStray | undefined, collection: StoredObject['collection'], row: Row): void {
  const id = row._additional?.id;
  if (id === undefined) return;
  const docId = collection === 'chunks' ? factsOf(row)?.doc_id : collection === 'pages' ? row.doc_id : claimedDocId(row);
  onStray?.({ collection, id, ...(typeof docId === 'string' ? { docId } : {}) });
}

function decodeObject(collection: StoredObject['collection'], row: Row): OwnedObject | undefined {
  const id = row._additional?.id;
  if (id === undefined) return undefined;
  if (collection === 'chunks') {
    const facts = factsOf(row);
    if (facts === undefined) return undefined;
    return { collection, id, fence: facts.fence, attempt: facts.rev, docId: facts.doc_id, docUuid: facts.doc_uuid };
  }
  if (collection === 'commits') {
    const record = decodeHead(row);
    if (record?.id !== id) return undefined;
    return { collection, id, fence: record.fence, attempt: record.attempt, docId: record.doc_id, docUuid: record.doc_uuid };
  }
  const { doc_id: docId, doc_uuid: docUuid, attempt, fence } = row;
  if (typeof docId !== 'string' || typeof docUuid !== 'string' || typeof attempt !== 'string' || typeof fence !== 'number')
    return undefined;
  return { collection, id, fence, attempt, docId, docUuid };
}

function withoutDocument({ collection, id, fence, attempt }: OwnedObject): StoredObject {
  return { collection, id, fence, attempt };
}

function damaged(record: CommitRecord, what: string): SluiceError {
  return new SluiceError('store_rejected', `the manifest of ${record.doc_id} can't be read: ${what}`, { docId: record.doc_id });
}

/** A uuid in front of every object of a document; the cursor excludes it, and no object has it, for its variant bits are no uuid's. */
function beforeDocument(docUuid: string): string {
  return `${documentPrefix(docUuid)}-0000-000000000000`;
}

/** A uuid behind every object of a document. */
function behindDocument(docUuid: string): string {
  return `${documentPrefix(docUuid)}-ffff-ffffffffffff`;
}

function inRuns<T>(items: readonly T[], size: number): T[][] {
  const runs: T[][] = [];
  for (let from = 0; from < items.length; from += size) runs.push(items.slice(from, from + size));
  return runs;
}

async function collect(pages: AsyncIterable<Row[]>): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const page of pages) rows.push(...page);
  return rows;
}

function pushTo<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
