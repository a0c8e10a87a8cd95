import { type ChunkStore, type CommitRecord, hashOf, topRecord } from '@sluice/core';

/** How far an index that is being built has come, in documents of the live one. */
interface IndexComparison {
  /** Documents of the live index. */
  documents: number;
  /** Of these, those that stand in the other as they do in the live one. */
  same: number;
  /** Documents that failed in the other index alone. */
  failed: number;
  /** Some documents that differ, failed ones first. */
  examples: string[];
}

const MAX_EXAMPLES = 5;

/**
 * Compares what two indexes of the same sources say of each document: content, status, access, and what is served. Only records are
 * read, not chunks.
 */
export async function compareIndexes(
  live: Pick<ChunkStore, 'walkRecords'>,
  other: Pick<ChunkStore, 'walkRecords'>,
): Promise<IndexComparison> {
  const built = new Map<string, { state: string; failed: boolean }>();
  for await (const records of other.walkRecords()) {
    const top = topRecord(records);
    if (top !== undefined) built.set(top.doc_uuid, { state: stateOf(top), failed: top.status === 'failed' });
  }
  const result: IndexComparison = { documents: 0, same: 0, failed: 0, examples: [] };
  for await (const records of live.walkRecords()) {
    const top = topRecord(records);
    if (top === undefined || top.status === 'deleted') continue;
    result.documents += 1;
    const found = built.get(top.doc_uuid);
    if (found?.state === stateOf(top)) {
      result.same += 1;
      continue;
    }
    const failed = found?.failed === true && top.status !== 'failed';
    if (failed) result.failed += 1;
    if (failed) result.examples.unshift(top.doc_id);
    else result.examples.push(top.doc_id);
    result.examples.length = Math.min(result.examples.length, MAX_EXAMPLES);
  }
  return result;
}

function stateOf(record: CommitRecord): string {
  const { content_hash, served_hash, status, security_level, allowed_groups = null } = record;
  return hashOf([content_hash, served_hash, status, security_level, allowed_groups]).slice(0, 16);
}
