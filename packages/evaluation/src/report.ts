import type { Baseline } from './baseline.js';
import type { Dataset } from './dataset.js';
import { CUT_OFFS, MEASURES } from './metrics.js';
import type { QuestionResult } from './run-dataset.js';
import { type Comparison, compare, type Estimate, estimate, quantile } from './statistics.js';

/** What a run found out, as report.json has it. */
export interface Report {
  format: 1;
  dataset: string;
  /** Name of the run, such as its settings. */
  run: string;
  /** ISO instant. */
  made_at: string;
  version: string;
  /** What was asked of the searches beside the question. */
  settings: Record<string, unknown>;
  questions: number;
  unanswerable: number;
  /** Names in the data set that no document of the instance has. Questions count them as not found. */
  missing_documents: string[];
  /** By measure, over the questions that have an answer. */
  totals: Record<string, Estimate>;
  /** The same by kind of question, and by part of the data set. */
  by_kind: Record<string, Record<string, Estimate>>;
  by_split: Record<string, Record<string, Estimate>>;
  latency_ms: { p50: number; p95: number };
  results: QuestionResult[];
}

export interface ReportInput {
  dataset: Dataset;
  run: string;
  version: string;
  madeAt: Date;
  settings: Record<string, unknown>;
  missingDocuments: string[];
  results: QuestionResult[];
}

export const MEASURE_NAMES = MEASURES.flatMap((measure) => CUT_OFFS.map((k) => `${measure}@${k}`));

export function makeReport({ dataset, results, missingDocuments, madeAt, ...rest }: ReportInput): Report {
  const answerable = results.filter(isAnswerable);
  const latencies = results.flatMap(({ latency_ms }) => latency_ms ?? []).sort((a, b) => a - b);
  return {
    format: 1,
    dataset: dataset.name,
    run: rest.run,
    made_at: madeAt.toISOString(),
    version: rest.version,
    settings: rest.settings,
    questions: results.length,
    unanswerable: results.length - answerable.length,
    missing_documents: missingDocuments,
    totals: totalsOf(answerable),
    by_kind: grouped(answerable, ({ kind }) => kind),
    by_split: grouped(answerable, ({ split }) => split),
    latency_ms: { p50: round(quantile(latencies, 0.5)), p95: round(quantile(latencies, 0.95)) },
    results,
  };
}

/** The measures of `after` against those of `before`, over the questions that both asked. */
export function compareReports(
  before: Pick<Baseline, 'results'>,
  after: Report,
  measures: readonly string[],
): Record<string, Comparison> {
  const old = new Map(before.results.filter(isAnswerable).map((result) => [result.id, result]));
  const pairs = after.results.filter(isAnswerable).flatMap((result) => {
    const other = old.get(result.id);
    return other === undefined ? [] : [{ before: other, after: result }];
  });
  return Object.fromEntries(
    measures.map((name) => [
      name,
      compare(
        pairs.map((pair) => pair.before.scores[name] ?? 0),
        pairs.map((pair) => pair.after.scores[name] ?? 0),
      ),
    ]),
  );
}

function isAnswerable({ scores }: Pick<QuestionResult, 'scores'>): boolean {
  return Object.keys(scores).length > 0;
}

function totalsOf(results: readonly QuestionResult[]): Record<string, Estimate> {
  return Object.fromEntries(MEASURE_NAMES.map((name) => [name, estimate(results.map(({ scores }) => scores[name] ?? 0))]));
}

function grouped(results: readonly QuestionResult[], groupOf: (result: QuestionResult) => string | undefined) {
  const groups = new Map<string, QuestionResult[]>();
  for (const result of results) {
    const name = groupOf(result);
    if (name !== undefined) groups.set(name, [...(groups.get(name) ?? []), result]);
  }
  return Object.fromEntries([...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, of]) => [name, totalsOf(of)]));
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
