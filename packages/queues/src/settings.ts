import { z } from 'zod';

/** `queue` of sluice.yaml. */
export const queueSchema = z.strictObject({
  /** Documents a worker process works on at the same time. */
  concurrency: z.int().min(1).max(256).default(32),
  /** MiB of the files that a worker process works on at the same time; a larger one is worked on beside small ones alone. */
  in_flight_mb: z.int().min(1).max(1_000_000).default(256),
  /** MiB over which a file is large: such files leave places and a reading process to others. */
  large_mb: z.number().positive().max(1_000_000).default(5),
  /** Seconds of reading after which a document counts as large, whatever its size. */
  slow_s: z.number().positive().max(86_400).default(5),
  /** Times a document is tried when its fault may pass, before it becomes a dead letter. */
  attempts: z.int().min(1).max(100).default(5),
  /** Milliseconds before the second attempt; doubled for each further one, plus up to a half at random. */
  backoff_ms: z.int().min(0).max(3_600_000).default(1000),
  /** Milliseconds after which a worker that is silent loses its jobs to another. */
  lock_ms: z.int().min(1000).max(600_000).default(30_000),
  /** Milliseconds between two looks for jobs of lost workers. */
  stalled_ms: z.int().min(500).max(600_000).default(15_000),
});
export type QueueSettings = z.infer<typeof queueSchema>;
