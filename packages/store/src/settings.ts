import { z } from 'zod';

/** Section `store` of sluice.yaml. */
export const storeSchema = z.strictObject({
  /**
   * How long superseded objects stay before they are deleted, in milliseconds: what a search that is under way may still need.
   * A search that takes longer than half of it begins again.
   */
  reader_grace_ms: z.int().min(0).max(600_000).default(10_000),
  /** How long the index of the model before is kept, and follows the disk, after another one has become live, in hours. */
  keep_previous_h: z
    .number()
    .min(0)
    .max(24 * 365)
    .default(24),
  /** How far the store's clock and ours may differ, in milliseconds: a commit younger than grace plus this is not believed by age. */
  clock_skew_ms: z.int().min(0).max(600_000).default(1_000),
});

export type StoreSettings = z.infer<typeof storeSchema>;
