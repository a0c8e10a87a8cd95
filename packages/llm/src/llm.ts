import { type Clock, type Llm, type LlmMessage, type LlmPart, SluiceError, systemClock } from '@sluice/core';
import pLimit from 'p-limit';
import { readCompletion, readDelta } from './answers.js';
import { asFault, callWithRetries, createIdleTimer, type HttpOptions, postJson } from './http.js';
import { readEvents } from './server-sent-events.js';

export interface LlmOptions {
  /** Where `/chat/completions` is, as `http://127.0.0.1:11434/v1`. */
  baseUrl: string;
  model: string;
  apiKey?: string | undefined;
  /** Milliseconds a whole answer may take, and a streamed one between two tokens. Default 60,000. */
  timeoutMs?: number;
  /** Calls in all, the first included, where the endpoint is busy, fails or can't be reached. Default 4. */
  attempts?: number;
  /** Milliseconds before the second call; doubled each time, with jitter. What the endpoint asks for (Retry-After) comes first. Default 500. */
  backoffMs?: number;
  /** Calls under way at a time; others wait. Default 8. */
  concurrency?: number;
  clock?: Clock;
}

interface Request {
  messages: LlmMessage[];
  maxTokens?: number;
  temperature?: number;
  json?: boolean;
}

/**
 * A language model behind any endpoint that speaks OpenAI's chat completions.
 *
 * Errors: `llm_failed`, transient when another try may help (after all attempts), `permanent` when the endpoint refuses the request
 * (a wrong key, an unknown model). Messages hold neither the key nor any text.
 */
export function createLlm(options: LlmOptions): Llm {
  const http: HttpOptions = {
    url: `${options.baseUrl.replace(/\/+$/, '')}/chat/completions`,
    apiKey: options.apiKey,
    timeoutMs: options.timeoutMs ?? 60_000,
    attempts: options.attempts ?? 4,
    backoffMs: options.backoffMs ?? 500,
    clock: options.clock ?? systemClock,
  };
  const limit = pLimit(options.concurrency ?? 8);

  function bodyOf(request: Request, stream: boolean) {
    return {
      model: options.model,
      messages: request.messages,
      ...(request.maxTokens === undefined ? {} : { max_tokens: request.maxTokens }),
      ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
      ...(request.json === true ? { response_format: { type: 'json_object' } } : {}),
      ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
    };
  }

  async function answer(request: Request, signal: AbortSignal | undefined) {
    const timer = createIdleTimer(http.timeoutMs, signal);
    try {
      const response = await postJson(http, bodyOf(request, false), timer.signal);
      return readCompletion(await response.json());
    } finally {
      timer.stop();
    }
  }

  /** Until the first byte a stream may be asked for again; after that its reader has seen some of it. */
  async function openStream(request: Request, signal: AbortSignal | undefined) {
    const timer = createIdleTimer(http.timeoutMs, signal);
    try {
      const { body } = await postJson(http, bodyOf(request, true), timer.signal);
      if (body === null) throw new SluiceError('llm_failed', 'the language model answered a stream without a body');
      return { body, timer };
    } catch (thrown) {
      timer.stop();
      throw thrown;
    }
  }

  async function* readStream(request: Request, signal: AbortSignal | undefined): AsyncGenerator<LlmPart> {
    const { body, timer } = await callWithRetries(http, signal, () => openStream(request, signal));
    try {
      for await (const data of readEvents(body, timer.touch)) {
        if (data === '[DONE]') return;
        yield* readDelta(data);
      }
    } catch (thrown) {
      signal?.throwIfAborted();
      throw asFault(thrown, http);
    } finally {
      timer.stop();
    }
  }

  return {
    id: llmId(options),
    complete: (request, signal) => limit(() => callWithRetries(http, signal, () => answer(request, signal))),
    async *stream(request, signal) {
      const release = await takeSlot(limit, signal);
      try {
        yield* readStream(request, signal);
      } finally {
        release();
      }
    },
  };
}

/** The id that the model of this endpoint has: for processes that only compare fingerprints. */
export function llmId({ model, baseUrl }: Pick<LlmOptions, 'model' | 'baseUrl'>): string {
  return `${model}@${new URL(baseUrl).host}`;
}

/** Waits for a free call and holds it until the returned function is called: a stream takes as long as its reader. */
function takeSlot(limit: ReturnType<typeof pLimit>, signal: AbortSignal | undefined): Promise<() => void> {
  return new Promise((resolve, reject) => {
    limit(() => {
      if (signal?.aborted) return reject(signal.reason);
      return new Promise<void>((release) => resolve(release));
    }).catch(reject);
  });
}
