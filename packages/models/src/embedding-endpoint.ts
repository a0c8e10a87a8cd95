import { SluiceError, type Tokenizer } from '@sluice/core';
import type { Metrics } from '@sluice/telemetry';
import { type BatchResult, createBatchQueue } from './batch-queue.js';
import type { EmbeddingModel } from './embedding-model.js';
import { createEndpointClient, type EndpointClientOptions, isRefusal } from './endpoint-client.js';
import { embeddingsUrl, endpointFault } from './endpoint-http.js';
import { countPrefix } from './prefix.js';

/** Numbers of two unit vectors that differ by less are equal: float noise is smaller, the last token's weight is larger. */
const EQUAL = 1e-6;

export interface EmbeddingEndpointOptions extends EndpointClientOptions {
  /** Identity of the model, see `modelIdentity`. */
  id: string;
  /** Counts the texts and sets their limit. */
  tokenizer: Tokenizer;
  passagePrefix?: string | undefined;
  queryPrefix?: string | undefined;
  /** Texts per request; halved for good when the endpoint refuses that many. Default 32. */
  batch?: number;
  /** Requests in progress at a time. Default 4. */
  concurrency?: number;
  /** Counts texts and tokens. A process that only embeds queries passes none. */
  metrics?: Pick<Metrics, 'embeddingsComputed' | 'embeddingRequests' | 'embeddingTokens' | 'embeddingCost'> | undefined;
}

export interface EmbeddingEndpoint extends EmbeddingModel {
  /** Asks the endpoint once. Rejects while it is away, refuses, or gives vectors of another length than before. */
  checkReady(signal?: AbortSignal): Promise<void>;
  /**
   * Sends two texts of maxTokens that differ in their last word only. Equal vectors show that the endpoint cuts texts silently.
   * Errors: `invalid_configuration`; `embed_failed` while the endpoint is away.
   */
  checkLimit(signal?: AbortSignal): Promise<void>;
}

/**
 * An embedding model behind an OpenAI-compatible endpoint. Texts of concurrent calls share requests. Requests that fail are tried
 * again with growing pauses, or after the pause that the endpoint asks for, which all requests keep. An answer with too few vectors,
 * vectors of another length, or something else than numbers counts as a failure.
 *
 * Errors of embed: `limit_exceeded` before anything is sent; `embed_failed`, permanent for a text that the endpoint alone refuses,
 * else transient with `details.endpoint`.
 */
export function createEmbeddingEndpoint(options: EmbeddingEndpointOptions): EmbeddingEndpoint {
  const { metrics, passagePrefix = '', queryPrefix = '' } = options;
  const url = embeddingsUrl(options.baseUrl);
  const client = createEndpointClient(options);
  const tokenizer = countPrefix(options.tokenizer, passagePrefix);
  const queryTokenizer = countPrefix(options.tokenizer, queryPrefix);
  let batchSize = options.batch ?? 32;

  /** Sends a batch; one that is refused is halved until the text that the endpoint refuses is alone. */
  async function send(texts: readonly string[], signal: AbortSignal): Promise<BatchResult<Float32Array>[]> {
    try {
      return (await client.postPatiently(texts, signal)).map((value) => ({ value }));
    } catch (thrown) {
      if (!isRefusal(thrown)) throw thrown;
      if (texts.length === 1) return [await blame(thrown, signal)];
      const half = Math.ceil(texts.length / 2);
      const results = [...(await send(texts.slice(0, half), signal)), ...(await send(texts.slice(half), signal))];
      if (results.every((result) => 'value' in result)) batchSize = Math.min(batchSize, half);
      return results;
    }
  }

  /** Whether a refusal of one text is the text's fault: an endpoint that refuses any text has another trouble. */
  async function blame(refusal: SluiceError, signal: AbortSignal): Promise<{ error: unknown }> {
    await client.checkReady(signal);
    const what = `refuses a text (${String(refusal.details?.status)}): is it over the model's limit? See embedding.max_tokens`;
    return { error: endpointFault(url, what, { kind: 'permanent' }) };
  }

  const queue = createBatchQueue<string, Float32Array>({
    concurrency: options.concurrency ?? 4,
    batchSize: () => batchSize,
    send,
  });
  return {
    id: options.id,
    get dimensions() {
      return client.dimensions ?? 0;
    },
    maxTokens: tokenizer.maxTokens,
    tokenizer,
    queryTokenizer,
    checkReady: client.checkReady,
    async checkLimit(signal) {
      const texts = ['red', 'sky'].map((last) => longestText(options.tokenizer, last));
      const advice = `set embedding.max_tokens to what ${options.model} takes`;
      try {
        const [one, other] = await client.post(texts, signal);
        if (one?.some((value, d) => Math.abs(value - (other?.[d] ?? 0)) > EQUAL)) return;
      } catch (cause) {
        if (!isRefusal(cause)) throw cause;
        const message = `${cause.message} for a text of ${tokenizer.maxTokens} tokens: ${advice}`;
        throw new SluiceError('invalid_configuration', message, { cause });
      }
      throw new SluiceError(
        'invalid_configuration',
        `the embedding endpoint at ${url.host} does not read a text of ${tokenizer.maxTokens} tokens to its end: ${advice}`,
      );
    },
    async embed(texts, signal, { urgent = false, as = 'passage' } = {}) {
      const [counter, prefix] = as === 'query' ? [queryTokenizer, queryPrefix] : [tokenizer, passagePrefix];
      for (const [index, text] of texts.entries()) checkLength(counter, text, `${index + 1} of ${texts.length}`);
      const vectors = await queue.run(
        texts.map((text) => prefix + text),
        { urgent, signal },
      );
      metrics?.embeddingsComputed.inc(vectors.length);
      return vectors;
    },
    async close() {
      queue.close(new SluiceError('embed_failed', 'the embedding endpoint is closed'));
    },
  };
}

/** Errors: `limit_exceeded` */
function checkLength(tokenizer: Tokenizer, text: string, which: string): void {
  const tokens = tokenizer.count(text);
  if (tokens <= tokenizer.maxTokens) return;
  throw new SluiceError(
    'limit_exceeded',
    `Text ${which} has ${tokens} tokens, the model takes ${tokenizer.maxTokens}: split it.`,
    {
      details: { tokens, max_tokens: tokenizer.maxTokens },
    },
  );
}

/** A text that takes the whole limit and ends with the given word. */
function longestText(tokenizer: Tokenizer, last: string): string {
  const left = tokenizer.maxTokens - tokenizer.count(last);
  const word = tokenizer.count('word') - tokenizer.specialTokens;
  return `${'word '.repeat(Math.max(0, Math.floor(left / word)))}${last}`;
}
