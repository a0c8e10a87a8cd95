import type { Report } from './report.js';
import type { Comparison, Estimate } from './statistics.js';

const COLUMNS = [1, 3, 5, 10];
const ROWS = { hit: 'hit rate', recall: 'recall', precision: 'precision', mrr: 'MRR', ndcg: 'nDCG', map: 'MAP' };
/** What one number says best of a ranking; groups and worst questions go by it. */
export const MAIN_MEASURE = 'ndcg@10';
const WORST = 10;

/** The report as Markdown: totals with their intervals, groups, latency, the worst questions with what was found instead. */
export function toMarkdown(report: Report, comparison?: { before: string; measures: Record<string, Comparison> }): string {
  const lines = [
    `# ${report.dataset}: ${report.run}`,
    '',
    `${report.questions} questions, ${report.unanswerable} of them without an answer in the documents. Mean and 95 % bootstrap interval.`,
    `Search latency p50 ${report.latency_ms.p50} ms, p95 ${report.latency_ms.p95} ms. Sluice ${report.version}, ${report.made_at}.`,
    '',
    `| | ${COLUMNS.map((k) => `@${k}`).join(' | ')} |`,
    `|---|${COLUMNS.map(() => '---').join('|')}|`,
    ...Object.entries(ROWS).map(
      ([measure, title]) => `| ${title} | ${COLUMNS.map((k) => show(report.totals[`${measure}@${k}`])).join(' | ')} |`,
    ),
    '',
  ];
  for (const [title, groups] of [
    ['Kind of question', report.by_kind],
    ['Part', report.by_split],
  ] as const) {
    if (Object.keys(groups).length === 0) continue;
    lines.push(`| ${title} | questions | ${MAIN_MEASURE} | recall@5 | hit@5 |`, '|---|---|---|---|---|');
    for (const [name, totals] of Object.entries(groups)) {
      const figures = [MAIN_MEASURE, 'recall@5', 'hit@5'].map((measure) => show(totals[measure]));
      lines.push(`| ${cell(name)} | ${totals[MAIN_MEASURE]?.n ?? 0} | ${figures.join(' | ')} |`);
    }
    lines.push('');
  }
  if (comparison !== undefined) {
    lines.push(`Against ${comparison.before}:`, '', '| | difference | interval | p |', '|---|---|---|---|');
    for (const [name, { difference, low, high, p }] of Object.entries(comparison.measures)) {
      lines.push(`| ${name} | ${signed(difference)} | ${signed(low)} to ${signed(high)} | ${p.toFixed(4)} |`);
    }
    lines.push('');
  }
  if (report.missing_documents.length > 0) {
    const names = report.missing_documents.slice(0, 10).map((name) => `\`${name}\``);
    lines.push(`${report.missing_documents.length} documents that the data set names are not indexed: ${names.join(', ')}`, '');
  }
  lines.push('## Worst questions', '');
  for (const { id, question, scores, missed, found } of worstOf(report)) {
    lines.push(`- **${cell(question)}** (${id}): ${MAIN_MEASURE} ${(scores[MAIN_MEASURE] ?? 0).toFixed(3)}`);
    lines.push(`  - missed: ${missed.slice(0, 5).join(', ') || 'nothing in the first ten'}`);
    for (const hit of found.slice(0, 3))
      lines.push(`  - ${hit.grade > 0 ? 'found' : 'instead'}: ${hit.doc_id}: ${cell(hit.excerpt)}`);
  }
  return `${lines.join('\n')}\n`;
}

export function worstOf({ results }: Report): Report['results'] {
  return results
    .filter(({ scores }) => (scores[MAIN_MEASURE] ?? 1) < 1)
    .sort((a, b) => (a.scores[MAIN_MEASURE] ?? 0) - (b.scores[MAIN_MEASURE] ?? 0))
    .slice(0, WORST);
}

function show(value: Estimate | undefined): string {
  return value === undefined ? '' : `${value.mean.toFixed(3)} (${value.low.toFixed(3)}-${value.high.toFixed(3)})`;
}

function signed(value: number): string {
  return `${value < 0 ? '' : '+'}${value.toFixed(4)}`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replace(/\s+/g, ' ');
}
