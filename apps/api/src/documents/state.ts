import { type CommitRecord, type DocumentStatus, topCommit, topRecord } from '@sluice/core';

/** What the store and the queue together say of one document. */
export interface DocumentState {
  /** The record that counts. */
  top: CommitRecord;
  /** The commit whose chunks answer queries; undefined when none do. */
  serving: CommitRecord | undefined;
  status: DocumentStatus;
}

/** Status of the newest state on disk: INTERFACES, "Status". Undefined when the document is gone and nothing is to be done. */
export function documentState(records: readonly CommitRecord[], pending: boolean): DocumentState | undefined {
  const top = topRecord(records);
  if (top === undefined) return undefined;
  if (top.status === 'deleted' && !pending) return undefined;
  const commit = topCommit(records);
  const serving = commit !== undefined && commit.chunks > 0 ? commit : undefined;
  return { top, serving, status: pending || top.status === 'deleted' ? 'pending' : top.status };
}

/** A dead letter: failed, and no operator took it off the list. */
export function isDeadLetter(state: DocumentState): boolean {
  return state.status === 'failed' && state.top.discarded !== true;
}
