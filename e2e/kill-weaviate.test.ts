import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Filter } from '@sluice/core';
import { createStore } from '@sluice/store';
import { createWordEmbedder, storeDocument } from '@sluice/testkit';
import { expect, it } from 'vitest';
import { startBreakableServices } from './chaos/services.js';

const DIMENSIONS = 256;
const CHUNKS = 100;
const EVERYTHING: Filter = { op: 'and', of: [] };

it('what was acknowledged is found by vector, keyword and filter after kill -9 of Weaviate', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-kill-'));
  const services = await startBreakableServices(folder);
  const { weaviate } = services;
  const store = createStore({ url: weaviate.directUrl, namespace: 'kill', collection: 'test', dimensions: DIMENSIONS });
  const embedder = createWordEmbedder(DIMENSIONS);
  const query = 'stone by the gate';
  try {
    await store.ensureSchema();
    const [vector] = await embedder.embed([query]);
    if (vector === undefined) throw new Error('no vector');
    const found = async (mode: 'dense' | 'keyword') =>
      (await store.search({ mode, query, vector, alpha: 0.6, limit: 5_000, filter: EVERYTHING, mayAccess: () => true })).length;
    for (let round = 1; round <= 3; round += 1) {
      const text = Array.from({ length: CHUNKS }, (_, n) => `stone ${round * 1_000 + n} by the gate`).join('\n\n');
      // Nothing but the commit, in another collection, is written after the last batch of chunks.
      await storeDocument(store, embedder, { docId: `inbox/${round}.md`, text, fence: Date.now() * 1_000 });
      await weaviate.kill();
      await weaviate.restart();
      expect(await found('dense'), `by vector, after ${round} kills`).toBe(round * CHUNKS);
      expect(await found('keyword'), `by keyword, after ${round} kills`).toBe(round * CHUNKS);
    }
  } finally {
    await store.close();
    await services.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}, 300_000);
