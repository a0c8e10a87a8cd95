import type { CommitRecord } from '@sluice/core';
import { type Attempt, beginAttempt, type Target } from './attempt.js';
import { buildRecord, type RecordContent } from './build-record.js';
import type { IngestionDeps } from './deps.js';
import type { DiskState } from './observe.js';
import { publish } from './publish.js';

/** What an attempt makes of its base and the disk: what to commit, or the reason why nothing is committed. */
type Decision<Nothing> =
  | {
      disk: DiskState;
      content: RecordContent;
      /** The disk that the record describes where it is not the one that was seen. */
      tells?: Pick<CommitRecord, 'stat' | 'sidecar_stat' | 'config_hash'>;
    }
  | { nothing: Nothing };

/**
 * Attempts, one after the other, until one is committed and nothing has changed under it. Each has a fence and a base of its own, and
 * decides again.
 *
 * @returns the commit, or why there is none; `outrun` when disk or store changed under every round
 */
export async function commitInRounds<Nothing>(
  deps: IngestionDeps,
  target: Target,
  decide: (attempt: Attempt) => Promise<Decision<Nothing>>,
  rounds = deps.settings.maxRounds,
): Promise<CommitRecord | Nothing | 'outrun'> {
  for (let round = 0; round < rounds; round += 1) {
    const attempt = await beginAttempt(deps, target);
    const decision = await decide(attempt);
    if ('nothing' in decision) return decision.nothing;
    const record = { ...buildRecord(deps, attempt, decision.disk, decision.content), ...decision.tells };
    if ((await publish(deps, attempt, decision.disk, record)) === 'done') return record;
  }
  return 'outrun';
}
