import { Agent, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest, Agent as SecureAgent } from 'node:https';
import { SluiceError } from '@sluice/core';

/** Answer of the store: its status and its body, parsed when it is JSON. */
export interface HttpAnswer {
  status: number;
  body: unknown;
}

interface HttpOptions {
  /** Milliseconds until the whole answer must be there. */
  timeoutMs?: number;
  /** True for requests that may be sent twice: one whose kept-alive connection was closed under it is sent again. */
  repeatable?: boolean;
}

/** The one way to the store. Answers below 500 are returned as they are; no answer, 429 and 5xx are `store_unavailable`. */
export interface Http {
  /** The address it was made for. */
  readonly url: string;
  readonly apiKey: string | undefined;
  send(method: string, path: string, body?: string, options?: HttpOptions): Promise<HttpAnswer>;
  close(): void;
}

const DEFAULT_TIMEOUT_MS = 15_000;

/**
 * Plain HTTP with kept-alive connections: half the CPU of fetch a request, and no second address (gRPC) to be configured.
 *
 * @param url address of Weaviate, as `http://127.0.0.1:8080`
 * @param apiKey sent as a Bearer key with every request
 */
export function createHttp(url: string, apiKey?: string): Http {
  const base = new URL(url);
  const secure = base.protocol === 'https:';
  const agent = new (secure ? SecureAgent : Agent)({ keepAlive: true, maxSockets: 64, keepAliveMsecs: 10_000 });
  const open = secure ? httpsRequest : httpRequest;
  const prefix = base.pathname.replace(/\/$/, '');

  function once(method: string, path: string, body: string | undefined, timeoutMs: number): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      const payload = body === undefined ? undefined : Buffer.from(body);
      const options: RequestOptions = {
        method,
        host: base.hostname.replace(/^\[|\]$/g, ''),
        port: base.port || (secure ? 443 : 80),
        path: prefix + path,
        agent,
        headers: {
          accept: 'application/json',
          ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
          ...(payload === undefined ? {} : { 'content-type': 'application/json', 'content-length': payload.length }),
        },
      };
      const request = open(options, (response) => {
        readAnswer(response).then(resolve, reject).finally(done);
      });
      const timer = setTimeout(() => request.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
      const done = () => clearTimeout(timer);
      request.on('error', (error) => {
        done();
        reject(Object.assign(error, { reused: request.reusedSocket }));
      });
      request.end(payload);
    });
  }

  return {
    url,
    apiKey,
    async send(method, path, body, options = {}) {
      const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
      let answer: HttpAnswer;
      try {
        answer = await once(method, path, body, timeoutMs);
      } catch (error) {
        if (!options.repeatable || !closedUnderUs(error)) throw unavailable(base, error);
        answer = await once(method, path, body, timeoutMs).catch((again) => {
          throw unavailable(base, again);
        });
      }
      if (answer.status === 429 || answer.status >= 500) throw unavailable(base, new Error(reasonOf(answer)));
      return answer;
    },
    close() {
      agent.destroy();
    },
  };
}

async function readAnswer(response: IncomingMessage): Promise<HttpAnswer> {
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer); // a response without an encoding yields buffers
  const text = Buffer.concat(parts).toString('utf8');
  const status = response.statusCode ?? 0;
  if (text === '') return { status, body: undefined };
  try {
    return { status, body: JSON.parse(text) };
  } catch {
    return { status, body: text };
  }
}

/** A server may close an idle connection at the moment we use it again: nothing was wrong with the request. */
function closedUnderUs(error: unknown): boolean {
  return (
    error instanceof Error &&
    'reused' in error &&
    error.reused === true &&
    'code' in error &&
    (error.code === 'ECONNRESET' || error.code === 'EPIPE')
  );
}

function unavailable(base: URL, cause: unknown): SluiceError {
  const message = cause instanceof Error ? cause.message || String((cause as NodeJS.ErrnoException).code) : String(cause);
  return new SluiceError('store_unavailable', `Weaviate at ${base.origin} is not usable: ${message}. Is it running?`, { cause });
}

/** What the store says is wrong, out of either form of its error bodies, or the status. */
export function reasonOf(answer: HttpAnswer): string {
  const messages = messagesOf(answer.body);
  return messages.length > 0 ? messages.join('; ') : `status ${answer.status}`;
}

/** Messages of `{error: [{message}]}`, `{errors: {error: [{message}]}}`, `{message}`, or a plain text. */
export function messagesOf(body: unknown): string[] {
  if (typeof body === 'string') return body === '' ? [] : [body.slice(0, 500)];
  if (Array.isArray(body)) return body.flatMap(messagesOf);
  if (typeof body !== 'object' || body === null) return [];
  if ('message' in body && typeof body.message === 'string') return [body.message];
  if ('error' in body) return messagesOf(body.error);
  return 'errors' in body ? messagesOf(body.errors) : [];
}
