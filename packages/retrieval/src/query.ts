import type { Embedder, Tokenizer } from '@sluice/core';

export interface EmbeddedQuery {
  vector: Float32Array;
  /** The query was over the model's limit, and only its beginning was embedded. */
  truncated: boolean;
}

/** Embeds a query; one over the model's limit by its first word pieces. */
export async function embedQuery(
  query: string,
  deps: { embedder: Embedder; tokenizer: Tokenizer },
  signal?: AbortSignal,
): Promise<EmbeddedQuery> {
  const text = fitQuery(query, deps.tokenizer, Math.min(deps.tokenizer.maxTokens, deps.embedder.maxTokens));
  const [vector] = await deps.embedder.embed([text], signal);
  if (vector === undefined) throw new RangeError('the embedder returned no vector');
  return { vector, truncated: text.length < query.length };
}

/** The longest beginning of the query, in whole word pieces, that the model takes. */
export function fitQuery(query: string, tokenizer: Tokenizer, maxTokens: number): string {
  if (tokenizer.count(query) <= maxTokens) return query;
  const pieces = tokenizer.offsets(query);
  // Cutting may change how the last word falls into pieces, so the cut text is counted again.
  for (let kept = maxTokens - tokenizer.specialTokens; kept > 0; kept -= 1) {
    const text = query.slice(0, pieces[kept - 1]?.end ?? query.length);
    if (tokenizer.count(text) <= maxTokens) return text;
  }
  return '';
}
