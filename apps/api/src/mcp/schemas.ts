import { z } from 'zod';
import { fieldSchema, sourceSchema } from '../documents/catalog.js';
import { documentSchema } from '../schemas/documents.js';
import { searchMembers } from '../schemas/search.js';
import { citationSchema } from '../schemas/search-answers.js';

/** Tokens of a result unless the call says otherwise. */
const DEFAULT_TOKENS = 4_000;
/** Longest wait for a document: clients give up on a call after 60 s. */
const MAX_WAIT_S = 50;

const maxTokens = z
  .int()
  .min(100)
  .max(20_000)
  .default(DEFAULT_TOKENS)
  .describe("Most tokens of texts in the result, counted by the embedding model's tokenizer.");

const docId = z.string().min(1).max(4200).describe('`<source>/<path>`, as results name it, or the UUID.');

const { query, mode, filter, infer_filter, now, timezone, rerank, expand, group_by } = searchMembers;

export const searchInput = z.strictObject({
  query,
  filter,
  infer_filter,
  now,
  timezone,
  mode,
  rerank,
  expand,
  group_by,
  limit: z.int().min(1).max(50).default(10).describe('Most passages.'),
  max_tokens: maxTokens,
});

export const searchOutput = z.object({
  passages: z
    .array(
      z.object({
        n: z.int(),
        doc_id: z.string(),
        revision: z.string(),
        title: z.string(),
        source: z.string(),
        citation: citationSchema,
        text: z.string(),
      }),
    )
    .describe('Best first.'),
  omitted: z.int().describe('Passages that were found, but had no room in `max_tokens`.'),
  applied_filter: z.unknown(),
  inferred_filter: z.unknown().optional(),
  degraded: z.array(z.string()),
});

const offset = z.int().min(0);

export const documentInput = z
  .strictObject({
    doc_id: docId,
    start: offset.default(0).describe('Where to begin, UTF-16 units of the text.'),
    end: offset.optional().describe('Where to end. Default: the end of the text.'),
    revision: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('The revision that a citation or an earlier range is of; an error once another one is served.'),
    max_tokens: maxTokens,
  })
  .refine(({ start, end = start }) => end >= start, { path: ['end'], message: 'before start' });

export const documentOutput = z.object({
  doc_id: z.string(),
  revision: z.string(),
  title: z.string(),
  text: z.string(),
  start: z.int(),
  end: z.int(),
  length: z.int().describe('Length of the whole text.'),
  next_start: z.int().optional().describe('`start` of the next call, where the range asked for goes on.'),
});

export const sourcesOutput = z.object({
  sources: z.array(sourceSchema),
  fields: z.array(fieldSchema).describe('Fields for `filter`.'),
});

export const statusInput = z.strictObject({
  doc_id: docId,
  wait_s: z
    .number()
    .min(0)
    .max(MAX_WAIT_S)
    .default(0)
    .describe('Seconds to wait until the document is known and no longer `pending`.'),
});

export const statusOutput = documentSchema.omit({ content_hash: true, source_path: true });
