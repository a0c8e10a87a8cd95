import { type CommitRecord, docUuid, isDocId, isOfDocument } from '@sluice/core';
import type { Row } from './graphql.js';

/** What decides which chunks of a document are visible, and to whom: all that most hits of a search need of a record. */
export type RecordHead = Pick<
  CommitRecord,
  | 'id'
  | 'kind'
  | 'doc_id'
  | 'doc_uuid'
  | 'fence'
  | 'attempt'
  | 'base_fence'
  | 'live'
  | 'superseded'
  | 'security_level'
  | 'allowed_groups'
>;

/** Without `_additional`, which costs the server as much as all the rest: the id stands in the head. */
export const HEAD_FIELDS = 'head';

/** Properties that reads of whole records ask for. */
export const RECORD_FIELDS = 'record manifest _additional{id creationTimeUnix}';

/** The same without manifests: walks over all records would carry them for nothing. */
export const LEAN_RECORD_FIELDS = 'record _additional{id creationTimeUnix}';

/** A record as stored: what filters ask for, its head, and the whole as one JSON text. */
export function encodeRecord(record: CommitRecord): Record<string, unknown> {
  const { created_ms: _created, manifest, ...stored } = record;
  const { id, kind, doc_id, doc_uuid, fence, attempt, base_fence, live, superseded, security_level, allowed_groups } = record;
  const head: RecordHead = {
    id,
    kind,
    doc_id,
    doc_uuid,
    fence,
    attempt,
    base_fence,
    live,
    superseded,
    security_level,
    ...(allowed_groups === undefined ? {} : { allowed_groups }),
  };
  return {
    doc_uuid: record.doc_uuid,
    head: JSON.stringify(head),
    record: JSON.stringify(stored),
    ...(manifest === undefined ? {} : { manifest }),
  };
}

/** Undefined when no attempt can have written the object: see StrayObject of core. A copy under another id still says whose it is a copy of. */
export function decodeRecord(row: Row): CommitRecord | undefined {
  const record = decode<CommitRecord>(row.record);
  if (record === undefined || record.id !== row._additional?.id || !isOwn(record)) return undefined;
  const created = createdOf(row);
  return {
    ...record,
    ...(typeof row.manifest === 'string' ? { manifest: row.manifest } : {}),
    ...(created === undefined ? {} : { created_ms: created }),
  };
}

export function decodeHead(row: Row): RecordHead | undefined {
  const head = decode<RecordHead>(row.head);
  return head !== undefined && isOwn(head) ? head : undefined;
}

/** The document that a stray record claims to be of. */
export function claimedDocId(row: Row): string | undefined {
  return decode<CommitRecord>(row.record)?.doc_id;
}

function isOwn({ id, doc_id, doc_uuid }: RecordHead): boolean {
  const isWhole = [id, doc_id, doc_uuid].every((value) => typeof value === 'string');
  return isWhole && isOfDocument(id, doc_uuid) && isDocId(doc_id) && doc_uuid === docUuid(doc_id);
}

/** Unix milliseconds at which the store took the object, by its clock. */
export function createdOf(row: Row): number | undefined {
  const created = Number(row._additional?.creationTimeUnix);
  return Number.isFinite(created) && created > 0 ? created : undefined;
}

function decode<T>(json: unknown): T | undefined {
  if (typeof json !== 'string') return undefined;
  try {
    return (JSON.parse(json) as T | null) ?? undefined; // written by encodeRecord() alone
  } catch {
    return undefined;
  }
}
