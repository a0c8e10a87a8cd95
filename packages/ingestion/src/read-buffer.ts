import { type ReadResult, statKey } from '@sluice/core';
import type { Target } from './attempt.js';
import type { IngestionDeps } from './deps.js';
import { type FileState, readSidecar } from './document-metadata.js';
import { observeAgain, sameDisk, unreadable } from './observe.js';

interface ReadDocument {
  result: ReadResult;
  sidecar: Record<string, unknown> | undefined;
}

/** Reads a document at most once for one state of the disk, however many rounds the reconcile takes. */
export interface ReadBuffer {
  /**
   * `changed` when the file changed while it was read. A file that has only grown meanwhile, for the second time, is given
   * as it was read: one that grows faster than it is parsed would never be indexed.
   */
  read(
    disk: FileState,
    options: { signal?: AbortSignal; onProgress?: (share: number) => void },
  ): Promise<ReadDocument | 'changed'>;
  /** sha256 of the file last read, '' when none could be. */
  lastHash(): string;
  /** How often the file changed while it was read. */
  changes(): number;
}

export function createReadBuffer(deps: IngestionDeps, target: Target): ReadBuffer {
  let key = '';
  let held: ReadDocument | undefined;
  let hash = '';
  let changes = 0;
  return {
    lastHash: () => hash,
    changes: () => changes,
    async read(disk, options) {
      const wanted = `${disk.statKey} ${disk.sidecarStat} ${disk.policy.configHash} ${disk.policy.readKey}`;
      if (held !== undefined && wanted === key) return held;
      held = undefined;
      await deps.onStep?.('read', target.docId);
      hash = '';
      const end = deps.metrics.stageSeconds.startTimer({ stage: 'read' });
      let result: ReadResult;
      try {
        const sidecar = await readSidecar(deps, disk);
        result = await deps.reader.read(
          {
            docId: target.docId,
            path: disk.path,
            size: disk.stat.size,
            found: disk.stat,
            limits: disk.policy.limits,
            chunking: disk.policy.chunking,
            settings: disk.policy.parsers,
            ...(disk.policy.passwords === undefined ? {} : { passwords: disk.policy.passwords }),
            ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
          },
          options.signal,
        );
        hash = result.contentHash;
        held = { result, sidecar };
        key = wanted;
      } catch (cause) {
        // Half a file may well be corrupt: when it changed meanwhile the new bytes decide.
        if (!sameDisk(disk, await observeAgain(deps, target, disk))) {
          changes += 1;
          return 'changed';
        }
        // The record of the failure names the bytes that failed, so that the same bytes are not tried again and again.
        hash = await deps.files.hash(disk.path).catch(() => '');
        throw cause;
      } finally {
        end();
      }
      await deps.onStep?.('parsed', target.docId);
      const change = await changeOf(deps, disk);
      if (change === 'none') return held;
      changes += 1;
      if (change === 'grown' && changes > 1 && (await beginsWith(deps, disk, result))) return held;
      held = undefined;
      return 'changed';
    },
  };
}

/** Whether the file, which grew, still begins with the bytes that were read: else it was written again, and they may be half of each. */
async function beginsWith(deps: IngestionDeps, disk: FileState, { bytes, contentHash }: ReadResult): Promise<boolean> {
  return (await deps.files.hash(disk.path, bytes).catch(() => '')) === contentHash;
}

/**
 * Whether a file changed while it was read. Its sidecar is left to the check after the commit: what it says may change at any moment, but
 * is never half of two states.
 */
async function changeOf(deps: IngestionDeps, disk: FileState): Promise<'none' | 'grown' | 'other'> {
  const now = await deps.files.stat(disk.path, disk.stat).catch((cause: unknown) => {
    throw unreadable(disk.path, cause);
  });
  if (now?.kind !== 'file') return 'other';
  if (statKey(now) === disk.statKey) return 'none';
  return now.inode === disk.stat.inode && now.size > disk.stat.size ? 'grown' : 'other';
}
