import { REASONS, type ReasonCode } from '@sluice/core';
import { z } from 'zod';
import { docIdField, metadataField, sourceField, sourcePathField, uuidField } from './fields.js';

export const statusSchema = z
  .enum(['pending', 'indexed', 'empty', 'skipped', 'failed'])
  .describe('Status of the newest state on disk; `pending` while a job waits or runs.');

export const reasonSchema = z.enum(Object.keys(REASONS) as [ReasonCode, ...ReasonCode[]]);

export const documentSchema = z
  .object({
    doc_id: docIdField,
    id: uuidField,
    source: sourceField,
    source_path: sourcePathField,
    status: statusSchema,
    reason: reasonSchema.optional().describe('Why it is failed, skipped or empty.'),
    message: z.string().optional().describe('What happened and what to do, beside the reason.'),
    serving: z.boolean().describe('A revision of it answers queries.'),
    revision: z.string().describe('Revision that is served; empty when none is.'),
    chunks: z.int().describe('Chunks of the revision that is served; 0 when none is.'),
    content_hash: z.string().describe('sha256 of the file that the status describes; empty when it was never read.'),
    committed_at: z.string().optional().describe('When this state was stored: an instant, as 2024-04-10T12:00:00.000Z.'),
    warnings: z.array(z.string()).describe('What was noticed in the file without failing it; empty as a rule.'),
    metadata: metadataField,
  })
  .meta({ id: 'Document', description: 'A document: one file of a source.' });

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
export const pageLimit = z.coerce
  .number()
  .int()
  .min(1)
  .max(1000)
  .default(100)
  .describe('Most entries of the page, 1 to 1,000. Default 100.');
export const sourceFilter = z.string().max(200).optional().describe('Only what is of the source of this name.');
