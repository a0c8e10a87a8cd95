import { type Caller, SluiceError, toSluiceError } from '@sluice/core';
import type { SearchAnswer, SearchResult } from '@sluice/retrieval';
import type { z } from 'zod';
import { signalOfClient } from '../calls-at-once.js';
import type { ApiDeps } from '../deps.js';
import type { HttpApp } from '../http-app.js';
import { problems } from '../schemas/problem.js';
import { batchBody, searchBody } from '../schemas/search.js';
import { batchAnswer, searchAnswer } from '../schemas/search-answers.js';

type Searched = z.infer<typeof batchBody>['queries'][number];

export function searchRoutes(app: HttpApp, { retrieval }: ApiDeps): void {
  async function search({ include, query = '', group_by, ...rest }: Searched, caller: Caller, signal: AbortSignal) {
    const grouping = group_by ?? (rest.like === undefined ? 'none' : 'document');
    const answer = await retrieval.search({ ...rest, query, group_by: grouping }, caller, signal);
    return include === undefined ? answer : chosenOf(answer, include);
  }

  app.post(
    '/v1/search',
    {
      schema: {
        tags: ['search'],
        summary: 'Search',
        description: 'Finds chunks by meaning, by words or both, within what the caller may see.',
        body: searchBody,
        response: { 200: searchAnswer, ...problems(404) },
      },
    },
    async (request, reply) => {
      const { as: _applied, ...query } = request.body;
      return search(query, request.caller, signalOfClient(reply));
    },
  );

  app.post(
    '/v1/search/batch',
    {
      schema: {
        tags: ['search'],
        summary: 'Several searches',
        description: 'Searches for each query, all with the rights of one caller. One that is not valid fails the request.',
        body: batchBody,
        response: { 200: batchAnswer, ...problems(404) },
      },
    },
    async ({ body: { queries }, caller }, reply) => {
      const signal = signalOfClient(reply);
      return { answers: await Promise.all(queries.map((query, n) => search(query, caller, signal).catch(named(n)))) };
    },
  );
}

/** The results with the members that were asked for alone. */
function chosenOf({ results, ...about }: SearchAnswer, include: readonly string[]) {
  const whole = new Set(include);
  const fields = include.flatMap((path) => (path.startsWith('metadata.') ? [path.slice('metadata.'.length)] : []));
  const chosen = ({ metadata, ...members }: SearchResult): Partial<SearchResult> => {
    const some = Object.fromEntries(Object.entries(metadata).filter(([name]) => fields.includes(name)));
    const shown = whole.has('metadata') ? { metadata } : fields.length > 0 ? { metadata: some } : {};
    return { ...Object.fromEntries(Object.entries(members).filter(([name]) => whole.has(name))), ...shown };
  };
  return { results: results.map(chosen), ...about };
}

/** Says which query of several it was. */
function named(n: number): (error: unknown) => never {
  return (cause) => {
    const { code, message, details } = toSluiceError(cause);
    throw new SluiceError(code, `queries/${n}: ${message}`, { cause, ...(details === undefined ? {} : { details }) });
  };
}
