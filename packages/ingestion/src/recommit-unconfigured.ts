import type { CommitRecord, ReconcileRequest } from '@sluice/core';
import { beginAttempt, isServing, targetOf } from './attempt.js';
import { bareMetadata, buildRecord, NOTHING_LIVE, type RecordContent, reasonOf, sameAsBase } from './build-record.js';
import type { IngestionDeps, SourceView } from './deps.js';
import { publish } from './publish.js';

/** A source of which nothing is known but its name: no file of it is looked at, so that each counts as gone. */
export function unconfiguredSource(name: string): SourceView {
  return { name, root: '/', stabilityMs: 0, accepts: () => false, mayDelete: () => Promise.resolve(true) };
}

/**
 * Commits a document of a source that is no longer configured as it is, under a new fence: without one, what a stop or a crash left of it
 * could never be swept. What was deleted, or never committed, stays deleted; the rest is kept, whatever the disk says.
 *
 * @returns false when it could not be done: chunks that it names are lost, or others write it at this moment
 */
export async function recommitUnconfigured(
  deps: IngestionDeps,
  { source, path }: Pick<ReconcileRequest, 'source' | 'path'>,
): Promise<boolean> {
  const target = targetOf(unconfiguredSource(source), path);
  for (let round = 0; round < deps.settings.maxRounds; round += 1) {
    const attempt = await beginAttempt(deps, target);
    const { base } = attempt;
    if (isServing(base) && (await deps.store.countChunks(target.docUuid, base.live, base.superseded)) !== base.chunks)
      return false;
    const record: CommitRecord = {
      ...buildRecord(deps, target, attempt, { kind: 'gone' }, base === undefined ? tombstone : contentOf(base)),
      // The disk that the base tells of: back in the configuration, only what has changed since is read.
      stat: base?.stat ?? '',
      sidecar_stat: base?.sidecar_stat ?? '',
      config_hash: base?.config_hash ?? '',
    };
    if ((await publish(deps, target, attempt, { kind: 'gone' }, record)) === 'done') return true;
  }
  return false;
}

function contentOf(base: CommitRecord): RecordContent {
  const { kind, status, content_hash, fingerprint, format, metadata, warnings } = base;
  return { kind, status, content_hash, fingerprint, format, metadata, warnings, ...reasonOf(base), ...sameAsBase(base) };
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
