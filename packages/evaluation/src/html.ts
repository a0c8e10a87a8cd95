import { MAIN_MEASURE, worstOf } from './markdown.js';
import { MEASURE_NAMES, type Report } from './report.js';
import type { Estimate } from './statistics.js';

/** The report as one page that needs nothing else: no script, no font, no image from elsewhere. */
export function toHtml(report: Report): string {
  const groups = [['all', report.totals], ...Object.entries(report.by_split), ...Object.entries(report.by_kind)] as const;
  const bars = groups.flatMap(([name, totals]) => {
    const value = totals[MAIN_MEASURE];
    return value === undefined ? [] : [{ name: `${name} (${value.n})`, value }];
  });
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escaped(`${report.dataset}: ${report.run}`)}</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1c2733; }
table { border-collapse: collapse; } td, th { padding: .2rem .7rem; border-bottom: 1px solid #dde3ea; text-align: right; }
td:first-child, th:first-child { text-align: left; } svg { max-width: 100%; height: auto; }
.found { color: #17693a; } .instead { color: #8a3b12; } small { color: #5a6b7c; }
</style>
<h1>${escaped(report.dataset)}: ${escaped(report.run)}</h1>
<p>${report.questions} questions, ${report.unanswerable} of them without an answer in the documents. Search latency p50
${report.latency_ms.p50} ms, p95 ${report.latency_ms.p95} ms. Sluice ${escaped(report.version)}, ${escaped(report.made_at)}.</p>
<h2>${MAIN_MEASURE} with 95 % intervals</h2>
${intervals(bars)}
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

/** A dot with its interval for each of some values between 0 and 1. */
function intervals(rows: readonly { name: string; value: Pick<Estimate, 'mean' | 'low' | 'high'> }[]): string {
  const left = 220;
  const width = 460;
  const step = 26;
  const x = (value: number) => (left + width * value).toFixed(1);
  const height = rows.length * step + 30;
  const grid = [0, 0.25, 0.5, 0.75, 1].map(
    (value) =>
      `<line x1="${x(value)}" x2="${x(value)}" y1="5" y2="${height - 22}" stroke="#dde3ea"/><text x="${x(value)}" y="${height - 6}" text-anchor="middle">${value}</text>`,
  );
  const marks = rows.map(({ name, value }, index) => {
    const y = 18 + index * step;
    return `<text x="${left - 10}" y="${y + 4}" text-anchor="end">${escaped(name)}</text>
<line x1="${x(value.low)}" x2="${x(value.high)}" y1="${y}" y2="${y}" stroke="#2b6cb0" stroke-width="3"/>
<circle cx="${x(value.mean)}" cy="${y}" r="5" fill="#2b6cb0"/><text x="${left + width + 12}" y="${y + 4}">${value.mean.toFixed(3)}</text>`;
  });
  return svg(left + width + 70, height, [...grid, ...marks]);
}

const BINS = 10;

function histogram(values: readonly number[]): string {
  const counts = Array.from({ length: BINS }, () => 0);
  for (const value of values) {
    const bin = Math.min(BINS - 1, Math.floor(value * BINS));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  const most = Math.max(1, ...counts);
  const marks = counts.map((count, bin) => {
    const height = (120 * count) / most;
    return `<rect x="${20 + bin * 60}" y="${140 - height}" width="52" height="${height}" fill="#2b6cb0"/>
<text x="${46 + bin * 60}" y="${135 - height}" text-anchor="middle">${count}</text>
<text x="${46 + bin * 60}" y="158" text-anchor="middle">${(bin / BINS).toFixed(1)}</text>`;
  });
  return svg(640, 165, marks);
}

function svg(width: number, height: number, parts: readonly string[]): string {
  return `<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-size="12" fill="#1c2733" role="img">${parts.join('\n')}</svg>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
