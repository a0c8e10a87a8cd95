import { z } from 'zod';

/** Section `search` of sluice.yaml. */
export const searchSchema = z.strictObject({
  /** Weight of the dense part of a hybrid search: 0 is keyword alone, 1 dense alone. Less where a question holds an identifier. */
  alpha: z.number().min(0).max(1).default(0.6),
  /** Results of a request that names no limit. */
  limit: z.int().min(1).max(100).default(5),
  /** How many of the pool's head a reranker sees. */
  candidates: z.int().min(1).max(1000).default(25),
});

export type SearchSettings = z.infer<typeof searchSchema>;
