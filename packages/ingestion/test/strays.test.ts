import { attemptUuid, type ChunkObject, type CommitRecord, docUuid, type StoredChunk } from '@sluice/core';
import { audit, createSweeper } from '@sluice/ingestion';
import { testServices } from '@sluice/testkit';
import { describe, expect, it } from 'vitest';
import type { Harness } from './harness.js';
import { useRealStores } from './real-store.js';
import { verifyHarness } from './verify-harness.js';

/** What something else puts into the collections of the real Weaviate, beside the chunks of documents. */

const stores = useRealStores('Strays');

async function harness(): Promise<Harness> {
  const made = await stores.harness();
  await made.write('a.md', 'firstword here\n\nsecondword here\n\nthirdword here');
  await made.reconcile('a.md');
  await made.write('b.md', 'otherword here');
  await made.reconcile('b.md');
  return made;
}

const FOREIGN = 'aaaaaaaa-0000-4000-8000-000000000001';

/** In the range of the document, as no attempt would make it. */
const idWithin = (docId: string) => `${docUuid(docId).slice(0, 18)}-8000-000000000001`;

async function insertCopy(h: Harness, change: (chunk: StoredChunk) => Partial<ChunkObject>): Promise<void> {
  const [first] = await h.chunks('a.md');
  const [chunk] = await h.store.readChunks([first?.id ?? ''], { vectors: true });
  if (chunk?.vector === undefined) throw new Error('no chunk to copy');
  await h.store.insertChunks([{ ...chunk, vector: chunk.vector, ...change(chunk) }]);
}

async function insertRaw(kind: 'Chunk' | 'Commit', object: Record<string, unknown>): Promise<void> {
  const name = stores.latest(kind);
  const body = JSON.stringify({ class: name, id: FOREIGN, ...object });
  const answer = await fetch(`${testServices().weaviate}/v1/objects`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  if (!answer.ok) throw new Error(`${name}: ${await answer.text()}`);
}

/** Each puts one object into the store that is none of ours. */
const STRAYS: [string, (h: Harness) => Promise<void>][] = [
  ['a copy of a live chunk under a foreign id', (h) => insertCopy(h, () => ({ id: FOREIGN }))],
  ['a copy of a live chunk under an id like its own', (h) => insertCopy(h, ({ doc_id }) => ({ id: idWithin(doc_id) }))],
  ['a copy with an invented attempt under a foreign id', (h) => insertCopy(h, () => ({ id: FOREIGN, rev: attemptUuid() }))],
  ['a copy under an id like those of another document', (h) => insertCopy(h, () => ({ id: idWithin('inbox/b.md') }))],
  ['a chunk whose doc_uuid is of no document', (h) => insertCopy(h, () => ({ id: FOREIGN, doc_uuid: attemptUuid() }))],
  ['a chunk of a document whose doc_uuid is not its own', (h) => insertCopy(h, () => ({ id: FOREIGN, doc_uuid: FOREIGN }))],
  [
    'a chunk of a doc_id without a source',
    (h) => insertCopy(h, () => ({ id: docUuid('x'), doc_id: 'x', doc_uuid: docUuid('x') })),
  ],
  ['a chunk that says nothing of itself', () => insertRaw('Chunk', { properties: { text: 'x' }, vector: [] })],
  ['a chunk whose facts are none', () => insertRaw('Chunk', { properties: { text: 'x', facts: 'null' }, vector: [] })],
  [
    'a copy of a commit',
    async (h) => {
      const top = (await h.top('a.md')) as CommitRecord;
      const { created_ms: _created, manifest: _manifest, ...record } = top;
      await insertRaw('Commit', {
        properties: { doc_uuid: top.doc_uuid, record: JSON.stringify(record), head: JSON.stringify(record) },
      });
    },
  ],
];

async function search(h: Harness, query: string, limit = 100) {
  const filter = { op: 'const', value: true } as const;
  return h.store.search({ mode: 'keyword', query, alpha: 0, limit, filter, mayAccess: () => true });
}

const look = async (h: Harness, repair: boolean) => (await verifyHarness(h, { repair })).report;

const textsOf = async (h: Harness, query: string) => (await search(h, query)).map(({ chunk }) => chunk.text).sort();
const LIVE = ['firstword here', 'otherword here', 'secondword here', 'thirdword here'];

describe.each(STRAYS)('%s', (name, insert) => {
  it('is counted by verify, and gone after its repair', async () => {
    const h = await harness();
    await insert(h);
    const { differences, by_kind, examples } = await look(h, false);
    expect(differences).toBe(1);
    expect(by_kind.orphan_chunk + by_kind.duplicate_chunk).toBe(1);
    expect(examples).toHaveLength(/nothing|none|without/.test(name) ? 0 : 1);
    expect((await look(h, true)).repaired).toBe(1);
    expect((await look(h, false)).differences).toBe(0);
    expect(await h.store.existingChunks([FOREIGN])).toEqual(new Set());
    expect(await textsOf(h, 'here')).toEqual(LIVE);
    expect(await h.texts('a.md')).toEqual(['firstword here', 'secondword here', 'thirdword here']);
  });

  it('is repaired by the audit', async () => {
    const h = await harness();
    await insert(h);
    const sweeper = createSweeper(h.deps, h.reconciler);
    const pending = async () => new Set<string>();
    const deps = { ...h.deps, reconciler: h.reconciler, sweeper, pending, freeStuckKeys: async () => 0 };
    const report = await audit(deps);
    expect(report.strays + report.recommitted).toBe(1);
    await h.sweep('a.md');
    expect(await audit(deps)).toMatchObject({ strays: 0, recommitted: 0, swept: 0 });
    expect((await look(h, false)).differences).toBe(0);
    expect(await textsOf(h, 'here')).toEqual(LIVE);
  });
});

describe('a search', () => {
  it.each(STRAYS.filter(([name]) => !name.includes('like its own')))('shows nothing of %s', async (_name, insert) => {
    const h = await harness();
    await insert(h);
    expect(await textsOf(h, 'here')).toEqual(LIVE);
    expect(await search(h, 'firstword')).toHaveLength(1);
    expect(await search(h, 'here', 4)).toHaveLength(4);
  });
});
