import { z } from 'zod';

/** `embedding` of sluice.yaml: which model makes the vectors. Another model has collections of its own. */
export const embeddingSchema = z.strictObject({
  /** Name of the model, as on the hub, or as the endpoint calls it. */
  model: z.string().min(1).default('Xenova/all-MiniLM-L6-v2'),
  /** Folder that holds the model's files; without one the launcher provides it. With `base_url`: folder of the model's tokenizer. */
  path: z.string().min(1).nullish(),
  /** Threads that run the model, one session each; `auto` is the number of cores, or the container's CPU limit, at most 8. */
  threads: z.union([z.literal('auto'), z.int().min(1).max(64)]).default('auto'),
  /** The most tokens that the model takes, special tokens included. Default: what its files say; 512 without them. */
  max_tokens: z.int().min(16).max(131_072).nullish(),
  /** How a vector is made of a text's states. Default: what the model's files say, else the mean. */
  pooling: z.enum(['mean', 'cls', 'last']).nullish(),
  /** Put before what is stored, and before what is asked, as `passage: ` and `query: ` of E5. */
  passage_prefix: z.string().max(2000).nullish(),
  query_prefix: z.string().max(2000).nullish(),
  /** An OpenAI-compatible endpoint below which `/embeddings` is, in place of a model that runs here. */
  base_url: z.url({ protocol: /^https?$/ }).nullish(),
  /** Name of the environment variable that holds the endpoint's key. */
  api_key_env: z.string().min(1).nullish(),
  /** Length of the endpoint's vectors: asked of it and checked. Without it the first answer says. */
  dimensions: z.int().min(1).max(16_384).nullish(),
  /** Texts per request, and requests at a time. */
  batch: z.int().min(1).max(2048).default(32),
  concurrency: z.int().min(1).max(256).default(4),
  /** Seconds that a request may take. */
  timeout_s: z.number().min(1).max(3600).default(60),
  /** For the cost in the metrics. */
  price_per_million_tokens: z.number().min(0).default(0),
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
