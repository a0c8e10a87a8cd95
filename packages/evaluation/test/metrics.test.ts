import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { measure } from '../src/metrics.js';

const judgements = (grades: Record<string, number>) => new Map(Object.entries(grades));

describe('measure, by hand', () => {
  it('counts a relevant document at ranks 2 and 4 of 3 relevant ones', () => {
    const scores = measure(['x', 'a', 'y', 'b', 'z'], judgements({ a: 1, b: 1, c: 1, x: 0 }), [1, 3, 5]);
    expect(scores).toMatchObject({ 'hit@1': 0, 'hit@3': 1, 'recall@1': 0, 'recall@3': 1 / 3, 'recall@5': 2 / 3 });
    expect(scores).toMatchObject({ 'precision@3': 1 / 3, 'precision@5': 2 / 5, 'mrr@1': 0, 'mrr@5': 1 / 2 });
    expect(scores['map@5']).toBeCloseTo((1 / 2 + 2 / 4) / 3, 12);
    const ideal = 1 + 1 / Math.log2(3) + 1 / 2;
    expect(scores['ndcg@5']).toBeCloseTo((1 / Math.log2(3) + 1 / Math.log2(5)) / ideal, 12);
  });

  it('takes the grade itself as the gain, and the best order of all judged ones as the ideal', () => {
    const scores = measure(['b', 'a'], judgements({ a: 3, b: 1, c: 2 }), [2]);
    expect(scores['ndcg@2']).toBeCloseTo((1 + 3 / Math.log2(3)) / (3 + 2 / Math.log2(3)), 12);
  });

  it('divides precision by k, also where fewer were found', () => {
    expect(measure(['a'], judgements({ a: 1 }), [10])).toMatchObject({ 'precision@10': 0.1, 'recall@10': 1, 'ndcg@10': 1 });
  });

  it('counts a document once', () => {
    expect(measure(['a', 'a', 'b'], judgements({ a: 1, b: 1 }), [2, 3])).toMatchObject({ 'recall@2': 0.5, 'precision@2': 0.5 });
  });

  it('takes negative grades as not relevant', () => {
    expect(measure(['a', 'b'], judgements({ a: -1, b: 1 }), [2])).toMatchObject({ 'mrr@2': 0.5, 'recall@2': 1 });
  });

  it('refuses a question that nothing answers', () => {
    expect(() => measure(['a'], judgements({ a: 0 }))).toThrow(RangeError);
  });
});

interface Reference {
  cases: { ranking: string[]; judgements: Record<string, number>; expected: Record<string, number> }[];
}

describe('measure, against trec_eval', () => {
  const file = new URL('./fixtures/trec-eval.json', import.meta.url);
  const { cases } = JSON.parse(readFileSync(file, 'utf8')) as Reference;

  it.each(cases.map((one, index) => ({ ...one, index })))('gives the figures of case $index', (one) => {
    const scores = measure(one.ranking, judgements(one.judgements), [1, 5, 10, 100]);
    expect(Object.keys(one.expected).length).toBe(24);
    for (const [name, value] of Object.entries(one.expected)) expect(scores[name], name).toBeCloseTo(value, 9);
  });
});
