import { SluiceError } from '@sluice/core';
import createFetchClient, { type Client, type Middleware } from 'openapi-fetch';
import type { components, paths } from './api.generated.js';
import { errorOf, otherServer } from './problems.js';
import { createRetryingFetch } from './retrying-fetch.js';

export interface ClientOptions {
  /** Address of the API, as `http://127.0.0.1:4180`. */
  url: string;
  /** A key, once one exists. */
  key?: string;
  /** How requests are sent; default the global fetch, which gives up on an answer that takes five minutes, as verify may. */
  fetch?: (request: Request) => Promise<Response>;
  /** Times that a read is sent again after 429 or 503 with a Retry-After; default 2. */
  retries?: number;
  /** Limit on one attempt, ms; default none. */
  timeoutMs?: number;
}

type SearchRequest = Omit<components['schemas']['SearchRequest'], 'include'>;
type SearchAnswer = components['schemas']['SearchAnswer'];
type DocumentView = components['schemas']['Document'];
type ListQuery = Omit<NonNullable<paths['/v1/documents']['get']['parameters']['query']>, 'cursor'>;

export interface ApiClient extends Client<paths> {
  /** A search with whole results; for `include` call the route. */
  search(request: SearchRequest, options?: { signal?: AbortSignal }): Promise<SearchAnswer>;
  documents: {
    /** Every document that matches, page by page: `limit` is the size of a page. */
    list(query?: ListQuery, options?: { signal?: AbortSignal }): AsyncGenerator<DocumentView, void, undefined>;
  };
}

/**
 * The API's client, typed by its OpenAPI document: `await client.search({ query: 'kettle' })`, and every route as
 * `await client.GET('/v1/sources')`.
 *
 * Errors of every call: the problem's code as a SluiceError, whose `details` are the whole problem; `not_ready` when nothing answers
 * there in time, or something else does; the signal's reason.
 */
export function createClient({ url, key, fetch = globalThis.fetch, retries = 2, timeoutMs }: ClientOptions): ApiClient {
  const client = createFetchClient<paths>({
    baseUrl: url.replace(/\/+$/, ''),
    headers: { accept: 'application/json', ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
    fetch: createRetryingFetch({ fetch, retries, timeoutMs }),
  });
  client.use(throwProblems);
  return {
    ...client,
    async search(body, { signal } = {}) {
      const answer = await client.POST('/v1/search', { body, ...(signal === undefined ? {} : { signal }) });
      // Without `include` every result is whole.
      return dataOf(answer) as SearchAnswer;
    },
    documents: {
      async *list(query = {}, { signal } = {}) {
        let cursor: string | undefined;
        do {
          const params = { query: { limit: PAGE_LIMIT, ...query, ...(cursor === undefined ? {} : { cursor }) } };
          const page = dataOf(await client.GET('/v1/documents', { params, ...(signal === undefined ? {} : { signal }) }));
          yield* page.documents;
          cursor = page.next_cursor;
        } while (cursor !== undefined);
      },
    },
  };
}

/** Largest page that listings give. */
const PAGE_LIMIT = 1000;

/** The answer's body. What is no success has been thrown before. */
export function dataOf<T>(answer: { data?: T }): T {
  // openapi-fetch leaves data out for errors alone, and those are thrown by the middleware.
  return answer.data as T;
}

const throwProblems: Middleware = {
  async onResponse({ response }) {
    if (!response.ok) throw errorOf(response.status, await response.text());
    if (response.status === 204) return undefined;
    if (!/json|event-stream/.test(response.headers.get('content-type') ?? '')) throw otherServer(response.status);
    return undefined;
  },
  onError({ error, request }) {
    if (error instanceof SluiceError) return error;
    // Who aborts knows why.
    if (request.signal.aborted) return error instanceof Error ? error : new Error(String(error));
    const reason = error instanceof Error ? error.message : String(error);
    const message = `The API at ${new URL(request.url).origin} does not answer: ${reason}`;
    return new SluiceError('not_ready', message, { cause: error });
  },
};
