import type { CommitRecord, ReconcileRequest } from '@sluice/core';
import { type Attempt, isServing, targetOf } from './attempt.js';
import { contentOf, deletedAs, NOTHING_LIVE, type RecordContent, sameAsBase } from './build-record.js';
import { commitInRounds } from './commit-in-rounds.js';
import type { IngestionDeps, SourceView } from './deps.js';
import { isWhole, rewriteBase } from './rewrite.js';
import { isOverLimits } from './settled.js';

/** A source of which nothing is known but its name: no file of it is looked at, so that each counts as gone. */
export function unconfiguredSource(name: string): SourceView {
  return { name, root: '/', stabilityMs: 0, accepts: () => false, mayDelete: () => Promise.resolve(true) };
}

/**
 * Commits a document of a source that is no longer configured as it is, under a new fence: without one, what a stop or a crash left of it
 * could never be swept. What was deleted, or never committed, stays deleted; the rest is kept, whatever the disk says. Its chunks are
 * copied where they are over limits or wrong (`copy`). Where some are lost nothing of it is served until its source is back.
 *
 * @returns false when others write it at this moment
 */
export async function recommitUnconfigured(
  deps: IngestionDeps,
  { source, path }: Pick<ReconcileRequest, 'source' | 'path'>,
  { copy }: { copy: boolean },
): Promise<boolean> {
  const target = targetOf(unconfiguredSource(source), path);
  const outcome = await commitInRounds(deps, target, async (attempt) => {
    const { base } = attempt;
    const content = base === undefined ? deletedAs({ security_level: 5 }) : await keptContent(deps, { ...attempt, base }, copy);
    return {
      disk: { kind: 'gone' },
      content,
      // The disk that the base describes: back in the configuration, only what has changed since is read, and what was lost.
      tells: {
        stat: base === undefined || content.chunks !== base.chunks ? '' : base.stat,
        sidecar_stat: base?.sidecar_stat ?? '',
        config_hash: base?.config_hash ?? '',
      },
    };
  });
  return outcome !== 'outrun';
}

async function keptContent(
  deps: IngestionDeps,
  attempt: Attempt & { base: CommitRecord },
  copy: boolean,
): Promise<RecordContent> {
  const { base, target } = attempt;
  if (isServing(base) && !(await isWhole(deps, base))) {
    const message = `chunks of ${target.docId} were lost; it is indexed again when its source is back in the configuration`;
    return { ...contentOf(base), ...NOTHING_LIVE, status: 'failed', reason: 'internal', message };
  }
  const isCopied = isServing(base) && (copy || isOverLimits(deps, base));
  return { ...contentOf(base), ...(isCopied ? await rewriteBase(deps, attempt, base.metadata) : sameAsBase(base)) };
}
