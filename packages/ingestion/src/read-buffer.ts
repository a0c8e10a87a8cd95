import type { ReadResult } from '@sluice/core';
import type { Target } from './attempt.js';
import type { IngestionDeps } from './deps.js';
import { type FileState, readSidecar } from './document-metadata.js';
import { observeAgain } from './observe.js';

interface ReadDocument {
  result: ReadResult;
  sidecar: Record<string, unknown> | undefined;
}

/** Reads a document at most once for one state of the disk, however many rounds the reconcile takes. */
export interface ReadBuffer {
  /** `changed` when the file or its sidecar changed while it was read. */
  read(
    disk: FileState,
    options: { signal?: AbortSignal; onProgress?: (share: number) => void },
  ): Promise<ReadDocument | 'changed'>;
  /** sha256 of the file last read, '' when none could be. */
  lastHash(): string;
}

export function createReadBuffer(deps: IngestionDeps, target: Target): ReadBuffer {
  let key = '';
  let held: ReadDocument | undefined;
  let hash = '';
  return {
    lastHash: () => hash,
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
        if (await hasChanged(deps, target, disk)) return 'changed';
        // The record of the failure names the bytes that failed, so that the same bytes are not tried again and again.
        hash = await deps.files.hash(disk.path).catch(() => '');
        throw cause;
      } finally {
        end();
      }
      await deps.onStep?.('parsed', target.docId);
      if (await hasChanged(deps, target, disk)) {
        held = undefined;
        return 'changed';
      }
      return held;
    },
  };
}

async function hasChanged(deps: IngestionDeps, target: Target, disk: FileState): Promise<boolean> {
  const now = await observeAgain(deps, target, disk);
  return now.kind !== 'file' || now.statKey !== disk.statKey || now.sidecarStat !== disk.sidecarStat;
}
