import { type CommitRecord, docUuid, type Fence, makeDocId, SluiceError, topCommit, topRecord } from '@sluice/core';
import type { IngestionDeps, SourceView } from './deps.js';

/** The document a reconcile is about. */
export interface Target {
  source: SourceView;
  sourcePath: string;
  docId: string;
  docUuid: string;
}

export function targetOf(source: SourceView, sourcePath: string): Target {
  const docId = makeDocId(source.name, sourcePath);
  return { source, sourcePath, docId, docUuid: docUuid(docId) };
}

/** One attempt to write a document: its fence, and the commit it starts from, read after the fence was taken. */
export interface Attempt {
  target: Target;
  fence: Fence;
  base: CommitRecord | undefined;
  /** The newest record of either kind at that moment. */
  top: CommitRecord | undefined;
}

/** How often a fence may be outrun by a record in the store before the job goes back: only a clock far ahead elsewhere can do it. */
const MAX_FENCES = 5;

/**
 * Steps 1 and 2 of the writer: the fence, then the base. When a record stands above the fence (Redis was wiped or rolled back), both
 * are done again with that record as the floor: a raised fence over a base read before it could miss a commit in between.
 */
export async function beginAttempt(deps: Pick<IngestionDeps, 'store' | 'fences' | 'onStep'>, target: Target): Promise<Attempt> {
  let floor: number | undefined;
  for (let n = 0; n < MAX_FENCES; n += 1) {
    const fence = await deps.fences.take(target.docUuid, floor);
    await deps.onStep?.('fence', target.docId);
    const records = await readRecords(deps, target.docUuid);
    await deps.onStep?.('base', target.docId);
    const highest = topRecord(records);
    if (highest === undefined || highest.fence < fence.value) return { target, fence, base: topCommit(records), top: highest };
    floor = highest.fence;
  }
  throw new SluiceError(
    'outdated_attempt',
    `${target.docId}: other writers were faster ${MAX_FENCES} times; it will be tried again`,
    {
      docId: target.docId,
    },
  );
}

export async function readRecords(deps: Pick<IngestionDeps, 'store'>, documentUuid: string): Promise<CommitRecord[]> {
  return (await deps.store.recordsOf([documentUuid])).get(documentUuid) ?? [];
}

/**
 * Whether a record lies between the top's base and the top: its attempt was not known to the top's. It may describe a later disk, since
 * fence order is not disk order.
 */
export function isBetween(
  record: Pick<CommitRecord, 'id' | 'fence'>,
  top: Pick<CommitRecord, 'id' | 'fence' | 'base_fence'>,
): boolean {
  return record.id !== top.id && record.fence > top.base_fence && record.fence <= top.fence;
}

/** Whether a commit has chunks that answer queries. */
export function isServing(record: CommitRecord | undefined): record is CommitRecord {
  return record !== undefined && record.chunks > 0;
}

/** Whether a delete may be committed: where something is recorded of the document, only below the known root. */
export async function mayDelete({ target, top }: Attempt): Promise<boolean> {
  return top === undefined || top.status === 'deleted' || (await target.source.mayDelete());
}
