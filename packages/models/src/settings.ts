import { z } from 'zod';

/** `embedding` of sluice.yaml: which model makes the vectors. Another model is another pair of collections. */
export const embeddingSchema = z.strictObject({
  /** Name of the model, as on the hub. */
  model: z.string().min(1).default('Xenova/all-MiniLM-L6-v2'),
  /** Folder that holds the model's files; without one the launcher provides it. */
  path: z.string().min(1).nullish(),
  /** Threads that run the model, one session each; `auto` is the number of cores, at most 8. */
  threads: z.union([z.literal('auto'), z.int().min(1).max(64)]).default('auto'),
});
export type EmbeddingSettings = z.infer<typeof embeddingSchema>;

/** `rerank` of sluice.yaml: a cross-encoder that runs here, or an endpoint of the common /rerank shape. */
export const rerankSchema = z.strictObject({
  model: z.string().min(1).default('Xenova/ms-marco-MiniLM-L-6-v2'),
  /** Folder that holds the model's files. */
  path: z.string().min(1).nullish(),
  base_url: z.url().nullish(),
  /** Name of the environment variable that holds the endpoint's key. */
  api_key_env: z.string().min(1).nullish(),
});
export type RerankSettings = z.infer<typeof rerankSchema>;
