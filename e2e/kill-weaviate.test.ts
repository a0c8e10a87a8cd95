import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChunkStore, Filter, StoredObject } from '@sluice/core';
import { createStore } from '@sluice/store';
import { createWordEmbedder, storeDocument } from '@sluice/testkit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type BreakableServices, startBreakableServices } from './chaos/services.js';

const DIMENSIONS = 256;
const CHUNKS = 100;
const EVERYTHING: Filter = { op: 'and', of: [] };

let folder: string;
let services: BreakableServices;
let store: ChunkStore;
const embedder = createWordEmbedder(DIMENSIONS);

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-kill-'));
  services = await startBreakableServices(folder);
  store = createStore({ url: services.weaviate.directUrl, namespace: 'kill', collection: 'test', dimensions: DIMENSIONS });
  await store.ensureSchema();
}, 120_000);
afterEach(async () => {
  await store.close();
  await services.stop();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

const write = (name: string, first: number, chunks: number) => {
  const text = Array.from({ length: chunks }, (_, n) => `stone ${first + n} by the gate`).join('\n\n');
  return storeDocument(store, embedder, { docId: `inbox/${name}.md`, text, fence: Date.now() * 1_000 });
};

it('what was acknowledged is found by vector, keyword and filter after kill -9 of Weaviate', async () => {
  const query = 'stone by the gate';
  const [vector] = await embedder.embed([query]);
  if (vector === undefined) throw new Error('no vector');
  const found = async (mode: 'dense' | 'keyword') =>
    (await store.search({ mode, query, vector, alpha: 0.6, limit: 5_000, filter: EVERYTHING, mayAccess: () => true })).length;
  for (let round = 1; round <= 3; round += 1) {
    // Nothing but the commit, in another collection, is written after the last batch of chunks.
    await write(`${round}`, round * 1_000, CHUNKS);
    await services.weaviate.kill();
    await services.weaviate.restart();
    expect(await found('dense'), `by vector, after ${round} kills`).toBe(round * CHUNKS);
    expect(await found('keyword'), `by keyword, after ${round} kills`).toBe(round * CHUNKS);
  }
}, 300_000);

it('what was being written when Weaviate was killed can be deleted', async () => {
  // It leaves something that no filter finds after about every third kill.
  for (let round = 1; round <= 10; round += 1) {
    let killed = false;
    const writing = Array.from({ length: 4 }, async (_, writer) => {
      for (let n = 0; !killed; n += 1) await write(`${writer}-${n}`, n, 20);
    });
    const ended = Promise.allSettled(writing);
    await sleep(200 + 60 * round);
    await services.weaviate.kill();
    killed = true;
    await ended;
    await services.weaviate.restart();
    const left = await objectsOf(store);
    expect(left.length).toBeGreaterThan(0);
    await store.deleteObjects(left);
    expect(await objectsOf(store), `after ${round} kills`).toEqual([]);
  }
}, 300_000);

async function objectsOf(store: ChunkStore): Promise<StoredObject[]> {
  const objects: StoredObject[] = [];
  for await (const group of store.walkObjects('chunks', { onStray: () => {} })) objects.push(...group.objects);
  for await (const records of store.walkRecords({ onStray: () => {} }))
    for (const { id, fence, attempt } of records) objects.push({ collection: 'commits', id, fence, attempt });
  return objects;
}
