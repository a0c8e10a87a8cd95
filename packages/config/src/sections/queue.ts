import { z } from 'zod';

/** Section `queue` of sluice.yaml. */
export const queueSchema = z.strictObject({
  /** Documents a worker process reconciles at a time. */
  concurrency: z.int().min(1).max(256).default(8),
  /** Tries of a document before a transient fault makes it a dead letter. */
  attempts: z.int().min(1).max(100).default(5),
  /** Wait before the second try, doubled at each further one, with jitter. */
  backoff_ms: z.int().min(0).max(3_600_000).default(1_000),
});
