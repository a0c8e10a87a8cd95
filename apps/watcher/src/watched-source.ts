import type { Clock, CommitRecord, Files, ReconcileQueue } from '@sluice/core';
import type { Control } from '@sluice/queues';
import type { ComparePolicy, WatchOptions } from '@sluice/sources';
import type { Logger, Metrics } from '@sluice/telemetry';

/** A source as the watcher is given it. */
export interface WatchedSource {
  name: string;
  /** Absolute path. */
  path: string;
  include: readonly string[];
  exclude: readonly string[];
  polling: 'auto' | boolean;
  stabilityMs: number;
  scanIntervalS: number;
  /** The source reads created_at from mtime: a new mtime is a change. */
  mtimeMatters: boolean;
}

export interface WatcherDeps {
  sources: readonly WatchedSource[];
  /** Every record of the store, grouped by document. Error `store_unavailable`. */
  walkRecords(): AsyncIterable<CommitRecord[]>;
  queue: ReconcileQueue;
  control: Control;
  policyFor(source: string, path: string, format: string): ComparePolicy;
  files: Files;
  clock: Clock;
  logger: Logger;
  metrics: Pick<Metrics, 'filesScanned' | 'flush'>;
  /** `<data>/sources`: what is remembered of roots and of verified files. */
  stateFolder: string;
  /** How a folder is watched; default fs.watch. */
  watchFolder?: WatchOptions['watchFolder'];
}
