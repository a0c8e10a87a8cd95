import { type CommitRecord, REASONS, type ReasonCode, type ReconcileRequest, topRecord } from '@sluice/core';
import { type Attempt, readRecords, type Target } from './attempt.js';
import type { IngestionDeps } from './deps.js';
import type { FileState } from './document-metadata.js';
import type { DiskState } from './observe.js';
import type { ReconcileOptions } from './outcome.js';

type Settled = { outcome: 'unchanged'; record?: CommitRecord } | { outcome: 'suspended' };

interface Seen {
  request: ReconcileRequest;
  disk: DiskState;
  options: Pick<ReconcileOptions, 'recommit' | 'rebuild'>;
  /** Whose newest record is compared; default: the records are read. */
  attempt?: Pick<Attempt, 'top'>;
}

/** What needs no commit: the newest record already describes this very disk. */
export async function findSettled(
  deps: IngestionDeps,
  target: Target,
  { request, disk, options, attempt }: Seen,
): Promise<Settled | undefined> {
  const top = attempt === undefined ? topRecord(await readRecords(deps, target.docUuid)) : attempt.top;
  if (disk.kind === 'gone') {
    if (!options.recommit && (top === undefined || top.status === 'deleted'))
      return { outcome: 'unchanged', ...(top === undefined ? {} : { record: top }) };
    if (top !== undefined && top.status !== 'deleted' && !(await target.source.mayDelete())) return { outcome: 'suspended' };
    return undefined;
  }
  if (top === undefined || options.recommit || options.rebuild) return undefined;
  return (await isSettled(deps, request, disk, top)) ? { outcome: 'unchanged', record: top } : undefined;
}

/** Whether the newest record describes this very disk, so that nothing is to be done. */
async function isSettled(deps: IngestionDeps, request: ReconcileRequest, disk: FileState, top: CommitRecord): Promise<boolean> {
  if (top.status === 'deleted' || top.kind === 'status') return false;
  if (top.sidecar_stat !== disk.sidecarStat || top.config_hash !== disk.policy.configHash) return false;
  if (top.fingerprint !== disk.policy.fingerprint(top.format)) return false;
  if (top.status === 'failed' && (request.cause === 'retry' || isTransient(top.reason))) return false;
  if (top.stat === disk.statKey) return true;
  // Another stat with the same bytes (touched, restored from a backup) is no change. An empty stat marks a record that must be redone.
  if (top.stat === '' || top.content_hash === '' || top.status === 'failed' || disk.policy.source.createdAt === 'mtime')
    return false;
  if (Number(top.stat.split(':')[0]) !== disk.stat.size) return false;
  // Bytes that can't be read are not known to be the same: the reading that follows names what is wrong.
  return (await deps.files.hash(disk.path).catch(() => '')) === top.content_hash;
}

function isTransient(reason: ReasonCode | undefined): boolean {
  return reason !== undefined && (REASONS[reason] !== 'permanent' || reason === 'store_rejected');
}

/** Whether the commit describes this very disk under the settings that hold now. */
export function isSameState(base: CommitRecord | undefined, disk: FileState): base is CommitRecord {
  return (
    base !== undefined &&
    base.status !== 'deleted' &&
    base.stat === disk.statKey &&
    base.sidecar_stat === disk.sidecarStat &&
    base.config_hash === disk.policy.configHash &&
    base.fingerprint === disk.policy.fingerprint(base.format)
  );
}

export function isOverLimits(deps: Pick<IngestionDeps, 'settings'>, base: CommitRecord): boolean {
  return base.live.length > deps.settings.maxLiveAttempts || base.superseded.length > deps.settings.maxSuperseded;
}
