import { type Clock, type FaultKind, SluiceError } from '@sluice/core';

export interface HttpOptions {
  url: string;
  apiKey: string | undefined;
  timeoutMs: number;
  attempts: number;
  backoffMs: number;
  clock: Clock;
}

/** An endpoint that asks for longer than this is asked again by the queue, not here. */
const LONGEST_WAIT_MS = 30_000;

/** Calls, and again after faults that may pass. What is thrown is `llm_failed`, or the signal's reason. */
export async function callWithRetries<T>(
  options: HttpOptions,
  signal: AbortSignal | undefined,
  call: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    try {
      return await call();
    } catch (thrown) {
      signal?.throwIfAborted();
      const fault = asFault(thrown, options);
      if (fault.kind === 'permanent' || attempt >= options.attempts) throw fault;
      const asked = fault.details?.retryAfterMs;
      const wait = typeof asked === 'number' ? asked : options.backoffMs * 2 ** (attempt - 1) * (0.5 + Math.random());
      if (wait > LONGEST_WAIT_MS) throw fault;
      await options.clock.sleep(wait, signal);
    }
  }
}

/** Posts JSON. An answer other than 2xx is an error. */
export async function postJson(options: HttpOptions, body: unknown, signal: AbortSignal): Promise<Response> {
  const response = await fetch(options.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` }),
    },
    body: JSON.stringify(body),
    signal,
  });
  if (!response.ok) throw await refusal(response, options);
  return response;
}

/** A signal that aborts when nothing happens for a while, or when the caller's does. */
export function createIdleTimer(ms: number, callers: AbortSignal | undefined) {
  const controller = new AbortController();
  const expire = () => controller.abort(new DOMException(`no answer within ${ms} ms`, 'TimeoutError'));
  let timer = setTimeout(expire, ms);
  return {
    signal: callers === undefined ? controller.signal : AbortSignal.any([callers, controller.signal]),
    touch() {
      clearTimeout(timer);
      timer = setTimeout(expire, ms);
    },
    stop: () => clearTimeout(timer),
  };
}

async function refusal(response: Response, options: HttpOptions): Promise<SluiceError> {
  const said = (await response.text().catch(() => '')).slice(0, 300);
  const kind: FaultKind =
    response.status === 429 ? 'rate_limited' : response.status >= 500 || response.status === 408 ? 'transient' : 'permanent';
  const retryAfterMs = readRetryAfter(response.headers.get('retry-after'), options.clock);
  return new SluiceError('llm_failed', `the language model at ${hostOf(options)} answered ${response.status}${reasonIn(said)}`, {
    kind,
    details: { status: response.status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
  });
}

/** The endpoint's own words, where it has OpenAI's shape; a proxy's page is left out. */
function reasonIn(body: string): string {
  const message = /"message"\s*:\s*"((?:[^"\\]|\\.)*)/.exec(body)?.[1];
  return message === undefined ? '' : `: ${message}`;
}

/** Seconds or an HTTP date (RFC 9110, section 10.2.3). */
function readRetryAfter(value: string | null, clock: Clock): number | undefined {
  if (value === null) return undefined;
  if (/^\d+$/.test(value.trim())) return Number(value) * 1_000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - clock.now());
}

/** Any thrown value as `llm_failed`. */
export function asFault(thrown: unknown, options: HttpOptions): SluiceError {
  if (thrown instanceof SluiceError) return thrown;
  const timedOut = thrown instanceof Error && thrown.name === 'TimeoutError';
  const why = timedOut
    ? `did not answer within ${options.timeoutMs} ms`
    : "can't be reached, or its answer was cut off or no JSON";
  return new SluiceError('llm_failed', `the language model at ${hostOf(options)} ${why}`, { cause: thrown });
}

function hostOf(options: HttpOptions): string {
  return new URL(options.url).host;
}
