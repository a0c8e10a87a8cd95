import { setTimeout as sleep } from 'node:timers/promises';

export interface RetryOptions {
  /** How requests are sent. */
  fetch: (request: Request) => Promise<Response>;
  /** Times that a request is sent again. */
  retries: number;
  /** Limit on one attempt, ms; undefined: none. */
  timeoutMs: number | undefined;
}

/** Longest wait before a request is sent again, ms. An answer that asks for more is given to the caller. */
const MAX_WAIT_MS = 30_000;

/**
 * Sends a request again that was answered 429 or 503 with a Retry-After, after that time. Only reads are: what they ask for may be
 * asked for twice.
 */
export function createRetryingFetch({ fetch, retries, timeoutMs }: RetryOptions): (request: Request) => Promise<Response> {
  const send = (request: Request) => {
    if (timeoutMs === undefined) return fetch(request);
    return fetch(new Request(request, { signal: AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]) }));
  };
  return async (request) => {
    for (let left = isRead(request) ? retries : 0; ; left -= 1) {
      // A body can be sent once.
      const response = await send(left > 0 ? request.clone() : request);
      const waitMs = left > 0 ? waitOf(response) : undefined;
      if (waitMs === undefined) return response;
      await response.body?.cancel();
      await sleep(waitMs, undefined, { signal: request.signal });
    }
  };
}

function isRead({ method, url }: Request): boolean {
  return method === 'GET' || (method === 'POST' && /^\/v1\/(search|context|answer)(\/|$)/.test(new URL(url).pathname));
}

/** Retry-After in seconds, or as a date. */
function waitOf({ status, headers }: Response): number | undefined {
  const said = headers.get('retry-after');
  if ((status !== 429 && status !== 503) || said === null) return undefined;
  const ms = /^\d+$/.test(said) ? Number(said) * 1000 : Date.parse(said) - Date.now();
  return ms <= MAX_WAIT_MS ? Math.max(0, ms) : undefined;
}
