import { type Caller, type CommitRecord, topCommit, topRecord } from '@sluice/core';
import { type DocumentAccess, mayAccess, mayReach } from '@sluice/metadata';

/**
 * The records that a caller must all be cleared for to know of the document: the one that counts, and those that landed between it
 * and the state it was made from (until the writer has run again, one of them may hold a stricter level than the top).
 */
export function decisiveRecords(records: readonly CommitRecord[]): CommitRecord[] {
  const tops = [topRecord(records), topCommit(records)].filter((top) => top !== undefined);
  return records.filter((record) =>
    tops.some((top) => record.id === top.id || (record.fence > top.base_fence && record.fence <= top.fence)),
  );
}

/** Whether a caller may know that the document of these records exists. */
export function mayKnow(caller: Caller, records: readonly CommitRecord[]): boolean {
  return decisiveRecords(records).every((record) => mayKnowOf(caller, record.source, record));
}

/** The same by the source of a document and what its access is. */
export function mayKnowOf(caller: Caller, source: string, access: DocumentAccess): boolean {
  return mayReach(caller, source) && mayAccess(caller, access);
}

export function accessOf({ security_level, allowed_groups }: CommitRecord): DocumentAccess {
  return allowed_groups === undefined ? { security_level } : { security_level, allowed_groups };
}
