import { SluiceError } from '@sluice/core';
import type { App } from '../app.js';
import type { ApiDeps } from '../deps.js';
import { problems } from '../schemas/problem.js';
import { searchAnswer, searchBody } from '../schemas/search.js';

/** Members of the request whose feature this version does not have: an error beats an answer that ignores them. */
const NOT_BUILT = ['now', 'timezone', 'diversity', 'collection'] as const;

export function searchRoute(app: App, { retrieval }: ApiDeps): void {
  app.post(
    '/v1/search',
    {
      schema: {
        tags: ['search'],
        summary: 'Search',
        description: 'Finds chunks by meaning, by words or both, within what the caller may see.',
        body: searchBody,
        response: { 200: searchAnswer, ...problems(413, 415) },
      },
    },
    async (request) => {
      const { infer_filter, now, timezone, diversity, collection, ...query } = request.body;
      const asked = { now, timezone, diversity, collection };
      const absent = NOT_BUILT.find((name) => asked[name] !== undefined) ?? (infer_filter ? 'infer_filter' : undefined);
      if (absent !== undefined) throw new SluiceError('invalid_request', `body/${absent}: not available in this version`);
      return retrieval.search(query, request.caller);
    },
  );
}
