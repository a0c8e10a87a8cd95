import { DRIFT_KINDS } from '@sluice/ingestion';
import { z } from 'zod';
import type { Tasks } from '../tasks.js';
import { problemSchema } from './problem.js';

/** What verify found. */
const verifyAnswer = z
  .object({
    differences: z.int(),
    by_kind: z.object(
      Object.fromEntries(DRIFT_KINDS.map((kind) => [kind, z.int()])) as Record<(typeof DRIFT_KINDS)[number], z.ZodInt>,
    ),
    failed_serving_old: z.int(),
    in_grace: z.int(),
    in_flight: z.int().describe('Documents that differ while a job of theirs waits or runs.'),
    unreachable_sources: z.array(z.string()),
    unreadable_paths: z.int().describe('Files and folders within sources that could not be read; what is known of them is kept.'),
    repaired: z.int().optional(),
    checked: z.object({ files: z.int(), documents: z.int(), chunks: z.int() }),
    examples: z.array(z.object({ kind: z.string(), doc_id: z.string() })),
  })
  .meta({ id: 'VerifyReport' });

const removedAnswer = z.object({ removed: z.int() }).meta({ id: 'Removed' });

export type OpsTasks = Tasks<z.infer<typeof verifyAnswer> | z.infer<typeof removedAnswer>>;

/** What starting a task answers. */
export const taskStarted = z.object({ task_id: z.string().describe('For `GET /ops/api/tasks/{id}`.') });

export const taskAnswer = z
  .object({
    state: z.enum(['running', 'done', 'failed']),
    progress: z.int().describe('Documents that were looked at or removed so far.'),
    result: z.union([verifyAnswer, removedAnswer]).optional().describe('Once it is done: what the task was for.'),
    problem: problemSchema.optional().describe('Once it has failed.'),
  })
  .meta({ id: 'Task' });
