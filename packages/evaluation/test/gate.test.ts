import { describe, expect, it } from 'vitest';
import { baselineOf, readBaseline } from '../src/baseline.js';
import { judge } from '../src/gate.js';
import { makeReport, type Report } from '../src/report.js';

/** A report of questions whose first relevant result has these reciprocal ranks. */
function reportOf(ranks: readonly number[]): Report {
  return makeReport({
    dataset: { name: 'set', format: 'jsonl', questions: [] },
    run: 'defaults',
    version: '1',
    madeAt: new Date(0),
    settings: {},
    missingDocuments: [],
    results: ranks.map((mrr, index) => ({
      id: String(index),
      question: 'which?',
      scores: { 'mrr@10': mrr },
      latency_ms: 1,
      missed: [],
      found: [],
    })),
  });
}

const ranks = Array.from({ length: 60 }, (_, index) => (index % 3 === 0 ? 0.5 : index % 3 === 1 ? 1 : 0.2));
const baseline = baselineOf(reportOf(ranks), ['mrr@10']);
const judged = (values: readonly number[], least = 0) => judge(reportOf(values), { 'mrr@10': least }, baseline);

describe('judge', () => {
  it('passes what equals the baseline, and what is better', () => {
    expect(judged(ranks)).toEqual([]);
    expect(judged(ranks.map((rank) => Math.min(1, rank * 1.2)))).toEqual([]);
  });

  it('fails a small loss of many questions that the interval of the mean would hide', () => {
    const [failure] = judged(ranks.map((rank) => rank * 0.95));
    expect(failure).toMatchObject({ measure: 'mrr@10', from: 'baseline' });
    expect(failure?.value).toBeGreaterThan(baseline.totals['mrr@10']?.low ?? 1);
    expect(failure?.p).toBeLessThan(0.05);
  });

  it('passes a loss that chance explains', () => {
    expect(judged(ranks.map((rank, index) => (index < 6 ? rank * (index % 2 === 0 ? 1.05 : 0.9) : rank)))).toEqual([]);
  });

  it('fails below the lower end of the interval where no question can be paired', () => {
    const others = reportOf(ranks.map((rank) => rank / 2));
    others.results = others.results.map((result) => ({ ...result, id: `other ${result.id}` }));
    expect(judge(others, { 'mrr@10': 0 }, baseline)).toMatchObject([{ from: 'baseline', least: baseline.totals['mrr@10']?.low }]);
  });

  it('fails below a threshold, with a baseline or without', () => {
    expect(judged(ranks, 0.9)).toMatchObject([{ from: 'threshold', least: 0.9 }]);
    expect(() => judge(reportOf(ranks), { 'mrr@11': 0.1 })).toThrow(RangeError);
  });
});

describe('a baseline', () => {
  it('is read back as it was written, and from a whole report', () => {
    expect(readBaseline(JSON.parse(JSON.stringify(baseline)))).toEqual(baseline);
    expect(readBaseline(JSON.parse(JSON.stringify(reportOf(ranks))))?.results).toHaveLength(60);
    expect(readBaseline({ results: [] })).toBeUndefined();
  });
});
