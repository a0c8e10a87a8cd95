import { type CommitRecord, type ReasonCode, topCommit } from '@sluice/core';
import { type Attempt, beginAttempt, isServing, readRecords, type Target } from './attempt.js';
import { bareMetadata, buildRecord, isIndexedAs, NOTHING_LIVE, type RecordContent, sameAsBase } from './build-record.js';
import type { IngestionDeps } from './deps.js';
import { type Access, accessAfterFailure, sameAccess } from './document-metadata.js';
import { type DiskState, observeDisk, sameDisk } from './observe.js';
import { publish } from './publish.js';
import { isWhole, MissingChunk, rewriteBase } from './rewrite.js';
import { isOverLimits } from './settled.js';

/** A failure as it is recorded. */
export interface Failure {
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
 * that told of the new stat would keep the new content from ever being tried. Undefined: the disk could not be looked at, or did not matter.
 */
export async function commitFailure(
  deps: IngestionDeps,
  target: Target,
  failure: Failure,
  seen: DiskState | undefined,
): Promise<CommitRecord | 'again'> {
  let disk: DiskState = { kind: 'gone' };
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const attempt = await beginAttempt(deps, target);
    disk = await observeDisk(deps, target.source, target.sourcePath).catch((): DiskState => ({ kind: 'gone' }));
    if (seen !== undefined && !sameDisk(seen, disk)) return 'again';
    const access = await accessAfterFailure(deps, target, disk, isServing(attempt.base) ? attempt.base : undefined);
    const fingerprint = disk.kind === 'file' ? disk.policy.fingerprint('') : '';
    const configHash = disk.kind === 'file' ? disk.policy.configHash : '';
    const content: RecordContent = {
      ...(await servedAfterFailure(deps, target, attempt, { access, configHash, copy: failure.copy })),
      kind: 'commit',
      status: 'failed',
      reason: failure.reason,
      message: failure.message,
      content_hash: failure.contentHash,
      // Failures are tried again when anything that could fix them changes, so their fingerprint covers every format.
      fingerprint,
      format: '',
      warnings: attempt.base?.warnings ?? [],
    };
    const record = buildRecord(deps, target, attempt, disk, content);
    if ((await publish(deps, target, attempt, disk, record)) === 'done') return record;
  }
  return insertStatusRecord(deps, target, disk, failure);
}

/** What goes on answering: the whole last good revision under the access that holds now, or nothing. */
async function servedAfterFailure(
  deps: IngestionDeps,
  target: Target,
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
    return await rewriteBase(deps, target, { ...attempt, base }, { ...rest, ...access });
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
  const record = buildRecord(deps, target, attempt, disk, {
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
