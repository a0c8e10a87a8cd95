import { attemptUuid, type ChunkStore, type DocumentMetadata, type Filter, type SearchRequest } from '@sluice/core';
import { beforeAll, expect, it } from 'vitest';
import { createContractDocuments, unit } from './contract-documents.js';

/** What a search must do, on a store that is ready. */
export function searchContract(ready: () => ChunkStore): void {
  let store: ChunkStore;
  beforeAll(() => {
    store = ready();
  });

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
}
