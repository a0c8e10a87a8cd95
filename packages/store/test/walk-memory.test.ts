import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { seedStore, testServices } from '@sluice/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestStore } from './create-test-store.js';

const DOCUMENTS = 1_000;
const CHUNKS = 50;
/** A walk may hold a page of rows and what of it is not collected yet; all rows together are several times as large. */
const BOUND_MB = 20;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void; // the flag makes it a global function

function heapMb(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

let made: ReturnType<typeof createTestStore>;
beforeAll(async () => {
  made = createTestStore(testServices().weaviate, { dimensions: 4, fields: {} });
  await made.store.ensureSchema();
  await seedStore(made.store, { documents: DOCUMENTS, chunksPerDocument: CHUNKS, dimensions: 4 });
}, 600_000);
afterAll(async () => {
  await made.store.close();
  await made.remove();
});

it('walks 50,000 chunks and their records document by document in bounded memory', async () => {
  const start = heapMb();
  let most = 0;
  let chunks = 0;
  let documents = 0;
  let last = '';
  for await (const group of made.store.walkObjects('chunks')) {
    expect(group.docUuid > last).toBe(true);
    last = group.docUuid;
    expect(group.objects).toHaveLength(CHUNKS);
    chunks += group.objects.length;
    if (documents++ % 100 === 0) most = Math.max(most, heapMb() - start);
  }
  expect([documents, chunks]).toEqual([DOCUMENTS, DOCUMENTS * CHUNKS]);
  for await (const group of made.store.walkRecords()) documents -= group.length;
  expect(documents).toBe(0);
  expect(most).toBeLessThan(BOUND_MB);

  // The measure notices a walk that keeps what it has seen.
  const kept: unknown[] = [];
  const before = heapMb();
  for await (const group of made.store.walkObjects('chunks')) kept.push(group);
  expect(heapMb() - before).toBeGreaterThan(BOUND_MB);
  expect(kept).toHaveLength(DOCUMENTS);
}, 300_000);
