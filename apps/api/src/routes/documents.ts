import { z } from 'zod';
import type { ApiDeps } from '../deps.js';
import { findDocument } from '../documents/find.js';
import { listDocuments, listedView } from '../documents/list.js';
import type { HttpApp } from '../http-app.js';
import { cursorSchema, documentParams, documentSchema, pageLimit, statusSchema } from '../schemas/documents.js';
import { problems } from '../schemas/problem.js';

const listQuery = z.strictObject({
  status: statusSchema.optional(),
  source: z.string().max(200).optional(),
  limit: pageLimit,
  cursor: cursorSchema,
});

const listAnswer = z.object({
  documents: z.array(documentSchema),
  next_cursor: z.string().optional(),
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
      const { listed, next_cursor, pendingKnown } = await listDocuments(deps, {
        caller,
        limit: query.limit,
        cursor: query.cursor,
        pendingOnly: query.status === 'pending',
        accept: ({ source, state }) =>
          (query.source === undefined || source === query.source) &&
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
        querystring: z.strictObject({}),
        response: { 200: documentSchema, ...problems(404) },
      },
    },
    ({ params, caller }) => findDocument(deps, caller, params.doc_id),
  );
}
