import { type CommitRecord, type ReasonCode, topCommit } from '@sluice/core';
import { type Attempt, beginAttempt, isServing, readRecords, type Target } from './attempt.js';
import { bareMetadata, buildRecord, NOTHING_LIVE, type RecordContent, sameAsBase } from './build-record.js';
import type { IngestionDeps } from './deps.js';
import { type Access, accessAfterFailure, sameAccess } from './document-metadata.js';
import { type DiskState, observeDisk, sameDisk } from './observe.js';
import { publish } from './publish.js';
import { MissingChunk, rewriteBase } from './rewrite.js';

/** A failure as it is recorded. */
export interface Failure {
  reason: ReasonCode;
  message: string;
  /** sha256 of the failing file, where it could be read. */
  contentHash: string;
  format: string;
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
    const record = buildRecord(deps, target, attempt, disk, await failureContent(deps, target, attempt, disk, access, failure));
    if ((await publish(deps, target, attempt, disk, record)) === 'done') return record;
  }
  return insertStatusRecord(deps, target, disk, failure);
}

async function failureContent(
  deps: IngestionDeps,
  target: Target,
  attempt: Attempt,
  disk: DiskState,
  access: Access,
  failure: Failure,
): Promise<RecordContent> {
  const { base } = attempt;
  const content = {
    kind: 'commit',
    status: 'failed',
    reason: failure.reason,
    message: failure.message,
    content_hash: failure.contentHash,
    // Failures are tried again when anything that could mend them changes, so their fingerprint covers every format.
    fingerprint: disk.kind === 'file' ? disk.policy.fingerprint('') : '',
    format: '',
    warnings: base?.warnings ?? [],
  } as const;
  if (!isServing(base)) return { ...NOTHING_LIVE, ...content, metadata: bareMetadata(access) };
  if (sameAccess(base, access)) return { ...sameAsBase(base), ...content, metadata: base.metadata };
  const { allowed_groups: _old, ...rest } = base.metadata;
  try {
    return { ...content, ...(await rewriteBase(deps, target, attempt, base, { ...rest, ...access })) };
  } catch (cause) {
    // What cannot be rewritten under the new access must not answer under the old one.
    if (cause instanceof MissingChunk) return { ...NOTHING_LIVE, ...content, metadata: bareMetadata(access) };
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
