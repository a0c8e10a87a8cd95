import { type CommitRecord, type ManifestEntry, SluiceError, type StoredChunk } from '@sluice/core';
import { publicMetadata } from '@sluice/retrieval';
import { z } from 'zod';
import type { ApiDeps } from '../deps.js';
import { findServing } from '../documents/find.js';
import type { HttpApp } from '../http-app.js';
import { asQuery } from '../schemas/acting.js';
import { documentParams } from '../schemas/documents.js';
import { problems } from '../schemas/problem.js';

const chunkSchema = z
  .object({
    chunk_id: z.string(),
    index: z.int(),
    kind: z.string(),
    text: z.string(),
    start: z.int(),
    end: z.int(),
    prefix: z.string(),
    derived: z.boolean(),
    embedding_text: z.string().optional(),
    heading_path: z.array(z.string()),
    page_start: z.int().optional(),
    page_end: z.int().optional(),
    tokens: z.int(),
    window_start: z.int().optional(),
    window_end: z.int().optional(),
    original_sentence: z.string().optional(),
    sentence_index: z.int().optional(),
    parent_id: z.string().optional(),
    parent_start: z.int().optional(),
    parent_end: z.int().optional(),
    metadata: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'Chunk' });

const droppedSchema = z.object({ text: z.string(), reason: z.string(), start: z.int(), end: z.int() });

/** Place of a chunk, and the revision that it is of. */
const CURSOR = /^after-([0-9]{1,9})-(.{1,200})$/;

const query = z.strictObject({
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  cursor: z
    .string()
    .max(300)
    .regex(CURSOR, 'not a cursor of a page before')
    .optional()
    .describe('`next_cursor` of the page before: 409 when another revision is served by now.'),
  dropped: z.enum(['true', 'false']).default('false').describe('Lists the facts that propositions dropped, instead of chunks.'),
  revision: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('The revision of the page before: 409 when another one is served by now.'),
  ...asQuery,
});

const answer = z.object({
  doc_id: z.string(),
  revision: z.string(),
  chunks: z.array(chunkSchema).optional(),
  dropped: z.array(droppedSchema).optional(),
  next_cursor: z.string().optional(),
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
