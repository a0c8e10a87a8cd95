import { type FaultKind, SluiceError } from '@sluice/core';
import { z } from 'zod';

/** The largest answer that is read: 32 vectors of 4,096 numbers are 2 MB. */
const MAX_ANSWER_BYTES = 64 * 2 ** 20;

export interface EndpointAddress {
  /** As `https://api.openai.com/v1`; an address whose path ends in `/embeddings` is used as it is, with its query. */
  baseUrl: string;
  model: string;
  apiKey?: string | undefined;
  /** Milliseconds that one request may take. */
  timeoutMs: number;
}

export interface EndpointRequest {
  texts: readonly string[];
  /** Asked of models that can shorten their vectors. */
  dimensions?: number;
}

export interface EndpointAnswer {
  /** One vector per text, in the order of the texts, of whatever length the endpoint gave. */
  vectors: number[][];
  /** Tokens that the endpoint says it has read. */
  tokens: number | undefined;
}

const answerSchema = z.object({
  data: z.array(z.object({ index: z.int().min(0).optional(), embedding: z.array(z.unknown()) })),
  usage: z.object({ prompt_tokens: z.number().min(0).optional(), total_tokens: z.number().min(0).optional() }).nullish(),
});

/** The address of `/embeddings` below a base address. */
export function embeddingsUrl(baseUrl: string): URL {
  const url = new URL(baseUrl);
  const path = url.pathname.replace(/\/+$/, '');
  url.pathname = path.endsWith('/embeddings') ? path : `${path}/embeddings`;
  return url;
}

/**
 * One request to an OpenAI-compatible `/embeddings`.
 *
 * Errors: `embed_failed` with `details.status` where the endpoint answered one, and `details.retryAfterMs` where it said so; the
 * signal's reason. Messages hold neither the key nor any text.
 */
export async function postEmbeddings(
  address: EndpointAddress,
  request: EndpointRequest,
  signal: AbortSignal | undefined,
): Promise<EndpointAnswer> {
  const url = embeddingsUrl(address.baseUrl);
  const timeout = AbortSignal.timeout(address.timeoutMs);
  try {
    const response = await fetch(url, {
      method: 'POST',
      // Documents go where the configuration says, and nowhere else.
      redirect: 'error',
      headers: { 'content-type': 'application/json', ...keyHeaders(url, address.apiKey) },
      body: JSON.stringify({
        model: address.model,
        input: request.texts,
        encoding_format: 'float',
        ...(request.dimensions === undefined ? {} : { dimensions: request.dimensions }),
      }),
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    if (!response.ok) throw await refusal(url, response);
    return readAnswer(await readLimited(response), request.texts.length);
  } catch (thrown) {
    signal?.throwIfAborted();
    if (thrown instanceof SluiceError) throw thrown;
    const why = timeout.aborted
      ? `did not answer within ${address.timeoutMs} ms`
      : "can't be reached, or its answer is cut off or has another shape";
    throw endpointFault(url, why, { cause: thrown });
  }
}

/** Azure reads its own header; every other endpoint ignores it, but has no need to see it. */
function keyHeaders(url: URL, apiKey: string | undefined): Record<string, string> {
  if (apiKey === undefined) return {};
  return url.hostname.endsWith('.azure.com') ? { 'api-key': apiKey } : { authorization: `Bearer ${apiKey}` };
}

/** An error of an endpoint. Transient by default: another try may succeed. */
export function endpointFault(
  url: URL,
  what: string,
  options: { cause?: unknown; kind?: FaultKind; status?: number; retryAfterMs?: number; dimensions?: number } = {},
): SluiceError {
  const { cause, kind = 'transient', ...details } = options;
  return new SluiceError('embed_failed', `the embedding endpoint at ${url.host} ${what}`, {
    kind,
    ...(cause === undefined ? {} : { cause }),
    details: { endpoint: url.host, ...details },
  });
}

async function refusal(url: URL, response: Response): Promise<SluiceError> {
  const { status } = response;
  // What it says is not repeated: it may quote the text.
  await response.body?.cancel();
  const retryAfterMs = readRetryAfter(response.headers.get('retry-after'));
  return endpointFault(url, `answered ${status}`, {
    kind: status === 429 ? 'rate_limited' : 'transient',
    status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** Seconds or an HTTP date (RFC 9110, section 10.2.3), in milliseconds from now. */
function readRetryAfter(value: string | null): number | undefined {
  if (value === null) return undefined;
  if (/^\d+(\.\d+)?$/.test(value.trim())) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

async function readLimited(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  const reader = response.body?.getReader();
  for (;;) {
    const { value: part } = (await reader?.read()) ?? {};
    if (part === undefined) break;
    bytes += part.length;
    if (bytes > MAX_ANSWER_BYTES) throw new RangeError('the answer is too large');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function readAnswer(text: string, count: number): EndpointAnswer {
  const { data, usage } = answerSchema.parse(JSON.parse(text));
  const vectors = new Array<number[] | undefined>(count);
  for (const [position, { index = position, embedding }] of data.entries()) {
    if (index >= count || vectors[index] !== undefined) throw new RangeError(`a vector for text ${index} of ${count}`);
    if (!embedding.every((value): value is number => typeof value === 'number' && Number.isFinite(value))) {
      throw new RangeError('a vector with something else than numbers');
    }
    vectors[index] = embedding;
  }
  const whole = vectors.filter((vector) => vector !== undefined);
  if (whole.length !== count) throw new RangeError(`${data.length} vectors for ${count} texts`);
  return { vectors: whole, tokens: usage?.prompt_tokens ?? usage?.total_tokens };
}
