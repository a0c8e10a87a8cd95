import { type Caller, makeDocId, SluiceError } from '@sluice/core';
import { documentFilter } from '@sluice/retrieval';
import { z } from 'zod';
import type { ApiDeps } from '../deps.js';
import { findDocument, uuidOf } from '../documents/find.js';
import { type Listed, listDocuments, listedView } from '../documents/list.js';
import type { HttpApp } from '../http-app.js';
import { asQuery } from '../schemas/acting.js';
import { cursorSchema, documentParams, documentSchema, pageLimit, sourceFilter, statusSchema } from '../schemas/documents.js';
import { nextCursorField } from '../schemas/fields.js';
import { problems } from '../schemas/problem.js';

/** JSON in a query. */
function readJson(text: string, context: z.RefinementCtx): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    context.addIssue('must be JSON');
    return z.NEVER;
  }
}

const listQuery = z.strictObject({
  status: statusSchema.optional(),
  source: sourceFilter,
  limit: pageLimit,
  cursor: cursorSchema,
  doc_id: z.string().min(1).max(4200).optional().describe('One document, as a list of one or none.'),
  path_prefix: z.string().max(4096).optional().describe('Documents whose `source_path` begins so.'),
  filter: z
    .string()
    .max(20_000)
    .transform(readJson)
    .optional()
    .describe('Conditions on metadata as JSON: `{"doc_type":"report"}`. Those of searches, but for `kind`.'),
  ...asQuery,
});

const listAnswer = z.object({
  documents: z.array(documentSchema).describe('In the order of their UUIDs.'),
  next_cursor: nextCursorField,
  degraded: z.array(z.literal('queue_unavailable')).optional().describe('Redis does not answer, so nothing shows as pending.'),
});

export function documentRoutes(app: HttpApp, deps: ApiDeps): void {
  app.get(
    '/v1/documents',
    {
      schema: {
        tags: ['documents'],
        summary: 'List documents',
        querystring: listQuery,
        response: { 200: listAnswer, ...problems() },
      },
    },
    async ({ query, caller }) => {
      const fits = query.filter === undefined ? undefined : documentFilter(query.filter, deps.catalog);
      if (query.doc_id !== undefined && fits === undefined) return { documents: await listOne(deps, caller, query) };
      const { listed, next_cursor, pendingKnown } = await listDocuments(deps, {
        caller,
        limit: query.limit,
        cursor: query.cursor,
        pendingOnly: query.status === 'pending',
        accept: ({ uuid, source, path, state }) =>
          (fits === undefined || fits({ doc_id: makeDocId(source, path), source, source_path: path, ...metadataOf(state) })) &&
          (query.doc_id === undefined || uuid === uuidOf(query.doc_id)) &&
          (query.source === undefined || source === query.source) &&
          (query.path_prefix === undefined || path.startsWith(query.path_prefix)) &&
          (query.status === undefined || (state?.status ?? 'pending') === query.status),
      });
      return {
        documents: listed.map(listedView),
        ...(next_cursor === undefined ? {} : { next_cursor }),
        ...(pendingKnown ? {} : { degraded: ['queue_unavailable' as const] }),
      };
    },
  );

  app.get(
    '/v1/documents/:doc_id',
    {
      schema: {
        tags: ['documents'],
        summary: 'One document',
        params: documentParams,
        querystring: z.strictObject(asQuery),
        response: { 200: documentSchema, ...problems(404) },
      },
    },
    ({ params, caller }) => findDocument(deps, caller, params.doc_id),
  );
}

/** A document that the query names, where the rest of the query holds for it. */
async function listOne(
  deps: ApiDeps,
  caller: Caller,
  { doc_id = '', status, source, path_prefix = '' }: z.infer<typeof listQuery>,
) {
  try {
    const document = await findDocument(deps, caller, doc_id);
    const fits =
      (status === undefined || document.status === status) &&
      (source === undefined || document.source === source) &&
      document.source_path.startsWith(path_prefix);
    return fits ? [document] : [];
  } catch (error) {
    if (error instanceof SluiceError && error.code === 'not_found') return [];
    throw error;
  }
}

function metadataOf(state: Listed['state']) {
  return state === undefined ? {} : { metadata: state.top.metadata };
}
