import type { Caller, Reranker } from '@sluice/core';
import { systemClock } from '@sluice/core';
import { fieldCatalog } from '@sluice/metadata';
import { createMetrics, silentLogger } from '@sluice/telemetry';
import { createMemoryStore, createWordEmbedder, createWordTokenizer, storeDocument } from '@sluice/testkit';
import { describe, expect, it } from 'vitest';
import { createRetrieval } from '../src/retrieval.js';
import { searchSchema } from '../src/settings.js';

const caller: Caller = { role: 'reader', clearance: 1, groups: [], name: 'test' };

/** 30 documents whose order in a keyword search is known: the more often the word, the better. */
async function createSearch(reranker?: Reranker) {
  const store = createMemoryStore();
  const embedder = createWordEmbedder();
  for (let n = 0; n < 30; n += 1) {
    const text = `${'kettle '.repeat(30 - n)}${'other '.repeat(n)}number ${n}`;
    await storeDocument(store, embedder, { docId: `inbox/${String(n).padStart(2, '0')}.md`, text });
  }
  return createRetrieval({
    store,
    matchedSpans: () => [],
    embedder,
    tokenizer: createWordTokenizer(),
    ...(reranker === undefined ? {} : { reranker }),
    catalog: fieldCatalog({}),
    settings: searchSchema.parse({}),
    readerGraceMs: 10_000,
    clock: systemClock,
    logger: silentLogger(),
    metrics: createMetrics({ role: 'test' }),
  });
}

const scoring = (score: (text: string) => number): Reranker & { seen: string[][] } => {
  const seen: string[][] = [];
  return {
    id: 'stub',
    seen,
    async rerank(_query, texts) {
      seen.push([...texts]);
      return texts.map(score);
    },
  };
};

const query = { query: 'kettle', mode: 'keyword' as const };

describe('reranking', () => {
  it('looks at the candidates, not only at the limit, and thresholds its own scores', async () => {
    const reranker = scoring((text) => (text.endsWith('number 14') ? 0.99 : 0.1));
    const retrieval = await createSearch(reranker);
    const { results, degraded } = await retrieval.search({ ...query, rerank: true, limit: 3, min_score: 0.5 }, caller);
    expect(results.map(({ doc_id, score, scores }) => [doc_id, score, scores.rerank])).toEqual([['inbox/14.md', 0.99, 0.99]]);
    expect(degraded).toEqual([]);
    expect(reranker.seen[0]).toHaveLength(25);
  });

  it('keeps the order of equal scores, and the rest follow the candidates', async () => {
    const retrieval = await createSearch(scoring(() => 0.5));
    const plain = await retrieval.search({ ...query, limit: 30 }, caller);
    const reranked = await retrieval.search({ ...query, limit: 30, rerank: true, candidates: 5 }, caller);
    expect(reranked.results.map(({ doc_id }) => doc_id)).toEqual(plain.results.map(({ doc_id }) => doc_id));
    expect(reranked.results.map(({ scores }) => scores.rerank !== undefined)).toEqual([
      ...Array(5).fill(true),
      ...Array(25).fill(false),
    ]);
  });

  it.each([
    ['fails', { id: 'stub', rerank: () => Promise.reject(new Error('down')) }],
    ['gives too few scores', { id: 'stub', rerank: () => Promise.resolve([1]) }],
    [
      'gives no number',
      { id: 'stub', rerank: (_: string, texts: readonly string[]) => Promise.resolve(texts.map(() => Number.NaN)) },
    ],
  ])('that %s leaves the order of the search, says so and ignores min_score', async (_name, reranker) => {
    const retrieval = await createSearch(reranker);
    const plain = await retrieval.search({ ...query, limit: 10 }, caller);
    const { results, degraded } = await retrieval.search({ ...query, limit: 10, rerank: true, min_score: 1e9 }, caller);
    expect(degraded).toEqual(['rerank_unavailable']);
    expect(results).toEqual(plain.results);
  });

  it('sees the text that is returned, after expansion', async () => {
    const reranker = scoring(() => 0.5);
    const retrieval = await createSearch(reranker);
    const { results } = await retrieval.search({ ...query, rerank: true, expand: 'parent', limit: 25 }, caller);
    expect(reranker.seen[0]).toEqual(results.map(({ text }) => text));
  });
});
