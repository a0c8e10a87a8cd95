import { docUuid, SluiceError } from '@sluice/core';
import { mayReach } from '@sluice/metadata';
import { z } from 'zod';
import type { ApiDeps } from '../deps.js';
import type { HttpApp } from '../http-app.js';
import { docIdSchema } from '../schemas/documents.js';
import { docIdField, sourceField, uuidField } from '../schemas/fields.js';
import { problems } from '../schemas/problem.js';

const body = z.union([
  z.strictObject({ source: z.string().min(1).max(200).optional().describe('Name of a source. Default: all of them.') }),
  z.strictObject({
    doc_id: docIdSchema.optional(),
    doc_ids: z.array(docIdSchema).max(10_000).optional().describe('doc_ids of up to 10,000 documents.'),
  }),
]);

const answer = z.object({
  scans: z
    .array(
      z.object({
        source: sourceField.describe('Name of the source.'),
        request: z.int().describe('Number of the scan request; they grow.'),
      }),
    )
    .describe('Done when `scanned` of the source reaches `request`.'),
  documents: z.array(z.object({ doc_id: docIdField, id: uuidField })).describe('Documents that were queued.'),
});

/** Has whole sources scanned, or single documents looked at again. */
export function reconcileRoute(app: HttpApp, deps: ApiDeps): void {
  app.post(
    '/ops/api/reconcile',
    {
      schema: {
        tags: ['operators'],
        summary: 'Make the store agree with the disk',
        description: 'One source, some documents, or with an empty body all sources.',
        body,
        response: { 202: answer, ...problems(404) },
      },
    },
    async (request, reply) => {
      const known = new Set(deps.sources.map(({ name }) => name).filter((name) => mayReach(request.caller, name)));
      const { source, doc_id, doc_ids } = { source: undefined, doc_id: undefined, doc_ids: undefined, ...request.body };
      const docIds = [...(doc_id === undefined ? [] : [doc_id]), ...(doc_ids ?? [])];
      if (docIds.length > 0 || doc_ids !== undefined) {
        const paths = docIds.map((id) => placeOf(id, known));
        await deps.queue.addBulk(
          paths.map((place) => ({ ...place, cause: 'change' as const })),
          'interactive',
        );
        return reply.code(202).send({ scans: [], documents: docIds.map((id) => ({ doc_id: id, id: docUuid(id) })) });
      }
      if (source !== undefined && !known.has(source)) throw new SluiceError('not_found', `No source ${source} is configured.`);
      const names = source === undefined ? [...known] : [source];
      const scans = await Promise.all(
        names.map(async (name) => ({ source: name, request: await deps.control.requestScan(name) })),
      );
      return reply.code(202).send({ scans, documents: [] });
    },
  );
}

function placeOf(docId: string, known: ReadonlySet<string>): { source: string; path: string } {
  const [source = '', ...parts] = docId.split('/');
  if (!known.has(source)) throw new SluiceError('not_found', `${docId}: no source ${source} is configured.`);
  const isPath = parts.length > 0 && parts.every((part) => part !== '' && part !== '.' && part !== '..' && !part.includes('\0'));
  if (!isPath)
    throw new SluiceError('not_found', `${docId} names no document: it must read <source>/<path>, without . or .. parts.`);
  return { source, path: parts.join('/') };
}
