import { type ChunkStore, type CommitRecord, documentPrefix, isOfDocument, type OnStray, type StoredObject } from '@sluice/core';
import { type ChunkCodec, factsOf } from './chunk-codec.js';
import type { Row } from './graphql.js';
import { claimedDocId, decodeHead, decodeRecord, LEAN_RECORD_FIELDS } from './record-codec.js';
import type { Rows } from './rows.js';

/** Objects of a page of a walk. */
const WALK = 2_000;
/** Chunks are larger: a page of a walk over them is held down, so that a walk needs little memory. */
const WALK_CHUNKS = 1_000;

/** What is stored, whoever wrote it: for the sweep, the audit and verify. */
export function createObjectReads(
  rows: Rows,
  codec: ChunkCodec,
): Pick<ChunkStore, 'listObjects' | 'walkRecords' | 'walkObjects'> {
  const { names } = rows;
  return {
    async listObjects(docUuid: string): Promise<StoredObject[]> {
      const lists = await Promise.all(
        (['chunks', 'commits', 'pages'] as const).map(async (collection) => {
          const objects: StoredObject[] = [];
          for await (const page of rows.ofDocument(names[collection], docUuid, OBJECT_FIELDS[collection])) {
            for (const object of page.map((row) => objectOf(collection, row))) {
              if (object?.docUuid === docUuid) objects.push(withoutDocument(object));
            }
          }
          return objects;
        }),
      );
      return lists.flat();
    },

    async *walkRecords(options: { after?: string; onStray?: OnStray } = {}): AsyncGenerator<CommitRecord[]> {
      const after = options.after === undefined ? '' : behindDocument(options.after);
      const pages = rows.walk(names.commits, LEAN_RECORD_FIELDS, { size: WALK, after });
      const recordOf = (row: Row) => {
        const record = decodeRecord(row);
        return record && { docUuid: record.doc_uuid, record };
      };
      const groups = byDocument(pages, recordOf, (row) => tellStray(options.onStray, 'commits', row));
      for await (const items of groups) yield items.map(({ record }) => record);
    },

    async *walkObjects(collection: 'chunks' | 'pages', options: { onStray?: OnStray } = {}) {
      const chunks = collection === 'chunks';
      const fields = chunks ? `facts ${codec.indexedFields} _additional{id}` : OBJECT_FIELDS.pages;
      const pages = rows.walk(names[collection], fields, { size: chunks ? WALK_CHUNKS : WALK });
      const withHashes = (row: Row) => {
        const object = objectOf(collection, row);
        if (object === undefined) return;
        const textHash = factsOf(row)?.text_hash;
        const hashes = {
          ...(chunks ? { metadataHash: codec.metadataHashOf(row) } : {}),
          ...(textHash === undefined ? {} : { textHash }),
        };
        return { ...object, hashes };
      };
      const groups = byDocument(pages, withHashes, (row) => tellStray(options.onStray, collection, row));
      for await (const items of groups) {
        const { docId, docUuid } = items[0];
        yield { docId, docUuid, objects: items.map((object) => ({ ...withoutDocument(object), ...object.hashes })) };
      }
    },
  };
}

/** What the rows of a walk say, a document at a time: the objects of one lie together. `onStray` gets the rows that `decode` makes nothing of. */
async function* byDocument<T extends { docUuid: string }>(
  pages: AsyncIterable<Row[]>,
  decode: (row: Row) => T | undefined,
  onStray: (row: Row) => void,
): AsyncGenerator<[T, ...T[]]> {
  let group: [T, ...T[]] | undefined;
  for await (const page of pages) {
    for (const row of page) {
      const item = decode(row);
      if (item === undefined) onStray(row);
      else if (group?.[0].docUuid === item.docUuid) group.push(item);
      else {
        if (group !== undefined) yield group;
        group = [item];
      }
    }
  }
  if (group !== undefined) yield group;
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

/** A uuid behind every object of a document. */
function behindDocument(docUuid: string): string {
  return `${documentPrefix(docUuid)}-ffff-ffffffffffff`;
}
