import type { BenchContext, Row } from '../bench.js';
import { type BenchInstance, STABILITY_MS, until, withInstance } from '../instance.js';
import { memoryOf } from '../memory.js';
import { type Limits, shareOf } from '../raw-limit.js';
import { round } from '../statistics.js';
import { abstracts, longTexts } from '../texts.js';

interface Ingested {
  chunks: number;
  embeddings: number;
  seconds: number;
}

/**
 * Moves a folder of texts into the watched one and waits until all are committed. The time runs from the moment the files have been
 * unchanged for long enough to the last commit.
 */
export async function ingest(instance: BenchInstance, name: string, texts: readonly string[]): Promise<Ingested> {
  const embeddings = await instance.metric('sluice_embeddings_computed_total');
  const before = await instance.countObjects('Commit');
  const moved = await instance.moveIn(name, texts);
  // A count of a collection costs the store next to nothing, unlike the status.
  await until(async () => (await instance.countObjects('Commit')) >= before + texts.length, 250);
  await instance.settle();
  const documents = await instance.documents(`${name}/`);
  const failed = documents.find(({ status }) => status !== 'indexed');
  if (documents.length !== texts.length || failed !== undefined) {
    throw new Error(`${documents.length} of ${texts.length} documents: ${JSON.stringify(failed)}`);
  }
  const last = Math.max(...documents.map(({ committed_at }) => Date.parse(committed_at ?? '')));
  return {
    chunks: documents.reduce((sum, { chunks }) => sum + chunks, 0),
    embeddings: (await instance.metric('sluice_embeddings_computed_total')) - embeddings,
    seconds: (last - moved - STABILITY_MS) / 1000,
  };
}

function ingestRow(what: string, texts: readonly string[], done: Ingested, limits: Limits): Row {
  const rate = done.chunks / done.seconds;
  return {
    what,
    documents: texts.length,
    chunks: done.chunks,
    embeddings: done.embeddings,
    seconds: round(done.seconds, 1),
    'chunks/s': round(rate, 1),
    'raw before/s': round(limits.before, 1),
    'raw after/s': round(limits.after, 1),
    'of raw limit': shareOf(rate, limits),
  };
}

/** Documents of one chunk and of many, then copies of both, whose vectors are known. */
export async function benchIngest({ services, sizes, raw, say }: BenchContext): Promise<Row[]> {
  const one = abstracts(7, sizes.documents);
  const long = longTexts(8, Math.ceil(sizes.documents / sizes.paragraphs), sizes.paragraphs);
  const rows: Row[] = [];
  const inOrder = [
    { name: 'one', label: 'one chunk a document', texts: one, pieces: one },
    { name: 'long', label: `${sizes.paragraphs} paragraphs a document`, texts: long, pieces: abstracts(9, sizes.rawTexts) },
  ];
  await withInstance(services, async (instance) => {
    for (const { name, label, texts, pieces } of inOrder) {
      const sample = pieces.slice(0, sizes.rawTexts);
      const before = await raw.measure(sample);
      say(`ingest, ${label}: raw limit ${before.toFixed(1)}/s`);
      const done = await ingest(instance, name, texts);
      const limits = { before, after: await raw.measure(sample) };
      rows.push(ingestRow(`ingest, ${label}`, texts, done, limits));
      const copies = await ingest(instance, `${name}-copies`, texts);
      rows.push(ingestRow(`ingest, ${label}, vectors known`, texts, copies, limits));
    }
    rows.push(...(await memoryRows(instance)));
  });
  return rows;
}

/** Peak memory of each process, as Linux records it; no rows elsewhere. */
async function memoryRows(instance: BenchInstance): Promise<Row[]> {
  const { processes } = await instance.status();
  const rows: Row[] = [];
  for (const { role, pid } of processes) {
    const memory = await memoryOf(pid);
    if (memory !== undefined) rows.push({ what: `memory of ${role}`, 'peak RSS MB': round(memory.peak) });
  }
  return rows;
}
