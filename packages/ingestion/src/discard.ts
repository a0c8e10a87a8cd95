import type { ReconcileRequest } from '@sluice/core';
import { isServing, targetOf } from './attempt.js';
import { contentOf, NOTHING_LIVE, sameAsBase } from './build-record.js';
import { commitInRounds } from './commit-in-rounds.js';
import type { IngestionDeps } from './deps.js';
import { type DiskState, observeDisk } from './observe.js';

/**
 * Takes a dead letter off the list: it stays failed with its reason, and is not retried until its file changes.
 *
 * @returns false when the document is not a dead letter (any more)
 */
export async function discardDocument(deps: IngestionDeps, request: Pick<ReconcileRequest, 'source' | 'path'>): Promise<boolean> {
  const source = deps.source(request.source);
  if (source === undefined) return false;
  const target = targetOf(source, request.path);
  const outcome = await commitInRounds(deps, target, async ({ top, base }) => {
    if (top === undefined || top.status !== 'failed' || top.discarded) return { nothing: 'no dead letter' as const };
    const { stat, sidecar_stat, config_hash } = top;
    return {
      disk: await observeDisk(deps, source, request.path).catch((): DiskState => ({ kind: 'gone' })),
      content: {
        ...contentOf(top),
        kind: 'commit',
        metadata: (base ?? top).metadata,
        ...(isServing(base) ? sameAsBase(base) : NOTHING_LIVE),
        discarded: true,
      },
      tells: { stat, sidecar_stat, config_hash },
    };
  });
  return typeof outcome === 'object';
}
