import type { ChunkStore, Clock, CommitRecord, DocumentReader, Embedder, Fences, Files } from '@sluice/core';
import type { Logger, Metrics } from '@sluice/telemetry';
import type { Policy } from './policy.js';
import type { IngestionSettings } from './settings.js';

/** What the writer needs to know of a watched folder. */
export interface SourceView {
  readonly name: string;
  /** Absolute path. */
  readonly root: string;
  readonly stabilityMs: number;
  /** Whether the path is a document by name: not ignored, no sidecar, not excluded. */
  accepts(path: string): Promise<boolean> | boolean;
  /** False while the root is missing, unreadable or another one than before: then nothing is deleted. */
  mayDelete(): Promise<boolean>;
}

/**
 * Named points of the pipeline, in their order, the sweep's last: where faults are injected by the chaos harness, and what stage timers are named
 * after. Each lies after one piece of work and before the next.
 */
export const STEPS = [
  'fence',
  'base',
  'read',
  'parsed',
  'embed',
  'embedded',
  'insert',
  'inserted',
  'manifest',
  'commit',
  'committed',
  'recheck',
  'sweep',
  'delete',
  'deleted',
] as const;
export type Step = (typeof STEPS)[number];

export interface IngestionDeps {
  store: ChunkStore;
  fences: Fences;
  files: Files;
  reader: DocumentReader;
  embedder: Embedder;
  policy: Policy;
  source(name: string): SourceView | undefined;
  clock: Clock;
  logger: Logger;
  metrics: Metrics;
  settings: IngestionSettings;
  /** Called with each commit that superseded another one: garbage collection deletes what is no longer named, after the grace. */
  onSuperseded?: (record: CommitRecord) => void;
  /** Awaited at each step; the chaos harness stops or kills the process here. */
  onStep?: (step: Step, docId: string) => Promise<void> | void;
}
