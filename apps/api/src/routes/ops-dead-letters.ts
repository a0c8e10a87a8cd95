import { type Caller, docUuid, type ReasonCode } from '@sluice/core';
import { z } from 'zod';
import type { ApiDeps } from '../deps.js';
import { type Listed, listDocuments } from '../documents/list.js';
import { isDeadLetter } from '../documents/state.js';
import type { HttpApp } from '../http-app.js';
import { cursorSchema, docIdSchema, pageLimit, reasonSchema, sourceFilter } from '../schemas/documents.js';
import { docIdField, nextCursorField, sourceField, sourcePathField, uuidField } from '../schemas/fields.js';
import { problems } from '../schemas/problem.js';

const letterSchema = z
  .object({
    doc_id: docIdField,
    id: uuidField,
    source: sourceField,
    source_path: sourcePathField,
    code: reasonSchema.describe('Why it could not be ingested.'),
    message: z.string().describe('What happened and what to do, beside the code.'),
    serving: z.boolean().describe('An older revision still answers queries.'),
    failed_at: z.string().describe('When it failed: an instant, as 2024-04-10T12:00:00.000Z.'),
    content_hash: z.string().describe('sha256 of the file that failed; empty when it was never read.'),
  })
  .meta({ id: 'DeadLetter' });

const listQuery = z.strictObject({
  source: sourceFilter,
  code: reasonSchema.optional().describe('Only those of this reason.'),
  limit: pageLimit,
  cursor: cursorSchema,
});

const listAnswer = z.object({
  dead_letters: z.array(letterSchema).describe('In the order of their UUIDs.'),
  next_cursor: nextCursorField,
  clearance: z.int().describe('Of the caller: dead letters above it are left out.'),
});

/** Exactly one way of choosing. */
const choice = z.union([
  z.strictObject({ ids: z.array(docIdSchema).min(1).max(10_000).describe('doc_ids of up to 10,000 of them.') }),
  z.strictObject({ code: reasonSchema.describe('All of this reason.') }),
  z.strictObject({ source: z.string().min(1).max(200).describe('All of the source of this name.') }),
  z.strictObject({ all: z.literal(true).describe('All of them.') }),
]);

/** The same with every member, for reading. */
interface Choice {
  ids?: string[] | undefined;
  code?: ReasonCode | undefined;
  source?: string | undefined;
  all?: true | undefined;
}

const notFound = z.array(z.string()).describe('doc_ids that are no dead letters.');

/** Dead letters are the documents whose status is failed, read from the store. */
export function deadLetterRoutes(app: HttpApp, deps: ApiDeps): void {
  app.get(
    '/ops/api/dead-letters',
    {
      schema: {
        tags: ['operators'],
        summary: 'Documents that could not be ingested',
        querystring: listQuery,
        response: { 200: listAnswer, ...problems() },
      },
    },
    async ({ query, caller }) => {
      const { listed, next_cursor } = await listDocuments(deps, {
        caller,
        limit: query.limit,
        cursor: query.cursor,
        accept: (document) =>
          isLetter(document) &&
          (query.source === undefined || document.source === query.source) &&
          (query.code === undefined || document.state?.top.reason === query.code),
      });
      return {
        dead_letters: listed.flatMap(letterOf),
        ...(next_cursor === undefined ? {} : { next_cursor }),
        clearance: caller.clearance,
      };
    },
  );

  app.post(
    '/ops/api/dead-letters/retry',
    {
      schema: {
        tags: ['operators'],
        summary: 'Try dead letters again',
        body: choice,
        response: {
          202: z.object({ retried: z.int().describe('Documents that were queued.'), not_found: notFound }),
          ...problems(),
        },
      },
    },
    async ({ body: given, caller }, reply) => {
      const body: Choice = given;
      const { chosen, not_found } = await choose(deps, caller, body);
      const requests = chosen.map(({ source, path }) => ({ source, path, cause: 'retry' as const }));
      if (requests.length > 0) await deps.queue.addBulk(requests, body.ids === undefined ? 'bulk' : 'interactive');
      return reply.code(202).send({ retried: requests.length, not_found });
    },
  );

  app.post(
    '/ops/api/dead-letters/discard',
    {
      schema: {
        tags: ['operators'],
        summary: 'Take dead letters off the list',
        description: 'They stay failed and are not retried until their file changes.',
        body: choice,
        response: {
          200: z.object({ discarded: z.int().describe('Documents that were taken off the list.'), not_found: notFound }),
          ...problems(),
        },
      },
    },
    async ({ body, caller }) => {
      const { chosen, not_found } = await choose(deps, caller, body);
      let discarded = 0;
      for (const { source, path } of chosen) {
        if (await deps.discard({ source, path })) discarded += 1;
        else not_found.push(`${source}/${path}`);
      }
      return { discarded, not_found };
    },
  );
}

function isLetter({ state }: Listed): boolean {
  return state !== undefined && isDeadLetter(state);
}

function letterOf({ state, source, path }: Listed): z.infer<typeof letterSchema>[] {
  if (state === undefined) return [];
  const { top, serving } = state;
  return [
    {
      doc_id: top.doc_id,
      id: top.doc_uuid,
      source,
      source_path: path,
      code: top.reason ?? 'internal',
      message: top.message ?? '',
      serving: serving !== undefined,
      failed_at: top.committed_at,
      content_hash: top.content_hash,
    },
  ];
}

/** The dead letters that a body names, as far as the caller may know of them. */
async function choose(deps: ApiDeps, caller: Caller, body: Choice): Promise<{ chosen: Listed[]; not_found: string[] }> {
  const wanted = body.ids === undefined ? undefined : new Map(body.ids.map((id) => [docUuid(id), id]));
  const { listed } = await listDocuments(deps, {
    caller,
    limit: Number.MAX_SAFE_INTEGER,
    accept: (document) =>
      isLetter(document) &&
      (wanted === undefined || wanted.has(document.uuid)) &&
      (body.source === undefined || document.source === body.source) &&
      (body.code === undefined || document.state?.top.reason === body.code),
  });
  for (const { uuid } of listed) wanted?.delete(uuid);
  return { chosen: listed, not_found: [...(wanted?.values() ?? [])] };
}
