import type { CommitRecord, ReasonCode, SluiceError } from '@sluice/core';

export interface ReconcileOptions {
  signal?: AbortSignal;
  /** A transient fault is then recorded as the document's failure instead of being thrown. */
  lastAttempt?: boolean;
  /** Commits the same state under a new fence, so that any sleeping writer is outdated and what is not named can be swept. */
  recommit?: boolean;
  /** Writes every chunk again, keeping none of the stored ones: the repair of a document whose stored chunks are wrong. */
  rebuild?: boolean;
  onProgress?: (share: number) => void;
}

export type ReconcileOutcome =
  /** The store agreed with the disk already. */
  | { outcome: 'unchanged'; record?: CommitRecord }
  | { outcome: 'indexed' | 'empty'; chunks: number; computed: number; reused: number; warnings: string[] }
  | { outcome: 'deleted' }
  /** By type or size: no dead letter. */
  | { outcome: 'skipped'; reason: ReasonCode; message: string }
  /** A dead letter; `error` is what happened. */
  | { outcome: 'failed'; reason: ReasonCode; message: string; error: SluiceError; serving: boolean }
  /** The file is gone or refused, but so may be its whole root: nothing is deleted, and nothing recorded. */
  | { outcome: 'suspended' }
  /** The source is no longer configured: its documents are kept as they are. */
  | { outcome: 'unknown_source' };
