import {
  attemptUuid,
  type ChunkStore,
  docUuid,
  type Filter,
  type Manifest,
  type ManifestEntry,
  objectUuid,
  SluiceError,
  type StrayObject,
  sha256,
  topCommit,
} from '@sluice/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createContractDocuments, FENCE, unit } from './contract-documents.js';
import { searchContract } from './search-contract.js';

export { CONTRACT_DIMENSIONS, createContractDocuments, unit } from './contract-documents.js';

export interface ContractStore {
  store: ChunkStore;
  /** Removes what the store made outside this process. */
  remove?: () => Promise<void>;
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'no error',
    (error: unknown) => (error instanceof SluiceError ? error.code : String(error)),
  );
}

/** A manifest whose hashes no compression shortens: 3 chunks are few enough for the record, 100 are not. */
function manifestOf(docId: string, chunks: number): Manifest {
  const entries = Array.from(
    { length: chunks },
    (_, n): ManifestEntry => ({
      id: objectUuid(docUuid(docId), n),
      rev: 'r',
      text_hash: sha256(`text ${n}`),
      object_hash: sha256(`object ${n}`),
      kind: 'paragraph',
      start: n * 10,
      end: n * 10 + 8,
      prefix: '',
      derived: false,
      headingPath: ['A', 'é'],
      tokens: 3,
      metadata: {},
    }),
  );
  return { entries, gaps: [], length: chunks * 10, pages: [], dropped: [] };
}

/** What every ChunkStore must do: run on the fake and on the real one. */
export function storeContract(name: string, create: () => Promise<ContractStore>): void {
  describe(`${name}: chunk store contract`, () => {
    let made: ContractStore;
    let store: ChunkStore;

    beforeAll(async () => {
      made = await create();
      store = made.store;
      await store.ensureSchema();
      await store.ensureSchema();
    });
    afterAll(async () => {
      await made.remove?.();
      await store.close();
    });

    it('is ready once its schema is', async () => {
      await store.checkSchema();
      await store.checkReady();
    });

    it('gives a record back as it was, with the time of its creation', async () => {
      const docs = createContractDocuments(store);
      const record = docs.recordOf('näh e\u0301 日本/"q" \\ x.md', {
        status: 'failed',
        reason: 'corrupt',
        message: 'line\nbreak \u0001 "quoted"',
        allowed_groups: [],
        live: ['a'],
        superseded: ['b'],
        superseded_revs: ['c'],
        fence: 1_760_000_000_123_457,
        metadata: docs.metadataOf({ doc_title: '', fields: { due: '2024-01-01T00:00:00.000Z', n: 0, b: false } }),
      });
      const before = Date.now();
      await store.insertRecord(record);
      const found = (await store.recordsOf([record.doc_uuid])).get(record.doc_uuid);
      expect(found).toHaveLength(1);
      const { created_ms: created, ...rest } = found?.[0] ?? { created_ms: undefined };
      expect(rest).toEqual(record);
      expect(Math.abs((created ?? 0) - before)).toBeLessThan(60_000);
    });

    it('reads all records of many documents and leaves out those without one', async () => {
      const docs = createContractDocuments(store);
      const paths = Array.from({ length: 120 }, (_, n) => `many/${n}.md`);
      await Promise.all(
        paths.flatMap((path, n) => [
          store.insertRecord(docs.recordOf(path, { fence: 1 })),
          ...(n % 3 === 0 ? [store.insertRecord(docs.recordOf(path, { fence: 2, kind: 'status' }))] : []),
        ]),
      );
      const found = await store.recordsOf([...paths, 'none.md'].map((path) => docUuid(docs.docId(path))));
      expect(found.size).toBe(120);
      for (const [n, path] of paths.entries()) {
        const fences = (found.get(docUuid(docs.docId(path))) ?? []).map((record) => record.fence).sort();
        expect(fences).toEqual(n % 3 === 0 ? [1, 2] : [1]);
      }
    });

    it('gives chunks back as they were, in the order of the ids, missing ones left out', async () => {
      const docs = createContractDocuments(store);
      const rev = attemptUuid();
      const rich = docs.chunkOf('e\u0301.md', 0, 'tab\tquote " back\\slash\nend', {
        rev,
        embedding_text: 'Heading\ntab',
        lang: 'en',
        metadata: docs.metadataOf({
          doc_title: ' spaced ',
          tags: ['', 'b', 'a'],
          allowed_groups: [],
          created_at: '2024-01-01T00:00:00.000Z',
          created_ts: 1_704_067_200,
          fields: {
            quarter: 'Q3',
            year: 2024,
            price: 1.5,
            due: '2024-02-01T00:00:00.000Z',
            draft: false,
            labels: ['x'],
            other: 'kept',
          },
        }),
      });
      const plain = docs.chunkOf('e\u0301.md', 1, 'plain', { rev });
      await store.insertChunks([rich, plain]);
      const read = await store.readChunks([plain.id, attemptUuid(), rich.id], { vectors: true });
      expect(read.map(({ vector: _vector, ...chunk }) => chunk)).toEqual(
        [plain, rich].map(({ vector: _vector, ...chunk }) => chunk),
      );
      for (const [i, chunk] of [plain, rich].entries()) {
        expect([...(read[i]?.vector ?? [])].map((x) => x.toFixed(5))).toEqual([...chunk.vector].map((x) => x.toFixed(5)));
      }
      expect((await store.readChunks([plain.id]))[0]).not.toHaveProperty('vector');
      expect(await store.existingChunks([plain.id, attemptUuid()])).toEqual(new Set([plain.id]));
    });

    it('refuses a lone object whose id another one has', async () => {
      const docs = createContractDocuments(store);
      const rev = attemptUuid();
      const first = docs.chunkOf('a.md', 0, 'text 0', { rev });
      await store.insertChunks([first]);
      expect(await codeOf(store.insertChunks([{ ...first, text: 'other' }]))).toBe('store_rejected');
      expect((await store.readChunks([first.id]))[0]?.text).toBe('text 0');
      const record = docs.recordOf('a.md', { attempt: rev });
      await store.insertRecord(record);
      expect(await codeOf(store.insertRecord({ ...record, status: 'failed' }))).toBe('store_rejected');
      expect((await store.recordsOf([record.doc_uuid])).get(record.doc_uuid)).toHaveLength(1);
    });

    it('keeps a manifest of many pages, and says when one is missing', async () => {
      const docs = createContractDocuments(store);
      const manifest = {
        ...manifestOf(docs.docId('big.md'), 2_345),
        gaps: Array.from({ length: 500 }, (_, n) => ({ start: n * 10 + 8, text: n % 2 === 0 ? '\n\n' : 'x'.repeat(1_000) })),
        length: 23_450,
        pages: [{ page: 1, start: 0 }],
        dropped: [{ text: 'no', reason: 'number', start: 0, end: 2 }],
        parents: { p1: { start: 0, end: 100 } },
      };
      const owner = { doc_id: docs.docId('big.md'), doc_uuid: docUuid(docs.docId('big.md')), fence: 3, attempt: attemptUuid() };
      const place = await store.insertManifest(owner, manifest);
      expect(await store.insertManifest(owner, manifest)).toEqual(place);
      const record = docs.recordOf('big.md', { ...place, chunks: 2_345, attempt: owner.attempt, fence: 3 });
      expect(await store.readManifest(record)).toEqual(manifest);
      const empty = { entries: [], gaps: [], length: 0, pages: [], dropped: [] };
      expect(await store.readManifest(docs.recordOf('big.md', { chunks: 0, pages: [] }))).toEqual(empty);
      await store.deleteObjects([{ collection: 'pages', id: place.pages.at(-1) ?? '' }]);
      expect(await codeOf(store.readManifest(record))).toBe('store_rejected');
    });

    it('keeps a small manifest wherever its record says, also for a record that a walk found', async () => {
      const docs = createContractDocuments(store);
      const manifest = manifestOf(docs.docId('small.md'), 3);
      const doc_id = docs.docId('small.md');
      const owner = { doc_id, doc_uuid: docUuid(doc_id), fence: FENCE, attempt: attemptUuid() };
      const { fence, attempt } = owner;
      const record = docs.recordOf('small.md', { ...(await store.insertManifest(owner, manifest)), chunks: 3, fence, attempt });
      await store.insertRecord(record);
      const [read] = (await store.recordsOf([record.doc_uuid])).get(record.doc_uuid) ?? [];
      expect(read === undefined ? undefined : await store.readManifest(read)).toEqual(manifest);
      let walked = 0;
      for await (const [found] of store.walkRecords()) {
        if (found?.id !== record.id) continue;
        expect(await store.readManifest(found)).toEqual(manifest);
        walked++;
      }
      expect(walked).toBe(1);
      // The same state under a later fence names the same manifest.
      const later = attemptUuid();
      const id = objectUuid(record.doc_uuid, 'commit', later);
      const { created_ms: _created, ...state } = read ?? record;
      const again = { ...state, id, attempt: later, fence: FENCE + 1 };
      await store.insertRecord(again);
      const records = (await store.recordsOf([record.doc_uuid])).get(record.doc_uuid) ?? [];
      const top = topCommit(records);
      expect(top?.fence).toBe(FENCE + 1);
      expect(top === undefined ? undefined : await store.readManifest(top)).toEqual(manifest);
    });

    it('lists, counts and deletes the objects of one document alone', async () => {
      const docs = createContractDocuments(store);
      const ids = ['handbook', 'handbook-v2', 'team/handbook', 'Handbook', '7-3', '7-31', '3-7', 'a b', 'b a'];
      const written = await Promise.all(ids.map((id) => docs.write(id, ['one', 'two', 'three'], { fence: FENCE })));
      const [first] = written;
      if (first === undefined) throw new Error('nothing written');
      const uuid = first.record.doc_uuid;
      const { pages } = await store.insertManifest(first.record, manifestOf(first.record.doc_id, 100));
      const listed = await store.listObjects(uuid);
      expect(listed.map((object) => object.id).sort()).toEqual(
        [...first.chunks.map((c) => c.id), first.record.id, ...pages].sort(),
      );
      for (const object of listed) expect([object.fence, object.attempt]).toEqual([FENCE, first.record.attempt]);

      const rev = first.record.attempt;
      expect(await store.countChunks(uuid, [rev], [])).toBe(3);
      expect(await store.countChunks(uuid, [rev], [first.chunks[0]?.id ?? ''])).toBe(2);
      expect(await store.countChunks(uuid, [attemptUuid()], [])).toBe(0);
      expect(await store.countChunks(uuid, [], [])).toBe(0);

      await store.deleteObjects(listed);
      await store.deleteObjects(listed);
      expect(await store.listObjects(uuid)).toEqual([]);
      expect(await store.existingChunks(first.chunks.map((c) => c.id))).toEqual(new Set());
      for (const { record } of written.slice(1)) {
        expect(await store.countChunks(record.doc_uuid, [record.attempt], [])).toBe(3);
        const hits = await store.search(
          docs.request({ mode: 'dense', filter: { op: 'eq', field: 'doc_id', value: record.doc_id }, limit: 100 }),
        );
        expect(hits.map((hit) => hit.chunk.doc_id)).toEqual([record.doc_id, record.doc_id, record.doc_id]);
      }
    });

    it('tells walks of what no attempt can have written, and leaves it out of all else', async () => {
      const docs = createContractDocuments(store);
      const { record, chunks } = await docs.write('own.md', ['one'], { fence: FENCE });
      const [chunk] = chunks;
      if (chunk === undefined) throw new Error('nothing written');
      const id = attemptUuid();
      await store.insertChunks([{ ...chunk, id }]);
      await store.insertRecord({ ...record, id, doc_id: docs.docId('other.md') });
      expect((await store.recordsOf([record.doc_uuid])).get(record.doc_uuid)).toHaveLength(1);
      const listed = (await store.listObjects(record.doc_uuid)).map((object) => object.id);
      expect(listed.sort()).toEqual([chunk.id, record.id].sort());
      const filter: Filter = { op: 'eq', field: 'doc_id', value: record.doc_id };
      for (const mode of ['dense', 'keyword', 'hybrid'] as const) {
        const hits = await store.search(docs.request({ mode, query: 'one', filter, limit: 10 }));
        expect(
          hits.map((hit) => hit.chunk.id),
          mode,
        ).toEqual([chunk.id]);
      }
      const strays: StrayObject[] = [];
      const onStray = (stray: StrayObject) => strays.push(stray);
      for await (const [first] of store.walkRecords({ onStray })) expect(first?.id).not.toBe(id);
      for await (const { objects } of store.walkObjects('chunks', { onStray }))
        expect(objects.map((object) => object.id)).not.toContain(id);
      const own = strays.filter((stray) => stray.id === id);
      expect(own).toEqual([
        { collection: 'commits', id, docId: docs.docId('other.md') },
        { collection: 'chunks', id, docId: record.doc_id },
      ]);
      await store.deleteObjects(own);
      expect(await store.existingChunks([id, chunk.id])).toEqual(new Set([chunk.id]));
    });

    it('finds vectors by text hash, also where one text occurs very often', async () => {
      const docs = createContractDocuments(store);
      const rev = attemptUuid();
      const often = Array.from({ length: 130 }, (_, n) =>
        docs.chunkOf('often.md', n, `${docs.source} again`, { rev, vector: unit([0, 1, 0, 0, 0, 0, 0, 1]) }),
      );
      const once = docs.chunkOf('often.md', 200, `${docs.source} once`, { rev, vector: unit([0, 0, 1, 0, 0, 0, 0, 1]) });
      await store.insertChunks([...often, once]);
      const hashes = [sha256(`${docs.source} again`), sha256('nowhere'), once.text_hash];
      const found = await store.vectorsByTextHash(hashes);
      expect([...found.keys()].sort()).toEqual([hashes[0], hashes[2]].sort());
      expect(found.get(once.text_hash)?.[2]).toBeCloseTo(Math.SQRT1_2, 5);
      expect(await store.vectorsByTextHash([])).toEqual(new Map());
    });

    it('walks records and objects in uuid order, document by document, from a cursor too', async () => {
      const docs = createContractDocuments(store);
      const written = [];
      const metadata = docs.metadataOf({ created_ts: 4_102_444_800, fields: { year: Number.MAX_SAFE_INTEGER, price: 0.1 } });
      for (const n of [1, 2, 3, 4, 5]) {
        written.push(await docs.write(`w${n}.md`, ['one', 'two'], { fence: FENCE, metadata }));
        await store.insertRecord(docs.recordOf(`w${n}.md`, { fence: FENCE + 1, kind: 'status' }));
        const { record } = written.at(-1) ?? { record: undefined };
        if (record !== undefined) await store.insertManifest(record, manifestOf(record.doc_id, 100));
      }
      const uuids = written.map(({ record }) => record.doc_uuid).sort();
      const walked: string[] = [];
      for await (const group of store.walkRecords()) {
        if (group[0]?.source !== docs.source) continue;
        expect(group).toHaveLength(2);
        expect(new Set(group.map((record) => record.doc_uuid)).size).toBe(1);
        walked.push(group[0].doc_uuid);
      }
      expect(walked).toEqual(uuids);
      const rest: string[] = [];
      for await (const group of store.walkRecords({ after: uuids[2] ?? '' })) {
        if (group[0]?.source === docs.source) rest.push(group[0].doc_uuid);
      }
      expect(rest).toEqual(uuids.slice(3));
      for (const collection of ['chunks', 'pages'] as const) {
        const seen: string[] = [];
        for await (const group of store.walkObjects(collection)) {
          if (!group.docId.startsWith(`${docs.source}/`)) continue;
          seen.push(group.docUuid);
          expect(group.objects).toHaveLength(collection === 'chunks' ? 2 : 1);
          const { record, chunks } = written.find((one) => one.record.doc_uuid === group.docUuid) ?? {
            record: undefined,
            chunks: [],
          };
          for (const object of group.objects) {
            expect([object.attempt, object.fence, object.collection]).toEqual([record?.attempt, FENCE, collection]);
            if (collection === 'chunks') {
              expect(object.metadataHash).toBe(record?.chunk_metadata_hash);
              expect(chunks.map((chunk) => chunk.text_hash)).toContain(object.textHash);
            }
          }
        }
        expect(seen).toEqual(uuids);
      }
    });

    describe('search', () => searchContract(() => store));
  });
}
