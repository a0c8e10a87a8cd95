import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isErrorCode, SluiceError } from '@sluice/core';
import { notRunning } from './exit.js';

export interface Api {
  readonly url: string;
  get<T>(path: string, query?: Record<string, string | number | boolean | undefined>): Promise<T>;
  post<T>(path: string, body?: unknown): Promise<T>;
}

/** Speaks to a running API. Answers that are errors become SluiceErrors with the problem's code. */
export function createApi(url: string, key?: string): Api {
  const base = url.replace(/\/+$/, '');

  async function send<T>(method: string, path: string, body?: unknown): Promise<T> {
    const { status, text } = await exchange(method, `${base}${path}`, key, body);
    if (status >= 200 && status < 300) return JSON.parse(text) as T;
    throw errorOf(status, text);
  }

  return {
    url: base,
    get: (path, query = {}) => send('GET', withQuery(path, query)),
    post: (path, body) => send('POST', path, body),
  };
}

function withQuery(path: string, query: Record<string, string | number | boolean | undefined>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  const text = search.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** By node:http, since fetch gives up on an answer that takes five minutes, as verify may. */
function exchange(
  method: string,
  url: string,
  key: string | undefined,
  body: unknown,
): Promise<{ status: number; text: string }> {
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const send = url.startsWith('https:') ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const headers: Record<string, string> = { accept: 'application/json' };
    if (key !== undefined) headers.authorization = `Bearer ${key}`;
    if (payload !== undefined) headers['content-type'] = 'application/json';
    if (payload !== undefined) headers['content-length'] = String(Buffer.byteLength(payload));
    const failed = (error: Error) =>
      reject(notRunning(`The API at ${new URL(url).origin} does not answer: ${error.message}`, error));
    const sent = send(url, { method, headers }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', failed);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString('utf8') }));
    });
    sent.on('error', failed);
    sent.end(payload);
  });
}

function errorOf(status: number, text: string): SluiceError {
  try {
    const problem = JSON.parse(text) as { code?: unknown; detail?: unknown; request_id?: unknown };
    if (typeof problem.code === 'string' && typeof problem.detail === 'string' && isErrorCode(problem.code)) {
      return new SluiceError(problem.code, problem.detail, { details: { status, request_id: problem.request_id } });
    }
  } catch {
    // Not Sluice's: a proxy, or another server on that port.
  }
  return notRunning(`What answers there is not Sluice: status ${status}.`);
}
