import { z } from 'zod';
import type { ApiDeps } from '../deps.js';
import { readText } from '../documents/text.js';
import type { HttpApp } from '../http-app.js';
import { asQuery } from '../schemas/acting.js';
import { documentParams } from '../schemas/documents.js';
import { docIdField, revisionField } from '../schemas/fields.js';
import { problems } from '../schemas/problem.js';

const offset = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

const query = z
  .strictObject({
    revision: z.string().min(1).max(200).optional().describe('The revision that a citation is of.'),
    start: offset.optional().describe('First UTF-16 unit that is wanted, from 0. Default 0.'),
    end: offset.optional().describe('UTF-16 unit behind the last one wanted. Default: the end of the text.'),
    ...asQuery,
  })
  .refine(({ start = 0, end = start }) => end >= start, { path: ['end'], message: 'before start' });

const answer = z.object({
  doc_id: docIdField,
  revision: revisionField,
  text: z.string().describe('The piece, at most 1,000,000 UTF-16 units.'),
  start: z.int().describe('Where `text` begins, in UTF-16 units from 0.'),
  end: z.int().describe('End of `text`: less than asked when the piece was too long for one answer.'),
  length: z.int().describe('Length of the whole text in UTF-16 units.'),
});

export function textRoute(app: HttpApp, deps: ApiDeps): void {
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
    ({ params, query, caller }) => readText(deps, caller, { ...query, doc_id: params.doc_id }),
  );
}
