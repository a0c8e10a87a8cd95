import type { BenchContext, Row } from '../bench.js';
import { type BenchInstance, STABILITY_MS, until, withInstance } from '../instance.js';
import { quantile, round } from '../statistics.js';
import { abstracts } from '../texts.js';

const PATH = 'long.txt';

/** From the moment the file has been unchanged for long enough to its commit, ms. */
async function commitOf(instance: BenchInstance, text: string): Promise<number> {
  const committedMs = async () => {
    const document = (await instance.documents(PATH)).find(({ doc_id }) => doc_id === `inbox/${PATH}`);
    return Date.parse(document?.committed_at ?? '1970-01-01');
  };
  const before = await committedMs();
  await instance.write(PATH, text);
  const written = Date.now();
  await until(async () => (await committedMs()) > before, 400);
  return (await committedMs()) - written - STABILITY_MS;
}

/** Edits of one paragraph in a document of many chunks: one that changes it and one that adds a line before it. */
export async function benchEdit({ services, sizes }: BenchContext): Promise<Row[]> {
  return withInstance(services, async (instance) => {
    const paragraphs = abstracts(31, sizes.editedChunks);
    const news = abstracts(32, 2 * sizes.repeats);
    await commitOf(instance, paragraphs.join('\n\n'));
    const rows: Row[] = [];
    for (const kind of ['changes a paragraph', 'adds a line'] as const) {
      const embeddings = await instance.metric('sluice_embeddings_computed_total');
      const written = await instance.metric('sluice_objects_written_total');
      const times: number[] = [];
      for (let n = 0; n < sizes.repeats; n++) {
        const at = Math.floor((paragraphs.length * (n + 1)) / (sizes.repeats + 1));
        const text = news.pop() ?? '';
        if (kind === 'adds a line') paragraphs[at] = `A new line, number ${n}.\n${paragraphs[at]}`;
        else paragraphs[at] = text;
        times.push(await commitOf(instance, paragraphs.join('\n\n')));
      }
      rows.push({
        what: `edit that ${kind}, ${sizes.editedChunks} chunks`,
        edits: times.length,
        'p50 ms': round(quantile(times, 0.5)),
        'p95 ms': round(quantile(times, 0.95)),
        'embeddings an edit': round(((await instance.metric('sluice_embeddings_computed_total')) - embeddings) / times.length, 1),
        'objects an edit': round(((await instance.metric('sluice_objects_written_total')) - written) / times.length, 1),
      });
    }
    return rows;
  });
}
