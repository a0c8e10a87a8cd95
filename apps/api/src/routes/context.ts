import { signalOfClient } from '../calls-at-once.js';
import type { ApiDeps } from '../deps.js';
import type { HttpApp } from '../http-app.js';
import { problems } from '../schemas/problem.js';
import { contextBody } from '../schemas/search.js';
import { contextAnswer } from '../schemas/search-answers.js';

export function contextRoute(app: HttpApp, { retrieval }: ApiDeps): void {
  app.post(
    '/v1/context',
    {
      schema: {
        tags: ['search'],
        summary: 'Context for a language model',
        description: 'Searches, and joins what was found to numbered sources within a token budget.',
        body: contextBody,
        response: { 200: contextAnswer, ...problems() },
      },
    },
    async (request, reply) => {
      const { as: _applied, ...query } = request.body;
      return retrieval.context(query, request.caller, signalOfClient(reply));
    },
  );
}
