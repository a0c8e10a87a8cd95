import { z } from 'zod';
import type { ApiDeps } from '../deps.js';
import type { HttpApp } from '../http-app.js';
import { problems } from '../schemas/problem.js';

const named = {
  model: z.string().describe('Identity of the embedding model.'),
  collection: z.string().describe('Collection of the store that holds its chunks.'),
};
const modelsAnswer = z
  .object({
    live: z.object(named).describe('Answers searches.'),
    next: z
      .object({
        ...named,
        since: z.number().describe('When it was begun, in Unix milliseconds.'),
        documents: z.int().describe('Of the live index.'),
        done: z.int().describe('Those that stand in the new index as in the live one.'),
        failed: z.int().describe('Those that failed in the new index alone: it does not answer before they are dealt with.'),
        remaining_s: z.int().optional().describe('Seconds that it will take at the rate so far; absent before there is one.'),
      })
      .optional()
      .describe('Being built; answers once it is complete.'),
    previous: z
      .object({ ...named, until: z.number().describe('When it is removed, in Unix milliseconds.') })
      .optional()
      .describe('Answered before; kept for a rollback until then, in Unix milliseconds.'),
    unused: z.array(z.string()).describe('Collections that nothing uses.'),
  })
  .meta({ id: 'Models' });

/** Which model answers, and how another one takes its place. */
export function modelRoutes(app: HttpApp, deps: ApiDeps): void {
  app.get(
    '/ops/api/models',
    {
      schema: {
        tags: ['operators'],
        summary: 'The model that answers, the one that is being built, and collections that nothing uses',
        response: { 200: modelsAnswer, ...problems() },
      },
    },
    () => deps.models.status(),
  );

  app.post(
    '/ops/api/models',
    {
      schema: {
        tags: ['operators'],
        summary: 'Build the index of another model, end that, go back, or remove what nothing uses',
        body: z.discriminatedUnion('action', [
          z.strictObject({
            action: z.literal('build').describe('Begins the index of a model.'),
            model: z.string().min(1).max(500).describe('Name of the model, as the configuration takes it.'),
            folder: z
              .string()
              .min(1)
              .max(4096)
              .optional()
              .describe('Of its files. Default: the endpoint that sluice.yaml names.'),
          }),
          z.strictObject({
            action: z
              .enum(['abort', 'rollback', 'prune'])
              .describe('Ends the building, goes back to the model before, or removes what nothing uses.'),
          }),
        ]),
        response: {
          200: z.object({ removed: z.array(z.string()).describe('Collections that `prune` has removed; else none.') }),
          ...problems(409),
        },
      },
    },
    async ({ body }) => {
      if (body.action === 'prune') return { removed: await deps.models.prune() };
      if (body.action === 'build') await deps.models.build(body);
      else if (body.action === 'abort') await deps.models.abort();
      else await deps.models.rollBack();
      return { removed: [] };
    },
  );
}
