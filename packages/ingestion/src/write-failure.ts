import { type CommitRecord, type ReasonCode, SluiceError, topCommit } from '@sluice/core';
import { type Attempt, beginAttempt, isServing, readRecords, type Target } from './attempt.js';
import { bareMetadata, buildRecord, isIndexedAs, NOTHING_LIVE, type RecordContent, sameAsBase } from './build-record.js';
import { commitInRounds } from './commit-in-rounds.js';
import type { IngestionDeps } from './deps.js';
import { type Access, accessAfterFailure, sameAccess } from './document-metadata.js';
import { type DiskState, observeDisk, sameDisk } from './observe.js';
import { isWhole, MissingChunk, rewriteBase } from './rewrite.js';
import { isOverLimits } from './settled.js';

/** A failure as it is recorded. */
export interface Failure {
  /** A document that is left out by type or size is `skipped`: nothing of it is served. */
  status: 'failed' | 'skipped';
  reason: ReasonCode;
  message: string;
  /** sha256 of the failing file, where it could be read. */
  contentHash: string;
  /** The stored chunks are known to be wrong: the last good revision is copied instead of named again. */
  copy: boolean;
}

/** Rounds a failure is committed in before the last resort, a status record. */
const MAX_ROUNDS = 4;

/**
 * A failing attempt commits too: the last good revision goes on answering under the access that holds now, and the failure is seen.
 * When even that fails for want of a quiet moment, a status record carries the reason; it licenses no delete.
 *
 * @param seen the disk whose state failed. When it is another by now the failure says nothing of it, and `again` is returned: a commit
 * that named the new stat would keep the new content from ever being tried. Undefined: the disk could not be looked at, or did not matter.
 */
export async function commitFailure(
  deps: IngestionDeps,
  target: Target,
  failure: Failure,
  seen: DiskState | undefined,
): Promise<CommitRecord | 'again'> {
  const { status, reason, message, contentHash, copy } = failure;
  let disk: DiskState = { kind: 'gone' };
  const outcome = await commitInRounds(
    deps,
    target,
    async (attempt) => {
      disk = await observeDisk(deps, target.source, target.sourcePath).catch((): DiskState => ({ kind: 'gone' }));
      const isOther = seen !== undefined && !sameDisk(seen, disk);
      if (isOther || (status === 'skipped' && disk.kind === 'gone')) return { nothing: 'again' as const };
      const base = isServing(attempt.base) && status === 'failed' ? attempt.base : undefined;
      const access = await accessAfterFailure(deps, target, disk, base);
      const configHash = disk.kind === 'file' ? disk.policy.configHash : '';
      const content: RecordContent = {
        ...(await servedAfterFailure(deps, { ...attempt, base }, { access, configHash, copy })),
        kind: 'commit',
        status,
        reason,
        message,
        content_hash: contentHash,
        // Failures are tried again when anything that could fix them changes, so their fingerprint covers every format.
        fingerprint: disk.kind === 'file' ? disk.policy.fingerprint('') : '',
        format: '',
        warnings: status === 'failed' ? (attempt.base?.warnings ?? []) : [],
      };
      return { disk, content };
    },
    MAX_ROUNDS,
  );
  if (outcome !== 'outrun') return outcome;
  if (status === 'skipped') throw keepsChanging(target);
  return insertStatusRecord(deps, target, disk, failure);
}

export function keepsChanging({ docId }: Target): SluiceError {
  return new SluiceError('outdated_attempt', `${docId} kept changing while it was read; it will be tried again`, { docId });
}

/** What goes on answering: the whole last good revision under the access that holds now, or nothing. */
async function servedAfterFailure(
  deps: IngestionDeps,
  attempt: Attempt,
  now: { access: Access; configHash: string; copy: boolean },
): Promise<Pick<RecordContent, keyof ReturnType<typeof sameAsBase> | 'metadata'>> {
  const { base } = attempt;
  const { access } = now;
  const nothing = { ...NOTHING_LIVE, metadata: bareMetadata(access) };
  if (!isServing(base)) return nothing;
  const isSame = sameAccess(base, access) && isIndexedAs(base, now.configHash);
  // A revision that lost chunks would be served in part for as long as its file fails.
  if (isSame && !now.copy && !isOverLimits(deps, base))
    return (await isWhole(deps, base)) ? { ...sameAsBase(base), metadata: base.metadata } : nothing;
  const { allowed_groups: _old, ...rest } = base.metadata;
  try {
    return await rewriteBase(deps, { ...attempt, base }, { ...rest, ...access });
  } catch (cause) {
    // What cannot be rewritten under the new access must not answer under the old one.
    if (cause instanceof MissingChunk) return nothing;
    throw cause;
  }
}

async function insertStatusRecord(deps: IngestionDeps, target: Target, disk: DiskState, failure: Failure): Promise<CommitRecord> {
  const attempt = await beginAttempt(deps, target);
  const base = topCommit(await readRecords(deps, target.docUuid));
  const access = await accessAfterFailure(deps, target, disk, base);
  const { allowed_groups: _old, ...rest } = base?.metadata ?? bareMetadata(access);
  const record = buildRecord(deps, attempt, disk, {
    ...NOTHING_LIVE,
    kind: 'status',
    status: 'failed',
    reason: failure.reason,
    message: failure.message,
    content_hash: failure.contentHash,
    fingerprint: disk.kind === 'file' ? disk.policy.fingerprint('') : '',
    format: '',
    // Readers need clearance for what stands above the top commit too, so this hides what the new state shuts out.
    metadata: { ...rest, ...access },
    warnings: [],
  });
  await deps.store.insertRecord(record);
  return record;
}
