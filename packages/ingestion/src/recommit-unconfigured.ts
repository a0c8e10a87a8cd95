import type { CommitRecord, ReconcileRequest } from '@sluice/core';
import { type Attempt, beginAttempt, isServing, type Target, targetOf } from './attempt.js';
import { bareMetadata, buildRecord, NOTHING_LIVE, type RecordContent, reasonOf, sameAsBase } from './build-record.js';
import type { IngestionDeps, SourceView } from './deps.js';
import { publish } from './publish.js';
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
  for (let round = 0; round < deps.settings.maxRounds; round += 1) {
    const attempt = await beginAttempt(deps, target);
    const { base } = attempt;
    const content = base === undefined ? tombstone : await contentOf(deps, target, { ...attempt, base }, copy);
    const record: CommitRecord = {
      ...buildRecord(deps, target, attempt, { kind: 'gone' }, content),
      // The disk that the base tells of: back in the configuration, only what has changed since is read, and what was lost.
      stat: base === undefined || content.chunks !== base.chunks ? '' : base.stat,
      sidecar_stat: base?.sidecar_stat ?? '',
      config_hash: base?.config_hash ?? '',
    };
    if ((await publish(deps, target, attempt, { kind: 'gone' }, record)) === 'done') return true;
  }
  return false;
}

async function contentOf(
  deps: IngestionDeps,
  target: Target,
  attempt: Attempt & { base: CommitRecord },
  copy: boolean,
): Promise<RecordContent> {
  const { base } = attempt;
  const { kind, status, content_hash, fingerprint, format, metadata, warnings } = base;
  const content = { kind, status, content_hash, fingerprint, format, metadata, warnings, ...reasonOf(base) };
  if (isServing(base) && !(await isWhole(deps, base))) {
    const message = `chunks of ${target.docId} were lost; it is indexed again when its source is back in the configuration`;
    return { ...content, ...NOTHING_LIVE, status: 'failed', reason: 'internal', message };
  }
  const isCopied = isServing(base) && (copy || isOverLimits(deps, base));
  return { ...content, ...(isCopied ? await rewriteBase(deps, target, attempt, metadata) : sameAsBase(base)) };
}

const tombstone: RecordContent = {
  ...NOTHING_LIVE,
  kind: 'commit',
  status: 'deleted',
  content_hash: '',
  fingerprint: '',
  format: '',
  metadata: bareMetadata({ security_level: 5 }),
  warnings: [],
};
