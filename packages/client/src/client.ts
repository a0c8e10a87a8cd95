import { isErrorCode, SluiceError } from '@sluice/core';
import createFetchClient, { type Client, type Middleware } from 'openapi-fetch';
import type { paths } from './api.generated.js';

export interface ClientOptions {
  /** Address of the API, as `http://127.0.0.1:4180`. */
  url: string;
  /** A key, once one exists. */
  key?: string;
  /** How requests are sent; default the global fetch, which gives up on an answer that takes five minutes, as verify may. */
  fetch?: (request: Request) => Promise<Response>;
}

export type ApiClient = Client<paths>;

/**
 * The API's client, typed by its OpenAPI document: `await client.POST('/v1/search', { body: { query: 'kettle' } })`.
 *
 * Errors of every call: the problem's code as a SluiceError; `not_ready` when nothing answers there, or something else does.
 */
export function createClient({ url, key, fetch = globalThis.fetch }: ClientOptions): ApiClient {
  const client = createFetchClient<paths>({
    baseUrl: url.replace(/\/+$/, ''),
    headers: { accept: 'application/json', ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
    fetch,
  });
  client.use(throwProblems);
  return client;
}

/** The answer's body. What is no success has been thrown before. */
export function dataOf<T>(answer: { data?: T }): T {
  // openapi-fetch leaves data out for errors alone, and those are thrown by the middleware.
  return answer.data as T;
}

const throwProblems: Middleware = {
  async onResponse({ response }) {
    if (!response.ok) throw errorOf(response.status, await response.text());
    if (!response.headers.get('content-type')?.includes('json')) throw otherServer(response.status);
    return undefined;
  },
  onError({ error, request }) {
    if (error instanceof SluiceError) return error;
    const reason = error instanceof Error ? error.message : String(error);
    const message = `The API at ${new URL(request.url).origin} does not answer: ${reason}`;
    return new SluiceError('not_ready', message, { cause: error });
  },
};

function errorOf(status: number, text: string): SluiceError {
  try {
    const { code, detail, request_id } = JSON.parse(text) as { code?: unknown; detail?: unknown; request_id?: unknown };
    if (typeof code === 'string' && typeof detail === 'string' && isErrorCode(code)) {
      return new SluiceError(code, detail, { details: { status, request_id } });
    }
  } catch {
    // No JSON, so it is not Sluice that answers: a proxy, or another server on that port.
  }
  return otherServer(status);
}

function otherServer(status: number): SluiceError {
  return new SluiceError('not_ready', `What answers there is not Sluice: status ${status}.`);
}
