import { type CommitRecord, topCommit } from '@sluice/core';
import { beginAttempt, type Target } from './attempt.js';
import { buildRecord, deletedAs } from './build-record.js';
import type { IngestionDeps } from './deps.js';
import { bareAccess } from './document-metadata.js';
import { unconfiguredSource } from './recommit-unconfigured.js';

/**
 * Takes every document of a source out of the store, for a source that has left the configuration. The files on disk are not touched.
 *
 * @param mayRemove which documents, by their records
 * @returns number of documents removed
 */
export async function removeSource(
  deps: Pick<IngestionDeps, 'store' | 'fences' | 'clock' | 'onSuperseded' | 'onStep'>,
  name: string,
  mayRemove: (records: readonly CommitRecord[]) => boolean,
): Promise<number> {
  const source = unconfiguredSource(name);
  let removed = 0;
  for await (const records of deps.store.walkRecords()) {
    const top = topCommit(records);
    if (top === undefined || top.source !== name || top.status === 'deleted' || !mayRemove(records)) continue;
    const target: Target = { source, sourcePath: top.source_path, docId: top.doc_id, docUuid: top.doc_uuid };
    const record = buildRecord(deps, await beginAttempt(deps, target), { kind: 'gone' }, deletedAs(bareAccess(top)));
    await deps.store.insertRecord(record);
    deps.onSuperseded?.(record);
    removed += 1;
  }
  return removed;
}
