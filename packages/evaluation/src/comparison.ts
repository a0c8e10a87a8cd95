import { MAIN_MEASURE } from './markdown.js';
import { compareReports, type Report } from './report.js';
import type { Estimate, Comparison as Paired } from './statistics.js';

/** A point of a grid that was measured. */
export interface MeasuredPoint {
  /** Settings of the collection, and of the searches. */
  ingest: string;
  search: string;
  chunks: number;
  report: Report;
}

interface ComparedPoint {
  ingest: string;
  search: string;
  chunks: number;
  totals: Record<string, Estimate>;
  by_split: Report['by_split'];
  latency_ms: Report['latency_ms'];
  /** Against the first point of the grid, by the main measure. */
  against_first: Paired;
}

/** What a grid showed, as comparison.json has it: points in the order of the grid. */
export interface Comparison {
  format: 1;
  dataset: string;
  version: string;
  made_at: string;
  questions: number;
  measure: string;
  points: ComparedPoint[];
  /** Place of the best point in `points`. */
  best: number;
  worst_questions: { question: string; score: number; missed: string[]; found: Report['results'][number]['found'] }[];
}

const SHOWN = ['ndcg@10', 'mrr@10', 'recall@5', 'recall@10', 'map@100', 'hit@5', 'precision@5'];
const WORST = 10;

/** @throws RangeError without a point */
export function makeComparison(measured: readonly MeasuredPoint[], madeAt: Date): Comparison {
  const [first] = measured;
  if (first === undefined) throw new RangeError('there is nothing to compare');
  const score = ({ report }: MeasuredPoint) => report.totals[MAIN_MEASURE]?.mean ?? 0;
  const best = measured.reduce((found, point) => (score(point) > score(found) ? point : found), first);
  const none: Paired = { difference: 0, low: 0, high: 0, p: 1 };
  return {
    format: 1,
    dataset: first.report.dataset,
    version: first.report.version,
    made_at: madeAt.toISOString(),
    questions: first.report.questions,
    measure: MAIN_MEASURE,
    points: measured.map(({ ingest, search, chunks, report }) => ({
      ingest,
      search,
      chunks,
      totals: Object.fromEntries(
        SHOWN.flatMap((name) => (report.totals[name] === undefined ? [] : [[name, report.totals[name]]])),
      ),
      by_split: report.by_split,
      latency_ms: report.latency_ms,
      against_first: compareReports(first.report, report, [MAIN_MEASURE])[MAIN_MEASURE] ?? none,
    })),
    best: measured.indexOf(best),
    worst_questions: best.report.results
      .filter(({ scores }) => (scores[MAIN_MEASURE] ?? 1) < 1)
      .map(({ question, scores, missed, found }) => ({ question, score: scores[MAIN_MEASURE] ?? 0, missed, found }))
      .sort((a, b) => a.score - b.score)
      .slice(0, WORST),
  };
}

/** The comparison as Markdown: a line a point. */
export function comparisonMarkdown(comparison: Comparison): string {
  const { points, best } = comparison;
  const lines = [
    `# ${comparison.dataset}: ${points.length} settings compared`,
    '',
    `${comparison.questions} questions. Mean and 95 % bootstrap interval; difference and p of a paired randomisation test against the`,
    `first line. Sluice ${comparison.version}, ${comparison.made_at}.`,
    '',
    '| collection | search | chunks | nDCG@10 | MRR@10 | recall@5 | difference | p | p50 ms |',
    '|---|---|---|---|---|---|---|---|---|',
  ];
  for (const [place, point] of points.entries()) {
    const { totals, against_first: paired } = point;
    const cells = [point.ingest, place === best ? `**${point.search}** (best)` : point.search, String(point.chunks)];
    const figures = ['ndcg@10', 'mrr@10', 'recall@5'].map((name) => interval(totals[name]));
    const against = place === 0 ? ['', ''] : [signed(paired.difference), paired.p.toFixed(4)];
    lines.push(`| ${[...cells, ...figures, ...against, point.latency_ms.p50.toFixed(1)].join(' | ')} |`);
  }
  lines.push('', `## Worst questions of the best (${points[best]?.ingest}; ${points[best]?.search})`, '');
  for (const { question, score, missed, found } of comparison.worst_questions) {
    lines.push(
      `- **${question}**: ${score.toFixed(3)}`,
      `  - missed: ${missed.slice(0, 5).join(', ') || 'nothing in the first ten'}`,
    );
    for (const hit of found.slice(0, 3)) lines.push(`  - ${hit.grade > 0 ? 'found' : 'instead'}: ${hit.doc_id}`);
  }
  return `${lines.join('\n')}\n`;
}

export function interval(value: Estimate | undefined): string {
  return value === undefined ? '' : `${value.mean.toFixed(3)} (${value.low.toFixed(3)}-${value.high.toFixed(3)})`;
}

function signed(value: number): string {
  return `${value < 0 ? '' : '+'}${value.toFixed(4)}`;
}
