import { loadConfig, requireServices } from '@sluice/config';
import { docUuid } from '@sluice/core';
import { createEmbedder, type LocalEmbedder } from '@sluice/models';
import { createStore } from '@sluice/store';
import { seedStore } from '@sluice/testkit';
import type { BenchContext, Row } from '../bench.js';
import { type BenchInstance, requestJson, withInstance } from '../instance.js';
import { median, round } from '../statistics.js';
import { seeded, zipfWords } from '../texts.js';

const CHUNKS = 10;
const LIMIT = 10;
/** Words of a chunk: about 690 characters, as in the rows of ingest. */
const WORDS = 110;
/** Documents replaced a second. */
const REPLACES = 2;
/** Queries before the ones that count. */
const WARM_UP = 10;

/** Embeds the query and asks Weaviate for its hybrid search: what a search can't do without. */
function withoutSluice(options: { weaviate: string; chunks: string; embedder: LocalEmbedder }) {
  const { weaviate, chunks, embedder } = options;
  return async (query: string): Promise<void> => {
    const [vector] = await embedder.embed([query], undefined, { urgent: true });
    const hybrid = `query:${JSON.stringify(query)},vector:[${[...(vector ?? [])]}],alpha:0.5,properties:["search_text"]`;
    const answer = await requestJson<{ data?: { Get: Record<string, unknown[]> } }>(`${weaviate}/v1/graphql`, {
      query: `{Get{${chunks}(limit:${LIMIT},hybrid:{${hybrid}}){doc_id text _additional{id score}}}}`,
    });
    if (answer.data?.Get[chunks]?.length !== LIMIT) throw new Error(JSON.stringify(answer).slice(0, 300));
  };
}

function withSluice(instance: BenchInstance) {
  return async (query: string): Promise<void> => {
    const body = await instance.post<{ results: unknown[] }>('/v1/search', { query, limit: LIMIT });
    if (body.results.length !== LIMIT) throw new Error(JSON.stringify(body).slice(0, 300));
  };
}

type Query = (query: string) => Promise<void>;

/** Both in turns, so that they see the same machine. */
async function compare(
  what: string,
  queries: number,
  sides: { sentence: () => string; alone: Query; whole: Query },
): Promise<Row> {
  const times: Record<'alone' | 'whole', number[]> = { alone: [], whole: [] };
  for (let n = -WARM_UP; n < queries; n++) {
    const query = sides.sentence();
    const order = n % 2 === 0 ? (['alone', 'whole'] as const) : (['whole', 'alone'] as const);
    for (const side of order) {
      const began = performance.now();
      await sides[side](query);
      if (n >= 0) times[side].push(performance.now() - began);
    }
  }
  const [alone, whole] = [median(times.alone), median(times.whole)];
  return {
    what,
    queries,
    'embed + hybrid, p50 ms': round(alone, 1),
    '/v1/search, p50 ms': round(whole, 1),
    ratio: round(whole / alone, 2),
  };
}

/** A search at rest and while documents are replaced, over seeded chunks. */
export async function benchSearch({ services, sizes, say }: BenchContext): Promise<Row[]> {
  return withInstance(services, async (instance) => {
    const config = loadConfig({ flags: {}, env: instance.env, cwd: instance.base });
    const embedder = await createEmbedder({ folder: services.model, threads: 1 });
    const store = createStore({
      url: services.weaviate,
      namespace: instance.namespace,
      collection: (await requireServices(config)).identity.collection,
      dimensions: embedder.dimensions,
      fields: {},
    });
    let replacing: Promise<void> | undefined;
    let isOver = false;
    try {
      const words = zipfWords(seeded(11), 20_000);
      const documents = Math.ceil(sizes.searched / CHUNKS);
      const seed = { documents, chunksPerDocument: CHUNKS, dimensions: embedder.dimensions, textOf: () => words(WORDS) };
      await seedStore(store, seed);
      const sides = {
        sentence: () => words(8),
        alone: withoutSluice({ weaviate: services.weaviate, chunks: await instance.className('Chunk'), embedder }),
        whole: withSluice(instance),
      };
      const rows = [await compare('search at rest', sizes.queries, sides)];
      let replaced = 0;
      const replace = async () => {
        const superseded: { due: number; old: Awaited<ReturnType<typeof store.listObjects>> }[] = [];
        for (; !isOver; replaced++) {
          const began = performance.now();
          const [first, revision] = [replaced % documents, 1 + Math.floor(replaced / documents)];
          const old = await store.listObjects(docUuid(`seeded/seed/${first}.txt`));
          await seedStore(store, { ...seed, documents: 1, first, revision });
          superseded.push({ due: performance.now() + config.store.readerGraceMs, old });
          for (let next = superseded[0]; next !== undefined && next.due < performance.now(); next = superseded[0]) {
            superseded.shift();
            await store.deleteObjects(next.old);
          }
          await new Promise((resolve) => setTimeout(resolve, Math.max(0, 1000 / REPLACES - (performance.now() - began))));
        }
      };
      replacing = replace();
      rows.push(await compare('search while documents are replaced', sizes.queries, sides));
      isOver = true;
      await replacing;
      say(`${replaced} documents of ${CHUNKS} chunks were replaced meanwhile`);
      return rows;
    } finally {
      isOver = true;
      await replacing?.catch(() => {});
      await embedder.close();
      await store.close();
    }
  });
}
