import { type Clock, SluiceError, systemClock, type Tokenizer } from '@sluice/core';
import type { Logger, Metrics } from '@sluice/telemetry';
import { type EndpointAnswer, embeddingsUrl, endpointFault, postEmbeddings } from './endpoint-http.js';

/** Statuses that blame the request: another try of the same texts gives the same answer. */
const REFUSED = new Set([400, 413, 422]);

export interface EndpointClientOptions {
  /** As `https://api.openai.com/v1`; an address whose path ends in `/embeddings` is used as it is, with its query. */
  baseUrl: string;
  model: string;
  apiKey?: string | undefined;
  /** Asked of the endpoint, and checked in every answer. Default: whatever the first answer has. */
  dimensions?: number | undefined;
  /** Counts tokens where the endpoint does not say how many it has read. */
  tokenizer: Tokenizer;
  /** Milliseconds that a request may take. Default 60,000. */
  timeoutMs?: number;
  /** Tries of a request before its texts fail. Default 4. */
  attempts?: number;
  /** Wait before the second try, doubled each time. Default 500. */
  backoffMs?: number;
  /** A pause that the endpoint asks for is kept up to this many milliseconds; a longer one fails the texts. Default 30,000. */
  longestWaitMs?: number;
  /** Price of a million tokens, for `sluice_embedding_cost_total`. Default 0. */
  pricePerMillionTokens?: number;
  metrics?: Pick<Metrics, 'embeddingRequests' | 'embeddingTokens' | 'embeddingCost'> | undefined;
  logger?: Logger | undefined;
  clock?: Clock;
}

export interface EndpointClient {
  /** Length of the vectors; undefined until it is configured or an answer has shown it. */
  readonly dimensions: number | undefined;
  /** One request. Unit vectors, in the order of the texts. Errors: `embed_failed` with `details.endpoint`, the signal's reason. */
  post(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;
  /** The same; a failure that may pass is tried again, after the pause that the endpoint asks for. */
  postPatiently(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]>;
  /** Asks once with a text of its own. Rejects while the endpoint is away, refuses, or gives vectors of another length. */
  checkReady(signal?: AbortSignal): Promise<void>;
}

/** Speaks to one endpoint: shapes, retries, pauses, counts. */
export function createEndpointClient(options: EndpointClientOptions): EndpointClient {
  const { clock = systemClock, attempts = 4, backoffMs = 500, longestWaitMs = 30_000, metrics } = options;
  const url = embeddingsUrl(options.baseUrl);
  const address = { ...options, timeoutMs: options.timeoutMs ?? 60_000 };
  let { dimensions } = options;
  /** Models that cannot shorten their vectors may refuse the parameter: found out once. */
  let sendsDimensions = options.dimensions !== undefined;
  /** Monotonic time before which the endpoint asked not to be called. */
  let notBefore = 0;

  async function post(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]> {
    let outcome = 'failed';
    try {
      const request = { texts, ...(sendsDimensions && dimensions !== undefined ? { dimensions } : {}) };
      const answer = await postEmbeddings(address, request, signal);
      const vectors = unitVectors(answer);
      outcome = 'ok';
      countTokens(texts, answer);
      return vectors;
    } catch (thrown) {
      signal?.throwIfAborted();
      const fault = thrown instanceof SluiceError ? thrown : endpointFault(url, 'failed', { cause: thrown });
      if (fault.kind === 'rate_limited') outcome = 'rate_limited';
      else if (isRefusal(fault)) outcome = 'refused';
      const { status, retryAfterMs } = fault.details ?? {};
      if (typeof retryAfterMs === 'number' && (status === 429 || status === 503)) {
        notBefore = Math.max(notBefore, clock.monotonic() + retryAfterMs);
      }
      throw fault;
    } finally {
      metrics?.embeddingRequests.inc({ outcome });
    }
  }

  function countTokens(texts: readonly string[], { tokens }: EndpointAnswer): void {
    if (metrics === undefined) return;
    const read = tokens ?? texts.reduce((sum, text) => sum + options.tokenizer.count(text), 0);
    metrics.embeddingTokens.inc(read);
    metrics.embeddingCost.inc((read * (options.pricePerMillionTokens ?? 0)) / 1e6);
  }

  function unitVectors({ vectors }: EndpointAnswer): Float32Array[] {
    return vectors.map((numbers) => {
      dimensions ??= numbers.length;
      if (numbers.length !== dimensions) {
        const what = `gave a vector of ${numbers.length} dimensions, not ${dimensions}: is it another model?`;
        throw endpointFault(url, what, { dimensions: numbers.length });
      }
      const norm = Math.hypot(...numbers);
      if (!(norm > 0 && norm < Number.POSITIVE_INFINITY)) throw endpointFault(url, 'gave a vector without a direction');
      return Float32Array.from(numbers, (value) => value / norm);
    });
  }

  function pauseLeft(): number {
    return notBefore - clock.monotonic();
  }

  function asksToWait(ms: number): SluiceError {
    return endpointFault(url, `asks not to be called for another ${Math.ceil(ms / 1000)} s`, {
      kind: 'rate_limited',
      status: 429,
    });
  }

  async function waitForTurn(signal: AbortSignal): Promise<void> {
    for (let left = pauseLeft(); left > 0; left = pauseLeft()) {
      if (left > longestWaitMs) throw asksToWait(left);
      await clock.sleep(left, signal);
    }
  }

  return {
    get dimensions() {
      return dimensions;
    },
    post,
    async postPatiently(texts, signal) {
      for (let attempt = 1; ; attempt++) {
        await waitForTurn(signal);
        try {
          return await post(texts, signal);
        } catch (thrown) {
          signal.throwIfAborted();
          if (isRefusal(thrown) || attempt >= attempts) throw thrown;
          if (pauseLeft() <= 0) await clock.sleep(backoffMs * 2 ** (attempt - 1) * (0.5 + Math.random()), signal);
        }
      }
    },
    async checkReady(signal) {
      if (pauseLeft() > 0) throw asksToWait(pauseLeft());
      try {
        await post(['ready'], signal);
      } catch (thrown) {
        if (!isRefusal(thrown) || !sendsDimensions) throw thrown;
        sendsDimensions = false;
        try {
          await post(['ready'], signal);
        } catch (again) {
          sendsDimensions = true;
          throw again;
        }
        options.logger?.info({ endpoint: url.host }, 'the embedding endpoint takes no dimensions: they are only checked');
      }
    },
  };
}

/** Whether an endpoint refused these texts, as opposed to being unable to answer. */
export function isRefusal(thrown: unknown): thrown is SluiceError {
  return thrown instanceof SluiceError && REFUSED.has(Number(thrown.details?.status));
}
