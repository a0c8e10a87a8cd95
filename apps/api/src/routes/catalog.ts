import { z } from 'zod';
import type { ApiDeps } from '../deps.js';
import { fieldSchema, listFields, listSources, sourceSchema } from '../documents/catalog.js';
import type { Counter } from '../documents/counts.js';
import type { HttpApp } from '../http-app.js';
import { asQuery } from '../schemas/acting.js';
import { problems } from '../schemas/problem.js';

const sourcesAnswer = z.object({
  sources: z.array(sourceSchema).describe('The configured sources, and those that only have documents left.'),
});
const schemaAnswer = z.object({
  fields: z.array(fieldSchema).describe('The built-in fields, and those that the configuration declares.'),
});

/** What a program may search in and filter by. */
export function catalogRoutes(app: HttpApp, deps: ApiDeps, counter: Counter): void {
  app.get(
    '/v1/sources',
    {
      schema: {
        tags: ['documents'],
        summary: 'Sources with their counts',
        querystring: z.strictObject(asQuery),
        response: { 200: sourcesAnswer, ...problems() },
      },
    },
    async ({ caller }) => ({ sources: await listSources(deps, counter, caller) }),
  );

  app.get(
    '/v1/schema',
    {
      schema: {
        tags: ['search'],
        summary: 'Filterable fields',
        querystring: z.strictObject(asQuery),
        response: { 200: schemaAnswer, ...problems() },
      },
    },
    async () => ({ fields: listFields(deps) }),
  );
}
