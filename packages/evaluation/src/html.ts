import { MAIN_MEASURE, worstOf } from './markdown.js';
import { escaped, histogram, intervalPlot } from './plots.js';
import { MEASURE_NAMES, type Report } from './report.js';
import type { Estimate } from './statistics.js';

/** Of every page that this package makes. */
export const STYLE = `<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1c2733; }
table { border-collapse: collapse; } td, th { padding: .2rem .7rem; border-bottom: 1px solid #dde3ea; text-align: right; }
td:first-child, th:first-child { text-align: left; } svg { max-width: 100%; height: auto; }
.found { color: #17693a; } .instead { color: #8a3b12; } small { color: #5a6b7c; }
</style>`;

/** The report as one page that needs nothing else: no script, no font, no image from elsewhere. */
export function toHtml(report: Report): string {
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escaped(`${report.dataset}: ${report.run}`)}</title>
${STYLE}
<h1>${escaped(report.dataset)}: ${escaped(report.run)}</h1>
<p>${report.questions} questions, ${report.unanswerable} of them without an answer in the documents. Search latency p50
${report.latency_ms.p50} ms, p95 ${report.latency_ms.p95} ms. Sluice ${escaped(report.version)}, ${escaped(report.made_at)}.</p>
<h2>${MAIN_MEASURE} with 95 % intervals</h2>
${mainPlot(report)}
<h2>All measures</h2>
<table><tr><th>measure</th><th>mean</th><th>95 % interval</th></tr>
${MEASURE_NAMES.map((name) => row(name, report.totals[name])).join('\n')}
</table>
<h2>${MAIN_MEASURE} of each question</h2>
${histogram(report.results.flatMap(({ scores }) => scores[MAIN_MEASURE] ?? []))}
<h2>Worst questions</h2>
${worstOf(report).map(worst).join('\n')}
</html>
`;
}

/** The main measure of all questions, of each part and of each kind, as an SVG file. */
export function toSvg(report: Report): string {
  return mainPlot(report).replace('<svg ', '<svg xmlns="http://www.w3.org/2000/svg" ');
}

function mainPlot(report: Report): string {
  const groups = [['all', report.totals], ...Object.entries(report.by_split), ...Object.entries(report.by_kind)] as const;
  const bars = groups.flatMap(([name, totals]) => {
    const value = totals[MAIN_MEASURE];
    return value === undefined ? [] : [{ name: `${name} (${value.n})`, value }];
  });
  return intervalPlot(bars);
}

function row(name: string, value: Estimate | undefined): string {
  if (value === undefined) return '';
  return `<tr><td>${name}</td><td>${value.mean.toFixed(4)}</td><td>${value.low.toFixed(4)} to ${value.high.toFixed(4)}</td></tr>`;
}

function worst({ question, scores, missed, found }: Report['results'][number]): string {
  const hits = found.map(
    ({ doc_id, grade, excerpt }) =>
      `<li class="${grade > 0 ? 'found' : 'instead'}">${escaped(doc_id)} <small>${escaped(excerpt)}</small></li>`,
  );
  return `<details><summary>${escaped(question)} <small>${(scores[MAIN_MEASURE] ?? 0).toFixed(3)}</small></summary>
<p>missed: ${escaped(missed.join(', ')) || 'nothing in the first ten'}</p><ol>${hits.join('')}</ol></details>`;
}
