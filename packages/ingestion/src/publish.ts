import { type CommitRecord, topCommit, topRecord } from '@sluice/core';
import { type Attempt, isBetween, mayDelete, readRecords } from './attempt.js';
import type { IngestionDeps } from './deps.js';
import { type DiskState, observeAgain, sameDisk } from './observe.js';

/** `again`: the store or the disk changed under the attempt; run another one, delete nothing. */
export type Published = 'done' | 'again';

/**
 * Step 5 of the writer: the commit. Everything it names must be in the store already.
 *
 * Fence order is not disk order: a writer may read the disk late and commit late under an early fence. So after the commit the disk
 * and the records are looked at once more; if either moved, the reconcile runs again.
 */
export async function publish(deps: IngestionDeps, attempt: Attempt, disk: DiskState, record: CommitRecord): Promise<Published> {
  const { target } = attempt;
  const isDelete = record.status === 'deleted';
  await deps.onStep?.('commit', target.docId);
  const [before, isOutdated] = await Promise.all([
    readRecords(deps, target.docUuid),
    hasComeOrGone(deps, attempt, disk, isDelete),
  ]);
  if (isOutdated) return 'again';
  if (isDelete && !(await mayDelete(attempt))) return 'again';
  if (topCommit(before)?.id !== attempt.base?.id) return 'again';
  if ((topRecord(before)?.fence ?? 0) > attempt.fence.value) return 'again';

  const end = deps.metrics.stageSeconds.startTimer({ stage: 'commit' });
  await deps.store.insertRecord(record);
  end();
  await deps.onStep?.('committed', target.docId);

  // A file that cannot be looked at may be there: then its delete is not done.
  const now = await observeAgain(deps, target, disk).catch((): DiskState | undefined =>
    isDelete ? undefined : { kind: 'gone' },
  );
  const after = await readRecords(deps, target.docUuid);
  await deps.onStep?.('recheck', target.docId);
  const between = after.some((other) => other.kind === 'commit' && isBetween(other, record));
  if (between || now === undefined || !sameDisk(disk, now)) return 'again';
  // A first commit supersedes nothing; what a crashed attempt left is the audit's.
  if (after.some((other) => other.id !== record.id)) deps.onSuperseded?.(record);
  return 'done';
}

/**
 * Whether the file came or went since the disk was read. A file that changes again and again is committed all the same, else it never
 * would be. One that went is not: the job of a file that was never committed had nothing to delete, so an attempt that slept would bring
 * it up. One that came is not deleted: a root that was away for a moment has all its files back.
 *
 * @throws SluiceError `unreadable` where a file is to be deleted and the disk refuses to be looked at
 */
async function hasComeOrGone(deps: IngestionDeps, { target }: Attempt, disk: DiskState, isDelete: boolean): Promise<boolean> {
  if (disk.kind === 'file') {
    // Whether it changed, the check after the commit sees: here its own stat says enough.
    const isFile = await deps.files.stat(disk.path, disk.stat).then(
      (stat) => stat?.kind === 'file',
      () => true,
    );
    if (isFile) return false;
  }
  const now = await observeAgain(deps, target, disk).catch((cause: unknown) => {
    if (isDelete) throw cause;
    return disk;
  });
  return now.kind !== disk.kind;
}
