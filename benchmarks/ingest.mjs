/**
 * Ingest throughput against the raw limit of the model: as many processes as cores, one session of one thread each, one text a run, nothing
 * else. The raw limit is taken before and after, since machines drift. Targets: 70 % for one-chunk documents, 80 % from 20 chunks on.
 */
import { measureEmbedding } from '@sluice/models';
import { paragraph, seeded } from './texts.mjs';
import { createBenchWorker } from './worker.mjs';

export async function benchIngest(services, { documents = 1400 } = {}) {
  const random = seeded(7);
  const abstracts = Array.from({ length: documents }, () => paragraph(random));
  const long = Array.from({ length: Math.ceil(documents / 25) }, () =>
    Array.from({ length: 25 }, () => paragraph(random)).join('\n\n'),
  );
  const raw = () => measureEmbedding({ folder: services.modelFolder, threads: 2, texts: abstracts.slice(0, 300), rounds: 2 });
  const rows = [];
  let before = await raw();
  for (const [name, texts] of [
    ['one chunk a document', abstracts],
    ['25 chunks a document', long],
  ]) {
    const worker = await createBenchWorker(services, { concurrency: 8 });
    try {
      const paths = texts.map((_, n) => `document-${n}.txt`);
      for (const [n, path] of paths.entries()) await worker.write(path, texts[n]);
      // The first document pays for what is loaded once.
      await worker.write('first.txt', paragraph(random));
      const seconds = await worker.run(paths);
      const chunks = (await worker.metrics.embeddingsComputed.get()).values[0]?.value ?? 0;
      const after = await raw();
      const limit = (before.raw + after.raw) / 2;
      rows.push({
        what: `ingest, ${name}`,
        documents: texts.length,
        chunks,
        'chunks/s': Math.round(chunks / seconds),
        'raw limit/s': Math.round(limit),
        share: `${Math.round((100 * chunks) / seconds / limit)} %`,
      });
      const stages = Object.entries(await worker.stages()).map(([stage, mean]) => `${stage} ${(mean * 1000).toFixed(1)} ms`);
      console.log(`${name}: mean of each stage: ${stages.join(', ')}`);
      before = after;
    } finally {
      await worker.close();
    }
  }
  return rows;
}
