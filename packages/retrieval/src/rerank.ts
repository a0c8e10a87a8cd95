import type { Reranker } from '@sluice/core';
import type { Logger } from '@sluice/telemetry';
import type { Passage } from './expand.js';

export interface ScoredPassage {
  passage: Passage;
  /** The score that orders. */
  score: number;
  /** The reranker's score, where it saw the passage. */
  rerank?: number;
}

/** Passages by the reranker's scores, best first, ties in their old order; undefined when there is no reranker or it failed. */
export async function rerankPassages(
  query: string,
  passages: readonly Passage[],
  { reranker, logger, signal }: { reranker: Reranker | undefined; logger: Logger; signal: AbortSignal | undefined },
): Promise<ScoredPassage[] | undefined> {
  if (reranker === undefined) return undefined;
  if (passages.length === 0) return [];
  try {
    const scores = await reranker.rerank(
      query,
      passages.map((passage) => passage.text),
      signal,
    );
    const scored = passages.map((passage, index) => {
      const score = scores[index];
      if (score === undefined || Number.isNaN(score)) throw new RangeError(`no score for passage ${index}`);
      return { passage, score, rerank: score };
    });
    return scored.sort((a, b) => b.score - a.score);
  } catch (error) {
    signal?.throwIfAborted();
    logger.warn({ err: error, reranker: reranker.id }, 'rerank failed, results keep the order of the search');
    return undefined;
  }
}
