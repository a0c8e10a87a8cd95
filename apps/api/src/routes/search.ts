import { signalOfClient } from '../calls-at-once.js';
import type { ApiDeps } from '../deps.js';
import type { HttpApp } from '../http-app.js';
import { problems } from '../schemas/problem.js';
import { searchAnswer, searchBody } from '../schemas/search.js';

export function searchRoute(app: HttpApp, { retrieval }: ApiDeps): void {
  app.post(
    '/v1/search',
    {
      schema: {
        tags: ['search'],
        summary: 'Search',
        description: 'Finds chunks by meaning, by words or both, within what the caller may see.',
        body: searchBody,
        response: { 200: searchAnswer, ...problems() },
      },
    },
    async (request, reply) => {
      const { as: _applied, ...query } = request.body;
      return retrieval.search(query, request.caller, signalOfClient(reply));
    },
  );
}
