import { attemptUuid, type ChunkObject, docUuid, type Filter, objectUuid, sha256 } from '@sluice/core';
import { testServices } from '@sluice/testkit';
import { CONTRACT_DIMENSIONS, createContractDocuments, unit } from '@sluice/testkit/store-contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collectionNames } from '../src/names.js';
import { createTestStore } from './create-test-store.js';

const DIMENSIONS = CONTRACT_DIMENSIONS;
const vectorOf = (...head: number[]) => unit([...head, 0, 0, 0, 0, 0, 0, 0, 0].slice(0, DIMENSIONS));
const url = () => testServices().weaviate;

async function send(method: string, path: string, body?: unknown): Promise<unknown> {
  const answer = await fetch(`${url()}${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${answer.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

describe('on a real Weaviate', () => {
  let made: ReturnType<typeof createTestStore>;
  beforeAll(async () => {
    made = createTestStore(url(), { dimensions: DIMENSIONS });
    await made.store.ensureSchema();
  });
  afterAll(async () => {
    await made.store.close();
    await made.remove();
  });

  function chunksOf(docId: string, count: number, rev = attemptUuid(), text = 'kettle'): ChunkObject[] {
    const uuid = docUuid(docId);
    return Array.from({ length: count }, (_, n) => ({
      id: objectUuid(uuid, 'chunk', rev, n),
      doc_id: docId,
      doc_uuid: uuid,
      source: docId.split('/')[0] ?? '',
      source_path: docId.slice(docId.indexOf('/') + 1),
      rev,
      fence: 1,
      kind: 'paragraph',
      text: `${text} ${n}`,
      text_hash: sha256(`${text} ${n}`),
      metadata: { doc_type: 'document', tags: [], security_level: 1 as const, fields: {} },
      vector: vectorOf(1, n / 100, 1),
    }));
  }

  it('S02: lists, counts and deletes a document larger than the most objects a query returns', async () => {
    const chunks = chunksOf('s02/big.md', 10_050);
    const [first] = chunks;
    if (first === undefined) throw new Error('no chunks');
    const neighbour = chunksOf('s02/big', 3);
    await made.store.insertChunks([...chunks, ...neighbour]);
    expect(await made.store.countChunks(first.doc_uuid, [first.rev], [])).toBe(10_050);
    const listed = await made.store.listObjects(first.doc_uuid);
    expect(listed).toHaveLength(10_050);
    // Replaced by three, then deleted.
    const three = chunksOf('s02/big.md', 3);
    await made.store.insertChunks(three);
    await made.store.deleteObjects(listed);
    expect((await made.store.listObjects(first.doc_uuid)).map((object) => object.id).sort()).toEqual(
      three.map((c) => c.id).sort(),
    );
    await made.store.deleteObjects(await made.store.listObjects(first.doc_uuid));
    expect(await made.store.listObjects(first.doc_uuid)).toEqual([]);
    expect(await made.store.listObjects(docUuid('s02/big'))).toHaveLength(3);
  });

  it('S02: reads all records of documents that have more than one answer holds', async () => {
    const docs = createContractDocuments(made.store);
    const records = [
      ...Array.from({ length: 1_100 }, (_, n) => docs.recordOf('busy.md', { fence: n + 1 })),
      ...Array.from({ length: 5 }, (_, n) => docs.recordOf(`calm${n}.md`, {})),
    ];
    await Promise.all(records.map((record) => made.store.insertRecord(record)));
    const uuids = [...new Set(records.map((record) => record.doc_uuid))];
    const found = await made.store.recordsOf(uuids);
    expect(found.get(docUuid(docs.docId('busy.md')))).toHaveLength(1_100);
    for (const uuid of uuids.slice(1)) expect(found.get(uuid)).toHaveLength(1);
  });

  it('S03: fails naming the object and the reason when one of many is not taken, and the others of other calls are', async () => {
    const bad = chunksOf('s03/bad.md', 5);
    const [, , third] = bad;
    if (third === undefined) throw new Error('no chunks');
    third.vector = Float32Array.from([1, 0, 0]);
    await expect(made.store.insertChunks(bad)).rejects.toMatchObject({ code: 'store_rejected', docId: 's03/bad.md' });
    await expect(made.store.insertChunks(bad)).rejects.toThrow(third.id);

    // What only the server finds wrong: a date that is none. Calls that share its batches are not harmed.
    const wrong = chunksOf('s03/wrong.md', 5);
    const [, , date] = wrong;
    if (date === undefined) throw new Error('no chunks');
    date.metadata = { ...date.metadata, created_at: 'no date' };
    const good = Array.from({ length: 6 }, (_, n) => chunksOf(`s03/good${n}.md`, 30));
    const results = await Promise.allSettled(
      [...good.slice(0, 3), wrong, ...good.slice(3)].map((chunks) => made.store.insertChunks(chunks)),
    );
    expect(results.map((result) => result.status)).toEqual([
      ...Array(3).fill('fulfilled'),
      'rejected',
      ...Array(3).fill('fulfilled'),
    ]);
    const [, , , failed] = results;
    expect(failed).toMatchObject({ reason: { code: 'store_rejected', docId: 's03/wrong.md', details: { id: date.id } } });
    expect((await made.store.existingChunks(good.flat().map((c) => c.id))).size).toBe(180);
  });

  it('walks notice a chunk whose filterable values somebody changed', async () => {
    const [chunk, other] = chunksOf('tampered/a.md', 2);
    if (chunk === undefined || other === undefined) throw new Error('no chunks');
    await made.store.insertChunks([chunk, other]);
    const collection = collectionNames(made.options.namespace, made.options.collection).chunks;
    await send('PATCH', `/v1/objects/${collection}/${chunk.id}`, {
      class: collection,
      id: chunk.id,
      properties: { security_level: 5 },
    });
    const hashes = new Map<string, string | undefined>();
    for await (const group of made.store.walkObjects('chunks')) {
      if (group.docUuid === chunk.doc_uuid) for (const object of group.objects) hashes.set(object.id, object.metadataHash);
    }
    expect(hashes.get(chunk.id)).toBe('');
    expect(hashes.get(other.id)).not.toBe('');
  });

  it('finds what is left when thousands of better documents have just been deleted', async () => {
    const docs = createContractDocuments(made.store);
    const dead = Array.from({ length: 2_500 }, (_, n) =>
      docs.chunkOf(`dead${n}.md`, 0, 'kettle kettle', { rev: attemptUuid(), vector: vectorOf(1) }),
    );
    await made.store.insertChunks(dead);
    for (let n = 0; n < 7; n++)
      await docs.write(`live${n}.md`, [`a kettle of sort ${n}`], { vectors: [[1, 1 + n, 0, 0, 0, 0, 0, 0]] });
    for (const mode of ['hybrid', 'dense', 'keyword'] as const) {
      const hits = await made.store.search(docs.request({ mode, vector: vectorOf(1), limit: 5 }));
      expect(hits, mode).toHaveLength(5);
      if (mode !== 'keyword') expect(hits[0]?.chunk.doc_id, mode).toBe(docs.docId('live0.md'));
    }
  });

  it('keeps exact: integers to 2^53, dates before 1970, long and odd texts, quotes and control signs', async () => {
    const docs = createContractDocuments(made.store);
    const long = 'x'.repeat(9_000);
    const odd = [
      'a"b',
      'back\\slash',
      'tab\there',
      '\u0001',
      '\u0002',
      '\u0002x\u0002',
      ' x',
      'x ',
      '',
      '\u00a0x',
      'x\u0085',
      '{$}',
      "o'hara",
      long,
      `${long}y`,
      '%',
      '*',
      'a*',
      '😀',
      'ﬁ',
      'fi',
    ];
    for (const [n, title] of odd.entries())
      await docs.write(`t${n}.md`, ['kettle'], { metadata: docs.metadataOf({ doc_title: title, tags: [title] }) });
    const ints = [2_147_483_648, -2_147_483_649, Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER, 0];
    for (const [n, year] of ints.entries())
      await docs.write(`i${n}.md`, ['kettle'], { metadata: docs.metadataOf({ fields: { year } }) });
    await docs.write('d.md', ['kettle'], {
      metadata: docs.metadataOf({ created_at: '1912-06-23T00:00:00.000Z', created_ts: -1_815_436_800, fields: { price: -0.1 } }),
    });
    const paths = async (filter: Filter) =>
      (await made.store.search(docs.request({ mode: 'keyword', filter, limit: 100 }))).map((hit) => hit.chunk.source_path);
    for (const [n, title] of odd.entries()) {
      for (const field of ['doc_title', 'tags']) {
        expect(await paths({ op: 'eq', field, value: title }), JSON.stringify(title).slice(0, 40)).toEqual([`t${n}.md`]);
        expect(await paths({ op: 'in', field, values: [title, 'nothing'] })).toEqual([`t${n}.md`]);
      }
    }
    for (const [n, year] of ints.entries()) {
      expect(await paths({ op: 'eq', field: 'year', value: year }), String(year)).toEqual([`i${n}.md`]);
      expect((await paths({ op: 'gte', field: 'year', value: year })).sort()).toEqual(
        ints.flatMap((other, m) => (other >= year ? [`i${m}.md`] : [])).sort(),
      );
      expect((await paths({ op: 'lt', field: 'year', value: year })).sort()).toEqual(
        ints.flatMap((other, m) => (other < year ? [`i${m}.md`] : [])).sort(),
      );
    }
    expect(await paths({ op: 'lt', field: 'created_at', value: '1950-01-01T00:00:00.000Z' })).toEqual(['d.md']);
    expect(await paths({ op: 'lt', field: 'created_ts', value: 0 })).toEqual(['d.md']);
    expect(await paths({ op: 'eq', field: 'price', value: -0.1 })).toEqual(['d.md']);
    expect(await paths({ op: 'lt', field: 'price', value: 0 })).toEqual(['d.md']);
  });
});

describe('the schema', () => {
  const made: ReturnType<typeof createTestStore>[] = [];
  const make = (options: Parameters<typeof createTestStore>[1]) => {
    const one = createTestStore(url(), options);
    made.push(one);
    return one;
  };
  afterAll(async () => {
    for (const one of made) {
      await one.store.close();
      await one.remove();
    }
  });

  it('is made once when several processes start together', async () => {
    const first = make({ dimensions: DIMENSIONS });
    const others = [1, 2, 3].map(() => make({ ...first.options }));
    await Promise.all([first, ...others].map((one) => one.store.ensureSchema()));
    await first.store.checkReady();
  });

  it('is refused when a text property has words for tokens, naming property and difference', async () => {
    const one = make({ dimensions: DIMENSIONS });
    const name = collectionNames(one.options.namespace, one.options.collection).chunks;
    await send('POST', '/v1/schema', {
      class: name,
      vectorizer: 'none',
      vectorIndexConfig: { distance: 'cosine' },
      properties: [{ name: 'doc_id', dataType: ['text'], tokenization: 'word', indexFilterable: true, indexSearchable: false }],
    });
    await expect(one.store.ensureSchema()).rejects.toMatchObject({ code: 'schema_mismatch' });
    await expect(one.store.ensureSchema()).rejects.toThrow(/doc_id has tokenization word, not field/);
  });

  it('is refused when an index is missing or the distance is another', async () => {
    const one = make({ dimensions: DIMENSIONS });
    const name = collectionNames(one.options.namespace, one.options.collection).chunks;
    await send('POST', '/v1/schema', {
      class: name,
      vectorizer: 'none',
      vectorIndexConfig: { distance: 'l2-squared' },
      properties: [{ name: 'rev', dataType: ['text'], tokenization: 'field', indexFilterable: false, indexSearchable: false }],
    });
    await expect(one.store.ensureSchema()).rejects.toThrow(/rev has indexFilterable false, not true.*distance is l2-squared/);
  });

  it('is accepted with indexes that an earlier version made besides', async () => {
    const one = make({ dimensions: DIMENSIONS });
    const name = collectionNames(one.options.namespace, one.options.collection).commits;
    await send('POST', '/v1/schema', {
      class: name,
      vectorizer: 'none',
      vectorIndexConfig: { skip: true },
      properties: ['status', 'head'].map((property) => ({
        name: property,
        dataType: ['text'],
        tokenization: 'field',
        indexFilterable: true,
        indexSearchable: false,
      })),
    });
    await one.store.ensureSchema();
    const docs = createContractDocuments(one.store);
    const record = docs.recordOf('a.md', {});
    await one.store.insertRecord(record);
    expect((await one.store.recordsOf([record.doc_uuid])).get(record.doc_uuid)).toMatchObject([{ id: record.id }]);
  });

  it('is compared without being written', async () => {
    const one = make({ dimensions: DIMENSIONS });
    const { chunks } = collectionNames(one.options.namespace, one.options.collection);
    await expect(one.store.checkSchema()).rejects.toMatchObject({
      code: 'schema_mismatch',
      message: expect.stringContaining('missing'),
    });
    const classes = async () => (await send('GET', '/v1/schema')) as { classes: { class: string }[] };
    expect((await classes()).classes.map((found) => found.class)).not.toContain(chunks);
    await one.store.ensureSchema();
    await one.store.checkSchema();
    const later = make({ ...one.options, fields: { harvest: 'int' } });
    await expect(later.store.checkSchema()).rejects.toThrow(/harvest.* is missing/);
    await expect(later.store.checkSchema()).rejects.toThrow(/harvest.* is missing/);
  });

  it('gains the fields that are declared later, and a changed type is a new property', async () => {
    const first = make({ dimensions: DIMENSIONS, fields: { Year: 'text' } });
    await first.store.ensureSchema();
    const before = createContractDocuments(first.store);
    await before.write('old.md', ['kettle'], { metadata: before.metadataOf({ fields: { Year: '2023' } }) });
    const later = make({ ...first.options, fields: { Year: 'int', year: 'text', 'ort/名': 'text' } });
    await later.store.ensureSchema();
    const docs = createContractDocuments(later.store);
    await docs.write('new.md', ['kettle'], {
      metadata: docs.metadataOf({ fields: { Year: 2024, year: 'MMXXIV', 'ort/名': '東京' } }),
    });
    const found = async (filter: Filter) => {
      const hits = await later.store.search({ ...docs.request({ mode: 'keyword' }), filter });
      return hits.map((hit) => hit.chunk.source_path);
    };
    expect(await found({ op: 'eq', field: 'Year', value: 2024 })).toEqual(['new.md']);
    expect(await found({ op: 'gte', field: 'Year', value: 2000 })).toEqual(['new.md']);
    expect(await found({ op: 'not', of: { op: 'gte', field: 'Year', value: 2000 } })).toEqual(['old.md']);
    expect(await found({ op: 'eq', field: 'year', value: 'MMXXIV' })).toEqual(['new.md']);
    expect(await found({ op: 'eq', field: 'ort/名', value: '東京' })).toEqual(['new.md']);
    await expect(found({ op: 'eq', field: 'undeclared', value: 1 })).rejects.toMatchObject({ code: 'invalid_filter' });
  });

  it('says that Weaviate is read-only', async () => {
    const one = make({ dimensions: DIMENSIONS });
    await one.store.ensureSchema();
    const name = collectionNames(one.options.namespace, one.options.collection).commits;
    const shards = (await send('GET', `/v1/schema/${name}/shards`)) as { name: string }[];
    const shard = shards[0]?.name ?? '';
    await send('PUT', `/v1/schema/${name}/shards/${shard}`, { status: 'READONLY' });
    await expect(one.store.checkReady()).rejects.toThrow(/read-only/);
    const docs = createContractDocuments(one.store);
    await expect(one.store.insertRecord(docs.recordOf('a.md', {}))).rejects.toMatchObject({
      code: 'store_unavailable',
      kind: 'transient',
    });
    const both = [docs.recordOf('b.md', {}), docs.recordOf('c.md', {})].map((record) => one.store.insertRecord(record));
    for (const result of await Promise.allSettled(both))
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'store_unavailable' } });
    await send('PUT', `/v1/schema/${name}/shards/${shard}`, { status: 'READY' });
    await one.store.checkReady();
    await one.store.insertRecord(docs.recordOf('a.md', {}));
  });

  it('is unavailable, not silent, when nothing answers', async () => {
    const one = createTestStore('http://127.0.0.1:9', { dimensions: DIMENSIONS });
    await expect(one.store.checkReady()).rejects.toMatchObject({ code: 'store_unavailable', kind: 'transient' });
    await expect(one.store.recordsOf([docUuid('a/b')])).rejects.toMatchObject({ code: 'store_unavailable' });
    await expect(one.store.ensureSchema()).rejects.toThrow(/127\.0\.0\.1:9/);
    await one.store.close();
  });
});
