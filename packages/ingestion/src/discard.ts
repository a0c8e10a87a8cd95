import { type CommitRecord, type ReconcileRequest, topCommit, topRecord } from '@sluice/core';
import { beginAttempt, isServing, readRecords, targetOf } from './attempt.js';
import { buildRecord, NOTHING_LIVE, reasonOf, sameAsBase } from './build-record.js';
import type { IngestionDeps } from './deps.js';
import { type DiskState, observeDisk } from './observe.js';
import { publish } from './publish.js';

/**
 * Takes a dead letter off the list: it stays failed with its reason, and is not retried until its file changes.
 *
 * @returns false when the document is not a dead letter (any more)
 */
export async function discardDocument(deps: IngestionDeps, request: Pick<ReconcileRequest, 'source' | 'path'>): Promise<boolean> {
  const source = deps.source(request.source);
  if (source === undefined) return false;
  const target = targetOf(source, request.path);
  for (let round = 0; round < deps.settings.maxRounds; round += 1) {
    const attempt = await beginAttempt(deps, target);
    const records = await readRecords(deps, target.docUuid);
    const [top, base] = [topRecord(records), topCommit(records)];
    if (top === undefined || top.status !== 'failed' || top.discarded) return false;
    const disk = await observeDisk(deps, source, request.path).catch((): DiskState => ({ kind: 'gone' }));
    const { stat, sidecar_stat, config_hash, content_hash, fingerprint, format, warnings } = top;
    const served = isServing(base) ? sameAsBase(base) : NOTHING_LIVE;
    const record: CommitRecord = {
      ...buildRecord(deps, target, attempt, disk, {
        kind: 'commit',
        status: 'failed',
        content_hash,
        fingerprint,
        format,
        warnings,
        metadata: (base ?? top).metadata,
        ...reasonOf(top),
        ...served,
        discarded: true,
      }),
      stat,
      sidecar_stat,
      config_hash,
    };
    if ((await publish(deps, target, attempt, disk, record)) === 'done') return true;
  }
  return false;
}
