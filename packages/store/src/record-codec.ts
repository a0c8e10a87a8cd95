import type { CommitRecord } from '@sluice/core';
import type { Row } from './graphql.js';

/** Properties that reads of records ask for. */
export const RECORD_FIELDS = 'record _additional{id creationTimeUnix}';

/** A record as stored: what may be asked for, and the whole as one JSON text. */
export function encodeRecord(record: CommitRecord): Record<string, unknown> {
  const { created_ms: _created, ...stored } = record;
  return {
    doc_uuid: record.doc_uuid,
    doc_source: record.source,
    kind: record.kind,
    status: record.status,
    fence: record.fence,
    record: JSON.stringify(stored),
  };
}

/** Undefined when the object is none of ours. */
export function decodeRecord(row: Row): CommitRecord | undefined {
  if (typeof row.record !== 'string') return undefined;
  try {
    const record = JSON.parse(row.record) as CommitRecord; // written by encodeRecord() alone
    const created = Number(row._additional?.creationTimeUnix);
    return Number.isFinite(created) && created > 0 ? { ...record, created_ms: created } : record;
  } catch {
    return undefined;
  }
}
