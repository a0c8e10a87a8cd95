import { loadConfig, requireServices } from '@sluice/config';
import { createStore } from '@sluice/store';
import { seedStore } from '@sluice/testkit';
import type { BenchContext, Row } from '../bench.js';
import { withInstance } from '../instance.js';
import { round } from '../statistics.js';
import { abstracts, seeded, zipfWords } from '../texts.js';
import { ingest } from './ingest.js';

const CHUNKS = 10;
const WORDS = 110;
const DIMENSIONS = 384;

/** The same number of documents ingested into a store that holds more and more chunks. */
export async function benchGrowth({ services, sizes, say }: BenchContext): Promise<Row[]> {
  return withInstance(services, async (instance) => {
    const config = loadConfig({ flags: {}, env: instance.env, cwd: instance.base });
    const store = createStore({
      url: services.weaviate,
      namespace: instance.namespace,
      collection: (await requireServices(config)).identity.collection,
      dimensions: DIMENSIONS,
    });
    const words = zipfWords(seeded(12), 20_000);
    const rows: Row[] = [];
    let seededDocuments = 0;
    let first = Number.NaN;
    try {
      for (const [n, chunks] of sizes.growth.entries()) {
        const documents = Math.max(0, Math.ceil(chunks / CHUNKS) - seededDocuments);
        say(`growth: up to ${chunks} chunks`);
        const seed = { documents, first: seededDocuments, chunksPerDocument: CHUNKS, dimensions: DIMENSIONS };
        await seedStore(store, { ...seed, textOf: () => words(WORDS) });
        seededDocuments += documents;
        const texts = abstracts(100 + n, Math.ceil(sizes.documents / 4));
        const { seconds } = await ingest(instance, `growth-${n}`, texts);
        const each = (1000 * seconds) / texts.length;
        if (n === 0) first = each;
        rows.push({
          what: `ingest beside ${chunks} chunks`,
          documents: texts.length,
          'ms a document': round(each, 1),
          'times the first': round(each / first, 2),
        });
      }
      return rows;
    } finally {
      await store.close();
    }
  });
}
