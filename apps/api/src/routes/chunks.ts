import { type CommitRecord, type ManifestEntry, SluiceError, type StoredChunk } from '@sluice/core';
import { publicMetadata } from '@sluice/retrieval';
import { z } from 'zod';
import type { ApiDeps } from '../deps.js';
import { findServing } from '../documents/find.js';
import type { HttpApp } from '../http-app.js';
import { asQuery } from '../schemas/acting.js';
import { documentParams, pageLimit } from '../schemas/documents.js';
import {
  chunkIdField,
  docIdField,
  endField,
  headingsField,
  metadataField,
  nextCursorField,
  pageEndField,
  pageStartField,
  revisionField,
  startField,
} from '../schemas/fields.js';
import { problems } from '../schemas/problem.js';

const chunkSchema = z
  .object({
    chunk_id: chunkIdField,
    index: z.int().describe('Place among the chunks of the document, from 0.'),
    kind: z.string().describe('Kind of what it holds, as `paragraph`, `table` or `code`; `text` where kinds mix.'),
    text: z.string().describe('Its text: `prefix`, and behind it the parsed text from `start` to `end`, unless it is derived.'),
    start: startField,
    end: endField,
    prefix: z.string().describe('A repeated table header that stands before the text; empty as a rule.'),
    derived: z.boolean().describe('True for a proposition: its span is that of the passage it was made from.'),
    embedding_text: z.string().optional().describe('What was embedded, where that differs from `text`.'),
    heading_path: headingsField,
    page_start: pageStartField.optional(),
    page_end: pageEndField.optional(),
    tokens: z.int().describe("Tokens of what was embedded, by the embedding model's tokenizer, its special tokens included."),
    window_start: z.int().optional().describe('Where the sentences around it begin, UTF-16 units; with sentence-window alone.'),
    window_end: z.int().optional().describe('Where the sentences around it end, UTF-16 units; with sentence-window alone.'),
    original_sentence: z.string().optional().describe('The sentence that it is, or is a piece of; with sentence-window alone.'),
    sentence_index: z.int().optional().describe('Place of that sentence in the document, from 0.'),
    parent_id: z.string().optional().describe('Names the larger passage that it is of; with parent-document alone.'),
    parent_start: z.int().optional().describe('Where that passage begins, UTF-16 units.'),
    parent_end: z.int().optional().describe('Where that passage ends, UTF-16 units.'),
    metadata: metadataField.describe('Metadata of the document and of the chunk, by field.'),
  })
  .meta({ id: 'Chunk' });

const droppedSchema = z.object({
  text: z.string().describe('The fact, as the language model wrote it.'),
  reason: z.string().describe('What of it is not in the passage.'),
  start: z.int().describe('Where the passage begins in the parsed text, UTF-16 units.'),
  end: z.int().describe('Where the passage ends, UTF-16 units.'),
});

/** Place of a chunk, and the revision that it is of. */
const CURSOR = /^after-([0-9]{1,9})-(.{1,200})$/;

const query = z.strictObject({
  limit: pageLimit,
  cursor: z
    .string()
    .max(300)
    .regex(CURSOR, 'not a cursor of a page before')
    .optional()
    .describe('`next_cursor` of the page before: 409 when another revision is served by now.'),
  dropped: z
    .enum(['true', 'false'])
    .default('false')
    .describe('Lists the facts that propositions dropped, all at once, instead of chunks. Default false.'),
  revision: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('The revision of the page before: 409 when another one is served by now.'),
  ...asQuery,
});

const answer = z.object({
  doc_id: docIdField,
  revision: revisionField,
  chunks: z.array(chunkSchema).optional().describe('In the order of the text.'),
  dropped: z.array(droppedSchema).optional().describe('With `dropped=true` alone.'),
  next_cursor: nextCursorField,
});

export function chunkRoute(app: HttpApp, deps: ApiDeps): void {
  const { reading } = deps.retrieval;
  app.get(
    '/v1/documents/:doc_id/chunks',
    {
      schema: {
        tags: ['documents'],
        summary: 'Chunks of the revision that is served',
        params: documentParams,
        querystring: query,
        response: { 200: answer, ...problems(404, 409) },
      },
    },
    ({ params, query: { limit, cursor, dropped, revision }, caller }) =>
      reading.whole(async () => {
        const [, place = '0', ofPage] = CURSOR.exec(cursor ?? '') ?? [];
        const record = await findServing(deps, caller, params.doc_id, revision ?? ofPage);
        if (ofPage !== undefined && ofPage !== record.revision)
          throw new SluiceError('revision_outdated', `${record.doc_id}: the cursor is of another revision.`, {
            details: { revision: record.revision },
          });
        const manifest = await reading.manifest(record);
        const head = { doc_id: record.doc_id, revision: record.revision };
        if (dropped === 'true') return { ...head, dropped: manifest.dropped };
        const from = Number(place);
        const entries = manifest.entries.slice(from, from + limit);
        const chunks = await reading.chunks(entries.map(({ id }) => id));
        const byId = new Map(chunks.map((chunk) => [chunk.id, chunk]));
        return {
          ...head,
          chunks: entries.flatMap((entry, offset) => {
            const chunk = byId.get(entry.id);
            return chunk === undefined ? [] : [chunkView(record, entry, chunk, from + offset)];
          }),
          ...(from + limit < manifest.entries.length ? { next_cursor: `after-${from + limit}-${record.revision}` } : {}),
        };
      }),
  );
}

function chunkView(record: CommitRecord, entry: ManifestEntry, chunk: StoredChunk, index: number) {
  return {
    chunk_id: entry.id,
    index,
    kind: entry.kind,
    text: chunk.text,
    start: entry.start,
    end: entry.end,
    prefix: entry.prefix,
    derived: entry.derived,
    embedding_text: chunk.embedding_text,
    heading_path: entry.headingPath,
    page_start: entry.pageStart,
    page_end: entry.pageEnd,
    tokens: entry.tokens,
    window_start: entry.windowStart,
    window_end: entry.windowEnd,
    original_sentence: entry.originalSentence,
    sentence_index: entry.sentenceIndex,
    parent_id: entry.parentId,
    parent_start: entry.parentStart,
    parent_end: entry.parentEnd,
    metadata: { ...publicMetadata(record.metadata), ...entry.metadata },
  };
}
