import { SluiceError } from '@sluice/core';
import { z } from 'zod';
import type { ApiDeps } from '../deps.js';
import { findServing } from '../documents/find.js';
import type { HttpApp } from '../http-app.js';
import { asQuery } from '../schemas/acting.js';
import { documentParams } from '../schemas/documents.js';
import { problems } from '../schemas/problem.js';

/** UTF-16 units of one answer; what is longer is read piece by piece. */
const MAX_UNITS = 1_000_000;

const offset = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

const query = z.strictObject({
  revision: z.string().min(1).max(200).optional().describe('The revision that a citation is of.'),
  start: offset.optional(),
  end: offset.optional(),
  ...asQuery,
});

const answer = z.object({
  doc_id: z.string(),
  revision: z.string(),
  text: z.string(),
  start: z.int(),
  end: z.int().describe('End of `text`: less than asked when the piece was too long for one answer.'),
  length: z.int().describe('Length of the whole text in UTF-16 units.'),
});

export function textRoute(app: HttpApp, deps: ApiDeps): void {
  const { reading } = deps.retrieval;
  app.get(
    '/v1/documents/:doc_id/text',
    {
      schema: {
        tags: ['documents'],
        summary: 'Parsed text of the revision that is served',
        description: 'What citations are checked against. 409 `revision_outdated` names the current revision.',
        params: documentParams,
        querystring: query,
        response: { 200: answer, ...problems(404, 409) },
      },
    },
    ({ params, query: { revision, start = 0, end }, caller }) =>
      reading.whole(async () => {
        const record = await findServing(deps, caller, params.doc_id, revision);
        if (end !== undefined && end < start) throw new SluiceError('invalid_request', 'querystring/end: before start');
        const { length } = await reading.manifest(record);
        const from = Math.min(start, length);
        const to = Math.min(end ?? length, length, from + MAX_UNITS);
        const text = await reading.text(record, from, to);
        return { doc_id: record.doc_id, revision: record.revision, text, start: from, end: to, length };
      }),
  );
}
