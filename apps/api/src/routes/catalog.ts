import { z } from 'zod';
import type { ApiDeps } from '../deps.js';
import type { Counter } from '../documents/counts.js';
import type { HttpApp } from '../http-app.js';
import { asQuery } from '../schemas/acting.js';
import { problems } from '../schemas/problem.js';
import { countsSchema } from '../schemas/status.js';

const sourcesAnswer = z.object({
  sources: z.array(
    z.object({
      name: z.string(),
      configured: z.boolean().describe('False for a source that left the configuration; its documents stay until it is removed.'),
      documents: countsSchema,
    }),
  ),
});

const schemaAnswer = z.object({
  fields: z.array(z.object({ name: z.string(), type: z.enum(['text', 'int', 'number', 'date', 'boolean']), list: z.boolean() })),
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
    async ({ caller }) => {
      const { sources } = await counter.count(caller);
      const configured = new Set(deps.sources.map(({ name }) => name));
      return {
        sources: [...sources].map(([name, documents]) => ({ name, configured: configured.has(name), documents })),
      };
    },
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
    async () => ({ fields: [...deps.catalog].map(([name, { type, list }]) => ({ name, type, list })) }),
  );
}
