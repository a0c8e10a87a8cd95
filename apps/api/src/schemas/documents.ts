import { REASONS, type ReasonCode } from '@sluice/core';
import { z } from 'zod';

export const statusSchema = z
  .enum(['pending', 'indexed', 'empty', 'skipped', 'failed'])
  .describe('Status of the newest state on disk; `pending` while a job waits or runs.');

export const reasonSchema = z.enum(Object.keys(REASONS) as [ReasonCode, ...ReasonCode[]]);

export const documentSchema = z
  .object({
    doc_id: z.string(),
    id: z.string().describe('UUID of the document; works wherever a doc_id does.'),
    source: z.string(),
    source_path: z.string(),
    status: statusSchema,
    reason: reasonSchema.optional(),
    message: z.string().optional().describe('What happened and what to do, beside the reason.'),
    serving: z.boolean().describe('A revision of it answers queries.'),
    revision: z.string().describe('Revision that is served; empty when none is.'),
    chunks: z.int(),
    content_hash: z.string().describe('sha256 of the file that the status describes; empty when it was never read.'),
    committed_at: z.string().optional(),
    warnings: z.array(z.string()),
    metadata: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'Document' });

export type DocumentView = z.infer<typeof documentSchema>;

export const documentParams = z.strictObject({
  doc_id: z.string().min(1).describe('doc_id as one percent-encoded segment, or the UUID `id`.'),
});

export const cursorSchema = z
  .string()
  .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'not a cursor of a page before')
  .optional()
  .describe('`next_cursor` of the page before.');

/** A doc_id as requests name it. */
export const docIdSchema = z.string().min(1).max(4096).describe('<source>/<path>');
export const pageLimit = z.coerce.number().int().min(1).max(1000).default(100);
