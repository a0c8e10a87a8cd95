import { DRIFT_KINDS } from '@sluice/ingestion';
import { z } from 'zod';
import type { Tasks } from '../tasks.js';
import { docIdField } from './fields.js';
import { problemSchema } from './problem.js';

const KINDS: Record<(typeof DRIFT_KINDS)[number], string> = {
  missing_document: 'Files without a document.',
  stale_document: 'Documents of an older state of their file.',
  unexpected_document: 'Documents without a file.',
  missing_chunk: 'Chunks that a revision names and the store lacks.',
  orphan_chunk: 'Chunks that no revision names.',
  duplicate_chunk: 'Chunks that are there twice.',
  wrong_metadata: 'Chunks whose metadata is not that of their document.',
};

const kinds = Object.fromEntries(DRIFT_KINDS.map((kind) => [kind, z.int().describe(KINDS[kind])])) as Record<
  (typeof DRIFT_KINDS)[number],
  z.ZodInt
>;

/** What verify found. */
const verifyAnswer = z
  .object({
    differences: z.int().describe('Differences in all; 0 when disk, documents and chunks agree.'),
    by_kind: z.object(kinds).describe('Differences by kind.'),
    failed_serving_old: z.int().describe('Failed documents whose last good revision answers queries: no differences.'),
    in_grace: z.int().describe('Superseded objects that wait to be deleted: no differences.'),
    in_flight: z.int().describe('Documents that differ while a job of theirs waits or runs.'),
    unreachable_sources: z
      .array(z.string())
      .describe('Sources whose folder could not be read: their documents were not compared with the disk.'),
    unreadable_paths: z.int().describe('Files and folders within sources that could not be read; what is known of them is kept.'),
    repaired: z.int().optional().describe('Documents queued again and stray objects deleted; with `repair` alone.'),
    checked: z
      .object({
        files: z.int().describe('Files on disk.'),
        documents: z.int().describe('Documents in the store.'),
        chunks: z.int().describe('Chunks in the store.'),
      })
      .describe('How much was compared.'),
    examples: z
      .array(
        z.object({
          kind: z.string().describe('Kind of the difference, as in `by_kind`.'),
          doc_id: docIdField,
        }),
      )
      .describe('At most 20 differences, of documents that you may know of.'),
  })
  .meta({ id: 'VerifyReport' });

const removedAnswer = z.object({ removed: z.int().describe('Documents that were removed.') }).meta({ id: 'Removed' });

export type OpsTasks = Tasks<z.infer<typeof verifyAnswer> | z.infer<typeof removedAnswer>>;

/** What starting a task answers. */
export const taskStarted = z.object({ task_id: z.string().describe('For `GET /ops/api/tasks/{id}`.') });

export const taskAnswer = z
  .object({
    state: z.enum(['running', 'done', 'failed']).describe('`running` until the work has ended.'),
    progress: z.int().describe('Documents that were looked at or removed so far.'),
    result: z.union([verifyAnswer, removedAnswer]).optional().describe('Once it is done: what the task was for.'),
    problem: problemSchema.optional().describe('Once it has failed.'),
  })
  .meta({ id: 'Task' });
