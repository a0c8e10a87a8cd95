import { type Caller, type ChunkStore, type SearchRequest, SluiceError, systemClock } from '@sluice/core';
import { fieldCatalog } from '@sluice/metadata';
import { createMetrics, silentLogger } from '@sluice/telemetry';
import { createMemoryStore, createWordEmbedder, createWordTokenizer, storeDocument } from '@sluice/testkit';
import { expect, it } from 'vitest';
import { createRetrieval } from '../src/retrieval.js';
import { searchSchema } from '../src/settings.js';

const caller: Caller = { role: 'reader', clearance: 1, groups: [], name: 'test' };

async function createSearch(embed: (searched: Promise<SearchRequest>) => Promise<void>) {
  const memory = createMemoryStore();
  const embedder = createWordEmbedder();
  await storeDocument(memory, embedder, { docId: 'inbox/a.md', text: 'Kettles boil water.' });
  let began: (request: SearchRequest) => void = () => {};
  const searched = new Promise<SearchRequest>((resolve) => {
    began = resolve;
  });
  const store: ChunkStore = {
    ...memory,
    search(request) {
      began(request);
      return memory.search(request);
    },
  };
  return createRetrieval({
    store,
    matchedSpans: () => [],
    embedder: {
      ...embedder,
      async embed(texts, signal) {
        await embed(searched);
        return embedder.embed(texts, signal);
      },
    },
    tokenizer: createWordTokenizer(),
    catalog: fieldCatalog({}),
    settings: searchSchema.parse({}),
    readerGraceMs: 10_000,
    clock: systemClock,
    logger: silentLogger(),
    metrics: createMetrics({ role: 'test' }),
  });
}

it('begins to search while the query is being embedded', async () => {
  // The embedder answers only once the store has been asked.
  const retrieval = await createSearch(async (searched) => void (await searched));
  const { results } = await retrieval.search({ query: 'kettles' }, caller);
  expect(results.map(({ doc_id }) => doc_id)).toEqual(['inbox/a.md']);
});

it('fails with the embedder where meaning alone decides', async () => {
  const retrieval = await createSearch(() => Promise.reject(new SluiceError('embed_failed', 'the model is away')));
  await expect(retrieval.search({ query: 'kettles', mode: 'dense' }, caller)).rejects.toMatchObject({ code: 'embed_failed' });
});
