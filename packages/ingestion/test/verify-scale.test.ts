import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { attemptUuid, type ChunkStore, docUuid, type ReconcileRequest, topCommit } from '@sluice/core';
import { verify } from '@sluice/ingestion';
import { createStore } from '@sluice/store';
import { dropCollections, seedStore, testServices } from '@sluice/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createHarness, type Harness } from './harness.js';

/** SLUICE_VERIFY_CHUNKS=1000000 npm test -- verify-scale: a store of a million chunks (CONTRIBUTING.md). */
const CHUNKS = Number(process.env.SLUICE_VERIFY_CHUNKS ?? 50_000);
const A_DOCUMENT = 50;
const DOCUMENTS = CHUNKS / A_DOCUMENT;
const DIMENSIONS = 4;
/** A page of the walk and what of it is not collected yet, and 100 bytes a file for the list of the disk. All rows are several times that. */
const BOUND_MB = 30 + (DOCUMENTS * 100) / 2 ** 20;
const NAMESPACE = `verify${process.pid}x${Date.now().toString(36)}`;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void; // the flag makes it a global function

function heapMb(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

let h: Harness;
let store: ChunkStore;
const { weaviate: url } = testServices();
const pathOf = (n: number) => `seed/${n}.txt`;

beforeAll(async () => {
  store = createStore({ url, namespace: NAMESPACE, collection: 'test', dimensions: DIMENSIONS });
  h = await createHarness({ store, source: { name: 'seeded' } });
  await seedStore(store, { documents: DOCUMENTS, chunksPerDocument: A_DOCUMENT, dimensions: DIMENSIONS });
  // A seeded record says that its file holds its doc_id.
  for (let n = 0; n < DOCUMENTS; n += 1) await h.write(pathOf(n), `seeded/${pathOf(n)}`);
}, 3_600_000);
afterAll(async () => {
  await store.close();
  await h.close();
  await dropCollections(url, NAMESPACE);
});

async function run(extraFiles: readonly string[] = []) {
  const view = h.deps.source('seeded');
  if (view === undefined) throw new Error('no source');
  const repairs: ReconcileRequest[] = [];
  const start = heapMb();
  let most = 0;
  const began = performance.now();
  const report = await verify(
    {
      ...h.deps,
      policy: {
        ...h.deps.policy,
        of: (source, path) => ({ ...h.deps.policy.of(source, path), configHash: 'seed', fingerprint: () => 'seed' }),
      },
      sources: () => [view],
      listFiles: async function* () {
        for (let n = 0; n < DOCUMENTS; n += 1) yield pathOf(n);
        yield* extraFiles;
      },
      pending: async () => new Set<string>(),
      repair: async (request) => void repairs.push(request),
    },
    {
      repair: true,
      onProgress: (documents) => {
        if (documents % 200 === 0) most = Math.max(most, heapMb() - start);
      },
    },
  );
  console.log(
    `verify: ${report.checked.chunks} chunks in ${((performance.now() - began) / 1000).toFixed(1)} s, heap at most ${most.toFixed(1)} MB more`,
  );
  return { report, most, repaired: repairs.map(({ path, force }) => ({ path, force })) };
}

it('compares many chunks three ways in bounded memory, and names each kind of difference', async () => {
  const clean = await run();
  expect(clean.report).toMatchObject({ differences: 0, in_grace: 0, in_flight: 0, examples: [] });
  expect(clean.report.checked).toEqual({ files: DOCUMENTS, documents: DOCUMENTS, chunks: CHUNKS });
  expect(clean.most).toBeLessThan(BOUND_MB);

  await store.deleteObjects([await someChunk(1)]);
  await writeFile(join(h.root, pathOf(2)), 'edited');
  await rm(join(h.root, pathOf(3)));
  await h.write('new.txt', 'new');
  await addChunk(4, { rev: attemptUuid() });
  await addChunk(5, {});
  await store.deleteObjects([await someChunk(6)]);
  await addChunk(6, { id: (await named(6)).id, level: 3 });

  const { report, repaired, most } = await run(['new.txt']);
  expect(report.by_kind).toEqual({
    missing_document: 1,
    stale_document: 1,
    unexpected_document: 1,
    missing_chunk: 1,
    orphan_chunk: 1,
    duplicate_chunk: 1,
    wrong_metadata: 1,
  });
  expect(new Set(repaired)).toEqual(
    new Set([
      { path: pathOf(1), force: 'rebuild' },
      { path: pathOf(2), force: 'recommit' },
      { path: pathOf(3), force: 'recommit' },
      { path: 'new.txt', force: 'recommit' },
      { path: pathOf(4), force: 'recommit' },
      { path: pathOf(5), force: 'rebuild' },
      { path: pathOf(6), force: 'rebuild' },
    ]),
  );
  expect(most).toBeLessThan(BOUND_MB);
}, 3_600_000);

it('would be seen to keep what it walks', async () => {
  const kept: unknown[] = [];
  const before = heapMb();
  for await (const group of store.walkObjects('chunks')) {
    kept.push(group);
    if (kept.length * A_DOCUMENT >= 50_000) break;
  }
  expect(heapMb() - before).toBeGreaterThan(Math.min(CHUNKS / 50_000, 1) * 20);
}, 600_000);

/** The first chunk that the commit of a document names. */
async function named(n: number) {
  const uuid = docUuid(`seeded/${pathOf(n)}`);
  const top = topCommit((await store.recordsOf([uuid])).get(uuid) ?? []);
  const [entry] = top === undefined ? [] : (await store.readManifest(top)).entries;
  if (entry === undefined) throw new Error('the document was not seeded');
  return entry;
}

async function someChunk(n: number) {
  const { id } = await named(n);
  const object = (await store.listObjects(docUuid(`seeded/${pathOf(n)}`))).find((one) => one.id === id);
  if (object === undefined) throw new Error('the chunk was not seeded');
  return object;
}

/** A copy of a document's second chunk under another id, with these members changed. */
async function addChunk(n: number, change: { id?: string; rev?: string; level?: 1 | 3 }): Promise<void> {
  const uuid = docUuid(`seeded/${pathOf(n)}`);
  const chunks = (await store.listObjects(uuid)).filter(({ collection, id }) => collection === 'chunks' && id !== change.id);
  const [chunk] = await store.readChunks([chunks[1]?.id ?? ''], { vectors: true });
  if (chunk?.vector === undefined) throw new Error('the document was not seeded');
  const { vector, metadata } = chunk;
  const id = change.id ?? `${uuid.slice(0, 18)}-9000-${attemptUuid().slice(-12)}`;
  await store.insertChunks([
    { ...chunk, vector, id, rev: change.rev ?? chunk.rev, metadata: { ...metadata, security_level: change.level ?? 1 } },
  ]);
}
