import { z } from 'zod';

/** Settings of the writer, the sweep and the audit (`store` and `queue` sections of sluice.yaml; see docs/configuration.md). */
export const ingestionSettingsSchema = z.strictObject({
  /** How long superseded chunks stay readable after the commit that replaced them, ms. Readers rely on it: see the commit protocol. */
  readerGraceMs: z.int().min(0).default(10_000),
  /** How long a tombstone is kept after its document's last other object is gone, ms. */
  tombstoneMs: z.int().min(0).default(86_400_000),
  /** Above either number a document's chunks are copied, with their vectors, under one attempt. */
  maxLiveAttempts: z.int().min(1).default(32),
  maxSuperseded: z.int().min(1).default(512),
  /** Rounds a reconcile may run again because the disk or the store changed under it, before it goes back to the queue. */
  maxRounds: z.int().min(1).default(8),
  /** Chunks embedded and inserted at a time. */
  sliceSize: z.int().min(1).default(64),
  /** Least time between two audits, ms; a long audit waits longer (twenty times its own duration). */
  auditIntervalMs: z.int().min(1_000).default(60_000),
});

export type IngestionSettings = z.infer<typeof ingestionSettingsSchema>;

export const defaultIngestionSettings: IngestionSettings = ingestionSettingsSchema.parse({});
