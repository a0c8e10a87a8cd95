import { describe, expect, it } from 'vitest';
import type { Dataset } from '../src/dataset.js';
import { judge } from '../src/gate.js';
import { toHtml } from '../src/html.js';
import { toMarkdown } from '../src/markdown.js';
import { compareReports, makeReport } from '../src/report.js';
import { type Found, runDataset } from '../src/run-dataset.js';

const found = (docId: string, text = 'text'): Found => ({ doc_id: docId, chunk_id: `${docId}-${text}`, text, score: 1 });

const dataset: Dataset = {
  name: 'set',
  format: 'jsonl',
  questions: [
    { id: '1', text: 'first', kind: 'fact', split: 'tune', relevant: [{ document: 'a', grade: 1 }] },
    { id: '2', text: 'second', kind: 'date', relevant: [{ document: 'b', grade: 1, quote: 'in  1999' }] },
    { id: '3', text: 'third', relevant: [] },
  ],
};
const answers: Record<string, Found[]> = {
  first: [found('s/x'), found('s/a')],
  second: [found('s/b', 'other'), found('s/b', 'made in\n1999 by'), found('s/b', 'made in 1999 too')],
  third: [found('s/<x>')],
};

function makeRun(from = answers) {
  const asked: { text: string; by: string; limit: number | undefined }[] = [];
  let time = 0;
  const results = runDataset(dataset, {
    documents: new Map([
      ['a', 's/a'],
      ['b', 's/b'],
    ]),
    search: async ({ text }, { by, limit }) => {
      asked.push({ text, by, limit });
      time += 7;
      return from[text] ?? [];
    },
    now: () => time,
  });
  return { asked, results };
}

async function reportOf(from = answers) {
  return makeReport({
    dataset,
    run: 'defaults',
    version: '1',
    madeAt: new Date(0),
    settings: {},
    missingDocuments: [],
    results: await makeRun(from).results,
  });
}

describe('runDataset', () => {
  it('ranks documents, and passages where a quote is asked for', async () => {
    const { asked, results } = makeRun();
    const [first, second, third] = await results;
    expect(first?.scores).toMatchObject({ 'mrr@10': 0.5, 'hit@1': 0 });
    expect(first?.found.map(({ grade }) => grade)).toEqual([0, 1]);
    // The third passage holds the quote too, but that has been found.
    expect(second?.scores).toMatchObject({ 'mrr@10': 0.5, 'precision@3': 1 / 3, 'recall@3': 1 });
    expect(third?.scores).toEqual({});
    expect(first?.latency_ms).toBe(7);
    expect(asked.slice(1, 3)).toEqual([
      { text: 'first', by: 'document', limit: undefined },
      { text: 'first', by: 'document', limit: 100 },
    ]);
    expect(asked.at(-3)).toEqual({ text: 'second', by: 'passage', limit: 100 });
  });

  it('lists what should have been found', async () => {
    const [first] = await makeRun({}).results;
    expect(first).toMatchObject({ missed: ['s/a'], scores: { 'ndcg@10': 0 } });
  });
});

describe('the report', () => {
  it('has means over the questions with an answer, by kind and part', async () => {
    const report = await reportOf();
    expect(report).toMatchObject({ questions: 3, unanswerable: 1, latency_ms: { p50: 7, p95: 7 } });
    expect(report.totals['mrr@10']).toMatchObject({ mean: 0.5, n: 2 });
    expect(Object.keys(report.by_kind)).toEqual(['date', 'fact']);
    expect(report.by_split.tune?.['hit@5']).toMatchObject({ mean: 1, n: 1 });
  });

  it('reads as Markdown and as one page without markup from documents', async () => {
    const report = await reportOf({ ...answers, first: [found('s/<b>bold</b>', '<script>alert(1)</script> | x')] });
    expect(toMarkdown(report)).toContain('| MRR | 0.000 (0.000-0.000) |');
    const html = toHtml(report);
    expect(html).not.toMatch(/<script|<b>|https?:|src=/);
    expect(html).toContain('&#60;b&#62;bold');
  });

  it('compares runs question by question', async () => {
    const worse = await reportOf({});
    const better = await reportOf();
    expect(compareReports(worse, better, ['mrr@10'])['mrr@10']).toMatchObject({ difference: 0.5, p: 0.5 });
  });
});

describe('judge', () => {
  it('fails below a threshold, and below the interval of the baseline', async () => {
    const good = await reportOf();
    const bad = await reportOf({});
    expect(judge(good, { 'mrr@10': 0.5 }, good)).toEqual([]);
    expect(judge(bad, { 'mrr@10': 0.4 }, good)).toEqual([
      { measure: 'mrr@10', value: 0, least: 0.4, from: 'threshold' },
      { measure: 'mrr@10', value: 0, least: 0.5, from: 'baseline' },
    ]);
    expect(() => judge(good, { 'mrr@7': 1 })).toThrow(/mrr@7/);
  });
});
