import { type Comparison, interval } from './comparison.js';
import { STYLE } from './html.js';
import { escaped, scatterPlot } from './plots.js';

/** The comparison as one page that needs nothing else: two plots, a table, the worst questions of the best settings. */
export function comparisonHtml(comparison: Comparison): string {
  const { points, best, measure } = comparison;
  const plot = (quantity: (point: Comparison['points'][number]) => number, title: string) =>
    scatterPlot(
      points.flatMap((point, place) => {
        const y = point.totals[measure];
        return y === undefined
          ? []
          : [{ name: `${place + 1}. ${point.ingest}; ${point.search}`, x: quantity(point), y, best: place === best }];
      }),
      title,
      measure,
    );
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escaped(comparison.dataset)}: settings compared</title>
${STYLE}
<h1>${escaped(comparison.dataset)}: ${points.length} settings compared</h1>
<p>${comparison.questions} questions. Bars are 95 % bootstrap intervals; the best is red. Sluice ${escaped(comparison.version)},
${escaped(comparison.made_at)}.</p>
<h2>Quality against latency</h2>
${plot(({ latency_ms }) => latency_ms.p50, 'latency of a search, p50 in ms')}
<h2>Quality against the number of chunks</h2>
${plot(({ chunks }) => chunks, 'chunks in the collection')}
<h2>All settings</h2>
<p>Difference and p of a paired randomisation test against the first line.</p>
<table><tr><th>collection</th><th>search</th><th>chunks</th><th>nDCG@10</th><th>MRR@10</th><th>recall@5</th><th>difference</th><th>p</th><th>p50 ms</th></tr>
${points.map((point, place) => row(point, place, place === best)).join('\n')}
</table>
<h2>Worst questions of the best settings</h2>
${comparison.worst_questions.map(worst).join('\n')}
</html>
`;
}

function row(point: Comparison['points'][number], place: number, isBest: boolean): string {
  const { totals, against_first: paired, latency_ms: latency } = point;
  const name = `${place + 1}. ${escaped(point.ingest)}`;
  const cells = [
    escaped(point.search),
    String(point.chunks),
    ...['ndcg@10', 'mrr@10', 'recall@5'].map((measure) => interval(totals[measure])),
    place === 0 ? '' : paired.difference.toFixed(4),
    place === 0 ? '' : paired.p.toFixed(4),
    latency.p50.toFixed(1),
  ];
  return `<tr><td>${isBest ? `<b>${name}</b>` : name}</td>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
}

function worst({ question, score, missed, found }: Comparison['worst_questions'][number]): string {
  const hits = found.map(
    ({ doc_id, grade, excerpt }) =>
      `<li class="${grade > 0 ? 'found' : 'instead'}">${escaped(doc_id)} <small>${escaped(excerpt)}</small></li>`,
  );
  return `<details><summary>${escaped(question)} <small>${score.toFixed(3)}</small></summary>
<p>missed: ${escaped(missed.join(', ')) || 'nothing in the first ten'}</p><ol>${hits.join('')}</ol></details>`;
}
