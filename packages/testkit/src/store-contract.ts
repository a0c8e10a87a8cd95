import {
  attemptUuid,
  type ChunkObject,
  type ChunkStore,
  type CommitRecord,
  chunkMetadataHash,
  type DocumentMetadata,
  docUuid,
  type Filter,
  type Manifest,
  type ManifestEntry,
  objectUuid,
  type SearchRequest,
  SluiceError,
  sha256,
  splitDocId,
  topCommit,
} from '@sluice/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** As large as real ones, which are microseconds since 1970: past what 32 bits hold. */
const REAL_FENCE = 1_760_000_000_123_457;

export const CONTRACT_DIMENSIONS = 8;

/** A fence as they come: microseconds since 1970, above 2^32. */
const FENCE = 1_760_000_000_123_457;

export interface ContractStore {
  store: ChunkStore;
  /** Removes what the store made outside this process. */
  remove?: () => Promise<void>;
}

let sourceNumber = 0;

/** Makes chunks and records of documents by hand, without ingestion. Each has a source of its own, so that tests share a store. */
export function createContractDocuments(store: ChunkStore) {
  const source = `s${process.pid}x${Date.now().toString(36)}n${sourceNumber++}`;

  const metadataOf = (metadata: Partial<DocumentMetadata> = {}): DocumentMetadata => ({
    doc_type: 'document',
    tags: [],
    security_level: 1,
    fields: {},
    ...metadata,
  });

  function chunkOf(path: string, n: number, text: string, rest: Partial<ChunkObject> & { rev: string }): ChunkObject {
    const docId = `${source}/${path}`;
    const uuid = docUuid(docId);
    return {
      id: objectUuid(uuid, 'chunk', rest.rev, n),
      doc_id: docId,
      doc_uuid: uuid,
      source,
      source_path: path,
      fence: 1,
      kind: 'paragraph',
      text,
      text_hash: sha256(text),
      metadata: metadataOf(),
      vector: unit([1, n + 1, 0, 0, 0, 0, 0, 0]),
      ...rest,
    };
  }

  function recordOf(path: string, rest: Partial<CommitRecord>): CommitRecord {
    const docId = `${source}/${path}`;
    const attempt = rest.attempt ?? attemptUuid();
    const metadata = rest.metadata ?? metadataOf();
    return {
      id: objectUuid(docUuid(docId), rest.kind ?? 'commit', attempt),
      kind: 'commit',
      doc_id: docId,
      doc_uuid: docUuid(docId),
      ...splitRecord(docId),
      fence: 1,
      attempt,
      base_fence: 0,
      live: [],
      superseded: [],
      superseded_revs: [],
      chunks: 0,
      pages: [],
      status: 'indexed',
      content_hash: '',
      served_hash: '',
      stat: '1:2:3:4',
      sidecar_stat: '',
      fingerprint: 'f',
      config_hash: 'c',
      format: 'text',
      revision: 'r',
      security_level: metadata.security_level,
      metadata,
      chunk_metadata_hash: chunkMetadataHash(docId, metadata),
      warnings: [],
      committed_at: '2024-01-01T00:00:00.000Z',
      ...rest,
    };
  }

  /** One revision with a chunk a text. */
  async function write(
    path: string,
    texts: readonly string[],
    rest: Partial<CommitRecord> & { vectors?: number[][]; chunk?: Partial<ChunkObject> } = {},
  ): Promise<{ chunks: ChunkObject[]; record: CommitRecord }> {
    const { vectors, chunk, ...recordRest } = rest;
    const rev = rest.attempt ?? attemptUuid();
    const fence = rest.fence ?? 1;
    const metadata = metadataOf(rest.metadata);
    const chunks = texts.map((text, n) => {
      const vector = vectors?.[n];
      return chunkOf(path, n, text, {
        rev,
        fence,
        metadata,
        ...(vector === undefined ? {} : { vector: unit(vector) }),
        ...chunk,
      });
    });
    await store.insertChunks(chunks);
    const record = recordOf(path, {
      ...recordRest,
      metadata,
      attempt: rev,
      fence,
      live: texts.length > 0 ? [rev] : [],
      chunks: texts.length,
    });
    await store.insertRecord(record);
    return { chunks, record };
  }

  function request(rest: Partial<SearchRequest> = {}): SearchRequest {
    const own: Filter = { op: 'eq', field: 'source', value: source };
    const { filter, ...others } = rest;
    return {
      mode: 'hybrid',
      query: 'kettle',
      vector: unit([1, 0, 0, 0, 0, 0, 0, 0]),
      alpha: 0.5,
      limit: 10,
      mayAccess: () => true,
      ...others,
      filter: filter === undefined ? own : { op: 'and', of: [own, filter] },
    };
  }

  return { source, docId: (path: string) => `${source}/${path}`, chunkOf, recordOf, write, request, metadataOf };
}

function splitRecord(docId: string): { source: string; source_path: string } {
  const { source, sourcePath } = splitDocId(docId);
  return { source, source_path: sourcePath };
}

export function unit(values: readonly number[]): Float32Array {
  const length = Math.hypot(...values);
  return Float32Array.from(values, (value) => value / length);
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

    it('takes a repeated insert for a success and refuses another object of the same id', async () => {
      const docs = createContractDocuments(store);
      const rev = attemptUuid();
      const chunks = [0, 1, 2].map((n) => docs.chunkOf('a.md', n, `text ${n}`, { rev }));
      await store.insertChunks(chunks);
      await store.insertChunks(chunks);
      await store.insertChunks(chunks.slice(0, 1));
      const [first, second] = chunks;
      if (first === undefined || second === undefined) throw new Error('no chunks');
      expect(await codeOf(store.insertChunks([{ ...first, text: 'other' }]))).toBe('store_rejected');
      expect(await codeOf(store.insertChunks([{ ...first, text: 'other' }, second]))).toBe('store_rejected');
      expect((await store.readChunks([first.id]))[0]?.text).toBe('text 0');
      const record = docs.recordOf('a.md', { attempt: rev });
      await store.insertRecord(record);
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
        written.push(await docs.write(`w${n}.md`, ['one', 'two'], { fence: REAL_FENCE, metadata }));
        await store.insertRecord(docs.recordOf(`w${n}.md`, { fence: REAL_FENCE + 1, kind: 'status' }));
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
            expect([object.attempt, object.fence, object.collection]).toEqual([record?.attempt, REAL_FENCE, collection]);
            if (collection === 'chunks') {
              expect(object.metadataHash).toBe(record?.chunk_metadata_hash);
              expect(chunks.map((chunk) => chunk.text_hash)).toContain(object.textHash);
            }
          }
        }
        expect(seen).toEqual(uuids);
      }
    });

    describe('search', () => {
      it('shows one whole revision: the top commit’s live chunks, nothing superseded, nothing uncommitted', async () => {
        const docs = createContractDocuments(store);
        const one = await docs.write('a.md', ['kettle old first', 'kettle kept'], { fence: 10 });
        const [old, kept] = one.chunks;
        const rev = attemptUuid();
        const fresh = docs.chunkOf('a.md', 9, 'kettle new', { rev, fence: 20 });
        await store.insertChunks([fresh, docs.chunkOf('b.md', 0, 'kettle never committed', { rev: attemptUuid() })]);
        const texts = async () => (await store.search(docs.request())).map((hit) => hit.chunk.text).sort();
        expect(await texts()).toEqual(['kettle kept', 'kettle old first']);
        await store.insertRecord(
          docs.recordOf('a.md', {
            fence: 20,
            base_fence: 10,
            attempt: rev,
            live: [one.record.attempt, rev],
            superseded: [old?.id ?? ''],
            superseded_revs: [one.record.attempt],
            chunks: 2,
          }),
        );
        expect(await texts()).toEqual(['kettle kept', 'kettle new']);
        // A late writer with a lower fence does no harm, a status record changes nothing that is served.
        await store.insertRecord(docs.recordOf('a.md', { fence: 15, base_fence: 10, live: [one.record.attempt], chunks: 2 }));
        await store.insertRecord(docs.recordOf('a.md', { fence: 30, kind: 'status', status: 'failed' }));
        expect(await texts()).toEqual(['kettle kept', 'kettle new']);
        const [hit] = await store.search(
          docs.request({ limit: 1, filter: { op: 'eq', field: 'doc_id', value: docs.docId('a.md') } }),
        );
        expect(hit?.commit.fence).toBe(20);
        await store.insertRecord(docs.recordOf('a.md', { fence: 40, base_fence: 20, status: 'deleted' }));
        expect(await texts()).toEqual([]);
        expect(kept).toBeDefined();
      });

      it('needs clearance for the top commit and for what lies between its base and it', async () => {
        const docs = createContractDocuments(store);
        const { record } = await docs.write('a.md', ['kettle'], { fence: 10 });
        const low = docs.request({ mayAccess: (commit) => commit.security_level <= 1 });
        expect(await store.search(low)).toHaveLength(1);
        // Level 3 was committed by another attempt after our base was read.
        await store.insertRecord(docs.recordOf('a.md', { fence: 20, base_fence: 10, security_level: 3, live: record.live }));
        expect(await store.search(low)).toHaveLength(0);
        await store.insertRecord(docs.recordOf('a.md', { fence: 30, base_fence: 10, security_level: 1, live: record.live }));
        expect(await store.search(low)).toHaveLength(0);
        // This one began from the level-3 commit: the level was lowered.
        await store.insertRecord(docs.recordOf('a.md', { fence: 40, base_fence: 30, security_level: 1, live: record.live }));
        expect(await store.search(low)).toHaveLength(1);
      });

      it('loses no result to invisible chunks, and scores as if they were not there', async () => {
        const docs = createContractDocuments(store);
        const dead = Array.from({ length: 300 }, (_, n) =>
          docs.chunkOf('dead.md', n, `kettle kettle dead ${n}`, {
            rev: attemptUuid(),
            vector: unit([1, 0.001 * n, 0, 0, 0, 0, 0, 0]),
          }),
        );
        await store.insertChunks(dead);
        for (let n = 0; n < 12; n++) {
          await docs.write(`live${n}.md`, [`kettle number ${n} ${'filler '.repeat(n)}`], {
            vectors: [[1, 1 + n, 0, 0, 0, 0, 0, 0]],
          });
        }
        for (const mode of ['hybrid', 'dense', 'keyword'] as const) {
          const hits = await store.search(docs.request({ mode, limit: 10 }));
          expect(hits, mode).toHaveLength(10);
          expect(hits[0]?.chunk.doc_id, mode).toBe(docs.docId('live0.md'));
          if (mode === 'hybrid') expect(hits[0]?.score).toBeCloseTo(1, 5);
          if (mode === 'dense') expect(hits[0]?.score).toBeCloseTo(Math.SQRT1_2, 4);
        }
      });

      it('weighs the parts by alpha: 0 is keyword alone, 1 the order of vectors, and a limit is a prefix', async () => {
        const docs = createContractDocuments(store);
        for (let n = 0; n < 20; n++) {
          const text = n === 13 ? 'Part number QX-7731 of the pump' : `Part number QX-77${30 + n} qx 7731x of pump ${n}`;
          await docs.write(`d${n}.md`, [n === 13 ? text : text.replace('QX-7731 ', '')], {
            vectors: [[1, (n % 7) + 0.1 * n, n, 0, 0, 0, 0, 0]],
          });
        }
        const ids = async (rest: Partial<SearchRequest>) =>
          (await store.search(docs.request({ query: 'QX-7731', ...rest }))).map((hit) => hit.chunk.doc_id);
        const withToken = (await store.search(docs.request({ query: 'QX-7731', alpha: 0 }))).map((hit) => hit.chunk.text);
        for (const text of withToken) expect(text).toContain('QX-7731 ');
        expect(await ids({ alpha: 0 })).toEqual([docs.docId('d13.md')]);
        expect(await ids({ mode: 'keyword' })).toEqual([docs.docId('d13.md')]);
        expect(await ids({ alpha: 1, limit: 100 })).toEqual(await ids({ mode: 'dense', limit: 100 }));
        expect((await ids({ alpha: 0.5 })).slice(0, 3)).toContain(docs.docId('d13.md'));
        for (const mode of ['hybrid', 'dense', 'keyword'] as const) {
          const all = await ids({ mode, limit: 100 });
          for (const limit of [1, 3, 10]) expect(await ids({ mode, limit })).toEqual(all.slice(0, limit));
        }
      });

      it('breaks ties by doc_id, then chunk id', async () => {
        const docs = createContractDocuments(store);
        for (const path of ['c.md', 'a.md', 'b.md'])
          await docs.write(path, ['kettle same', 'kettle same'], {
            vectors: [
              [1, 0, 0, 0, 0, 0, 0, 0],
              [1, 0, 0, 0, 0, 0, 0, 0],
            ],
          });
        for (const mode of ['hybrid', 'dense', 'keyword'] as const) {
          const hits = await store.search(docs.request({ mode }));
          const keys = hits.map((hit) => `${hit.chunk.doc_id} ${hit.chunk.id}`);
          expect(keys).toEqual([...keys].sort());
          expect(keys).toHaveLength(6);
          // Two chunks of a document that tie are not parted; documents that tie are.
          const counts = [];
          for (const limit of [1, 2, 3, 4]) counts.push((await store.search(docs.request({ mode, limit }))).length);
          expect(counts).toEqual([2, 2, 4, 4]);
        }
      });

      it('filters exactly', async () => {
        const docs = createContractDocuments(store);
        const write = (path: string, metadata: Partial<DocumentMetadata>) =>
          docs.write(path, [`kettle ${path}`], { metadata: docs.metadataOf(metadata) });
        await write('a.md', {
          doc_title: 'Annual Report',
          tags: ['x', 'New York'],
          author: 'caf\u00e9',
          created_at: '2024-01-15T00:00:00.000Z',
          created_ts: 1_705_276_800,
          fields: { year: 2024, price: 1.5, quarter: 'Q3', draft: false, due: '2024-05-01T00:00:00.000Z', labels: ['l1'] },
        });
        await write('b.md', {
          doc_title: 'report',
          tags: ['y'],
          author: 'cafe\u0301',
          created_at: '2023-10-01T00:00:00.000Z',
          created_ts: 1_696_118_400,
          security_level: 3,
          fields: { year: 2023, quarter: '' },
        });
        await write('c.md', { doc_title: '', tags: [], fields: { year: 0, labels: [] } });
        await write('d.md', { doc_title: ' report', security_level: 5, allowed_groups: ['g'] });
        const found = async (filter: Filter) =>
          (await store.search(docs.request({ mode: 'keyword', filter, limit: 100 })))
            .map((hit) => hit.chunk.source_path.charAt(0))
            .sort()
            .join('');
        const eq = (field: string, value: string | number | boolean): Filter => ({ op: 'eq', field, value });
        const not = (of: Filter): Filter => ({ op: 'not', of });
        const cases: [Filter, string][] = [
          [eq('doc_title', 'report'), 'b'],
          [eq('doc_title', ' report'), 'd'],
          [eq('doc_title', ''), 'c'],
          [eq('doc_title', 'Report'), ''],
          [not(eq('doc_title', 'report')), 'acd'],
          [eq('author', 'caf\u00e9'), 'ab'],
          [eq('author', 'cafe\u0301'), 'ab'],
          [eq('tags', 'New York'), 'a'],
          [eq('tags', 'York'), ''],
          [not(eq('tags', 'x')), 'bcd'],
          [{ op: 'in', field: 'tags', values: ['x', 'y'] }, 'ab'],
          [{ op: 'in', field: 'tags', values: [] }, ''],
          [not({ op: 'in', field: 'tags', values: [] }), 'abcd'],
          [{ op: 'in', field: 'year', values: [2024, 0] }, 'ac'],
          [eq('year', 2023), 'b'],
          [{ op: 'gt', field: 'year', value: 0 }, 'ab'],
          [{ op: 'lte', field: 'year', value: 2023 }, 'bc'],
          [not({ op: 'gt', field: 'year', value: 0 }), 'cd'],
          [eq('price', 1.5), 'a'],
          [{ op: 'lt', field: 'price', value: 1.6 }, 'a'],
          [eq('draft', false), 'a'],
          [not(eq('draft', false)), 'bcd'],
          [{ op: 'gte', field: 'due', value: '2024-05-01T00:00:00.000Z' }, 'a'],
          [{ op: 'lt', field: 'created_at', value: '2024-01-01T00:00:00.000Z' }, 'b'],
          [{ op: 'gte', field: 'created_at', value: '2024-01-15T00:00:00.000Z' }, 'a'],
          [{ op: 'gt', field: 'created_ts', value: 1_696_118_400 }, 'a'],
          [{ op: 'lte', field: 'security_level', value: 3 }, 'abc'],
          [{ op: 'gt', field: 'security_level', value: 1 }, 'bd'],
          [{ op: 'exists', field: 'doc_title', value: true }, 'abcd'],
          [{ op: 'exists', field: 'tags', value: true }, 'ab'],
          [{ op: 'exists', field: 'tags', value: false }, 'cd'],
          [{ op: 'exists', field: 'quarter', value: true }, 'ab'],
          [{ op: 'exists', field: 'labels', value: true }, 'a'],
          [{ op: 'exists', field: 'draft', value: true }, 'a'],
          [{ op: 'exists', field: 'allowed_groups', value: true }, 'd'],
          [eq('access_restricted', false), 'abc'],
          [{ op: 'const', value: true }, 'abcd'],
          [{ op: 'const', value: false }, ''],
          [{ op: 'and', of: [] }, 'abcd'],
          [{ op: 'or', of: [] }, ''],
          [{ op: 'or', of: [eq('year', 0), { op: 'and', of: [eq('tags', 'x'), not(eq('year', 0))] }] }, 'ac'],
          [not({ op: 'and', of: [eq('tags', 'x'), eq('year', 2024)] }), 'bcd'],
          [not(not(eq('tags', 'x'))), 'a'],
          [Array.from({ length: 13 }).reduce<Filter>((inner) => ({ op: 'and', of: [not(inner)] }), eq('tags', 'x')), 'bcd'],
          [eq('source_path', 'a.md'), 'a'],
          [eq('kind', 'paragraph'), 'abcd'],
          [eq('lang', 'en'), ''],
        ];
        for (const [filter, expected] of cases) expect(await found(filter), JSON.stringify(filter)).toBe(expected);
      });
    });
  });
}
