import { docUuid, type StoredFeedback } from '@sluice/core';
import { mayKnow } from '@sluice/retrieval';
import { z } from 'zod';
import type { ApiDeps } from '../deps.js';
import { findServing } from '../documents/find.js';
import type { HttpApp } from '../http-app.js';
import { asSchema } from '../schemas/acting.js';
import { cursorSchema, docIdSchema, pageLimit } from '../schemas/documents.js';
import { chunkIdField, docIdField, nextCursorField } from '../schemas/fields.js';
import { problems } from '../schemas/problem.js';
import { searchMembers } from '../schemas/search.js';

const HELPFUL = z.boolean().describe('Whether the result answered the question.');

const feedbackBody = z
  .strictObject({
    query: searchMembers.query.describe('The question, as it was searched for.'),
    doc_id: docIdSchema.describe('doc_id of a result.'),
    chunk_id: z.uuid().optional().describe('chunk_id of a result. Without it the document as a whole is meant.'),
    helpful: HELPFUL,
    as: asSchema,
  })
  .meta({ id: 'FeedbackRequest' });

const feedbackSchema = z
  .object({
    query: z.string().describe('The question.'),
    doc_id: docIdField,
    chunk_id: chunkIdField.optional().describe('UUID of the chunk; absent where the document as a whole is meant.'),
    revision: z.string().describe('Revision of the document that was served then.'),
    helpful: HELPFUL,
    by: z.string().describe('Id of the key that said so; `local` without one.'),
    given_at: z.string().describe('When it was said: an instant, as 2024-04-10T12:00:00.000Z.'),
  })
  .meta({ id: 'Feedback' });

const listAnswer = z.object({
  feedback: z.array(feedbackSchema).describe('In no order that means anything.'),
  next_cursor: nextCursorField,
});

/** Anyone may say of a document that they can see whether it helped. */
export function feedbackRoute(app: HttpApp, deps: ApiDeps): void {
  app.post(
    '/v1/feedback',
    {
      schema: {
        tags: ['search'],
        summary: 'Say whether a result helped',
        description: 'The last word of a key on a question and a result counts. `sluice eval --from-log` makes a data set of it.',
        body: feedbackBody,
        response: { 201: feedbackSchema, ...problems(404) },
      },
    },
    async ({ body, caller }, reply) => {
      const { as: _applied, doc_id, chunk_id, ...given } = body;
      const record = await findServing(deps, caller, doc_id);
      const feedback: StoredFeedback = {
        ...given,
        ...(chunk_id === undefined ? {} : { chunk_id }),
        doc_id: record.doc_id,
        revision: record.revision,
        by: caller.keyId ?? 'local',
        given_at: new Date(deps.clock.now()).toISOString(),
      };
      await deps.feedback.insert(feedback);
      return reply.code(201).send(feedback);
    },
  );
}

/** What was said, of documents that the operator may see. */
export function feedbackListRoute(app: HttpApp, { feedback, store }: Pick<ApiDeps, 'feedback' | 'store'>): void {
  app.get(
    '/ops/api/feedback',
    {
      schema: {
        tags: ['operators'],
        summary: 'List feedback',
        description:
          'A page may be shorter than its limit: feedback on documents that are gone, or hidden from you, is left out.',
        querystring: z.strictObject({ limit: pageLimit, cursor: cursorSchema }),
        response: { 200: listAnswer, ...problems() },
      },
    },
    async ({ query: { limit, cursor }, caller }) => {
      const page = await feedback.list({ limit, ...(cursor === undefined ? {} : { after: cursor }) });
      const records = await store.recordsOf([...new Set(page.feedback.map(({ doc_id }) => docUuid(doc_id)))]);
      const visible = page.feedback.filter(({ doc_id }) => {
        const found = records.get(docUuid(doc_id)) ?? [];
        return found.length > 0 && mayKnow(caller, found);
      });
      return { feedback: visible, ...(page.next === undefined ? {} : { next_cursor: page.next }) };
    },
  );
}
