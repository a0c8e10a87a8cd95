import { type Reranker, SluiceError } from '@sluice/core';
import { z } from 'zod';

/** The most texts that text-embeddings-inference takes in one call by default. */
const TEXTS_A_CALL = 32;

export interface RerankEndpointOptions {
  /** Where `/rerank` is, as `http://127.0.0.1:8080` or `https://api.jina.ai/v1`; an address that ends in `/rerank` is used as it is. */
  baseUrl: string;
  model: string;
  apiKey?: string | undefined;
  /** Milliseconds one call may take. Default 10,000. */
  timeoutMs?: number;
}

const rowSchema = z.object({ index: z.int().min(0), relevance_score: z.number().optional(), score: z.number().optional() });
const rowsSchema = z.array(rowSchema);
const answerSchema = z.union([rowsSchema, z.object({ results: rowsSchema }).transform(({ results }) => results)]);

/**
 * A reranker behind an HTTP endpoint of the shape that Cohere, Jina and vLLM share (`documents`), or that of
 * text-embeddings-inference (`texts`), which is tried when an endpoint refuses the first. Scores outside 0..1 are taken for logits,
 * and the logistic function is applied to the whole answer.
 *
 * Errors: `model_unavailable` when the endpoint fails or does not answer in time, the signal's reason. Messages hold neither the key
 * nor any text.
 */
export function createRerankEndpoint(options: RerankEndpointOptions): Reranker {
  const base = options.baseUrl.replace(/\/+$/, '');
  const url = base.endsWith('/rerank') ? base : `${base}/rerank`;
  const { host } = new URL(url);
  const failed = (what: string, cause?: unknown) =>
    new SluiceError('model_unavailable', `the rerank endpoint at ${host} ${what}`, { cause });
  let takesTexts = false;

  async function post(body: object, signal: AbortSignal | undefined): Promise<Response> {
    const timeout = AbortSignal.timeout(options.timeoutMs ?? 10_000);
    const headers = {
      'content-type': 'application/json',
      ...(options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` }),
    };
    return fetch(url, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
  }

  async function call(query: string, texts: readonly string[], signal: AbortSignal | undefined): Promise<number[]> {
    const asTexts = () => post({ query, texts, truncate: true }, signal);
    try {
      let response = takesTexts
        ? await asTexts()
        : await post({ model: options.model, query, documents: texts, top_n: texts.length }, signal);
      if (!takesTexts && (response.status === 400 || response.status === 422)) {
        await response.body?.cancel();
        response = await asTexts();
        takesTexts = response.ok;
      }
      if (!response.ok) {
        await response.body?.cancel();
        throw failed(`answered ${response.status}`);
      }
      return scoresOf(answerSchema.parse(await response.json()), texts.length);
    } catch (thrown) {
      signal?.throwIfAborted();
      throw thrown instanceof SluiceError ? thrown : failed("can't be reached, or its answer has another shape", thrown);
    }
  }

  return {
    id: `${options.model}@${host}`,
    async rerank(query, texts, signal) {
      const scores: number[] = [];
      for (let from = 0; from < texts.length; from += TEXTS_A_CALL) {
        scores.push(...(await call(query, texts.slice(from, from + TEXTS_A_CALL), signal)));
      }
      const areLogits = scores.some((score) => score < 0 || score > 1);
      return areLogits ? scores.map((score) => 1 / (1 + Math.exp(-score))) : scores;
    },
  };
}

/** Scores in the order of the texts. A text without a score makes the answer unusable. */
function scoresOf(rows: z.infer<typeof rowsSchema>, count: number): number[] {
  const scores = new Map(rows.map((row) => [row.index, row.relevance_score ?? row.score]));
  return Array.from({ length: count }, (_, index) => {
    const score = scores.get(index);
    if (score === undefined) throw new RangeError(`no score for text ${index}`);
    return score;
  });
}
