import type { Caller, ChunkStore, DocumentMetadata, FieldType, FieldValue, Filter, SecurityLevel } from '@sluice/core';
import {
  accessFilter,
  compileFilter,
  evaluateFilter,
  fieldCatalog,
  filterableValues,
  mayAccess,
  resolveMetadata,
} from '@sluice/metadata';
import { createStore } from '@sluice/store';
import { createWordEmbedder, dropCollections, storeDocument, testServices } from '@sluice/testkit';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';

/**
 * The database and the reference evaluator agree on what a filter means: random documents, thousands of random filters, every caller.
 * Values are few, so that equality happens, and awkward: empty, spaced, of other case, composed and decomposed, wildcards, stop words.
 */

const FIELDS = {
  metal: 'text',
  labels: 'text[]',
  n: 'int',
  price: 'number',
  due: 'date',
  draft: 'boolean',
} as const satisfies Record<string, FieldType>;
const TEXTS = [
  '',
  ' ',
  'zinc',
  'Zinc',
  'zinc ',
  'zinc iron',
  'iron',
  'the',
  'zin*',
  'z?nc',
  'caf\u00e9',
  'cafe\u0301',
  'a/b',
  'a-b',
  '東京',
  '"',
  '\\',
  '\u{1f600}',
];
const INSTANTS = [
  '2023-12-31T23:59:59.999Z',
  '2024-01-01T00:00:00.000Z',
  '2024-02-29T12:00:00.500Z',
  '2024-03-01T00:00:00.000Z',
  '1969-07-20T20:17:00.000Z',
];
const DATES = [
  '2023',
  '2024',
  '2024-02',
  '2024-02-29',
  '2024-02-29T12:00:00.5Z',
  '2024-01-01',
  '1969-07-20T22:17:00+02:00',
  '2024-02-29T12:00:00.501Z',
];
const INTS = [-1, 0, 1, 2 ** 53 - 1];
const NUMBERS = [-0.5, 0, 0.1, 1e300];
const GROUPS = ['board', 'hr', 'h r'];

const namespace = `filters${process.pid}x${Date.now().toString(36)}`;
const url = testServices().weaviate;
const embedder = createWordEmbedder();
const documents: { path: string; metadata: DocumentMetadata; values: Record<string, FieldValue> }[] = [];
let store: ChunkStore;

const some = <T>(values: readonly T[]) => fc.constantFrom(...values);
const anyFrontMatter = fc.record(
  {
    metal: some(TEXTS),
    labels: fc.array(some(TEXTS), { maxLength: 3 }),
    n: some(INTS),
    price: some(NUMBERS),
    due: some(INSTANTS),
    draft: fc.boolean(),
    author: some(TEXTS),
    tags: fc.array(some(TEXTS), { maxLength: 3 }),
    created_at: some(INSTANTS),
    security_level: some([1, 2, 3, 4, 5]),
    allowed_groups: fc.array(some(GROUPS), { maxLength: 2 }),
  },
  { requiredKeys: [] },
);

function operandOf(field: string): fc.Arbitrary<unknown> {
  if (['n', 'created_ts'].includes(field)) return some([...INTS, 1704067200, 1709208000]);
  if (field === 'security_level') return some([0, 1, 3, 5]);
  if (field === 'price') return some(NUMBERS);
  if (['due', 'created_at'].includes(field)) return some(DATES);
  if (field === 'draft') return fc.boolean();
  if (field === 'allowed_groups') return some(GROUPS);
  return field === 'kind' ? some(['paragraph', 'text']) : some(TEXTS);
}

const ORDERED = ['n', 'created_ts', 'security_level', 'price', 'due', 'created_at'];
const anyField = some([
  ...Object.keys(FIELDS),
  'author',
  'tags',
  'created_at',
  'created_ts',
  'security_level',
  'allowed_groups',
  'kind',
]);
const anyComparison = anyField.chain((field) => {
  const value = operandOf(field);
  const list = fc.array(value, { maxLength: 3 });
  const ordered = [
    fc.record({ $gt: value }),
    fc.record({ $gte: value }),
    fc.record({ $lt: value }),
    fc.record({ $lte: value }),
    fc.record({ $gte: value, $lt: value }),
    fc.record({ $not: fc.record({ $gt: value }) }),
  ];
  const conditions = fc.oneof(
    value,
    fc.record({ $ne: value }),
    fc.record({ $in: list }),
    fc.record({ $nin: list }),
    fc.record({ $exists: fc.boolean() }),
    ...(ORDERED.includes(field) ? ordered : []),
  );
  return conditions.map((condition) => ({ [field]: condition }));
});
const { filter: anyFilter } = fc.letrec((tie) => ({
  filter: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    anyComparison,
    fc.record({ $and: fc.array(tie('filter'), { maxLength: 3 }) }),
    fc.record({ $or: fc.array(tie('filter'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ $not: tie('filter') }),
  ),
}));
const anyCaller: fc.Arbitrary<Caller> = fc.record({
  role: some(['reader', 'operator'] as const),
  clearance: some<SecurityLevel>([1, 2, 3, 4, 5]),
  groups: fc.subarray([...GROUPS]),
  name: fc.constant('test'),
});

beforeAll(async () => {
  store = createStore({ url, namespace, collection: 'test', dimensions: embedder.dimensions, fields: FIELDS });
  await store.ensureSchema();
  const schema = { defaultSecurityLevel: 1 as const, accessLevels: {} };
  const written = fc.sample(anyFrontMatter, { numRuns: 150, seed: 20240229 });
  for (const [index, frontMatter] of written.entries()) {
    const path = `d${index}.md`;
    const { metadata } = resolveMetadata({ sourcePath: path, schema, fields: FIELDS, frontMatter });
    await storeDocument(store, embedder, { docId: `docs/${path}`, text: 'kettle', metadata });
    const values = filterableValues(metadata, { doc_id: `docs/${path}`, source: 'docs', source_path: path, kind: 'paragraph' });
    documents.push({ path, metadata, values });
  }
});

afterAll(async () => {
  await store.close();
  expect(await dropCollections(url, namespace)).not.toEqual([]);
});

async function found(filter: Filter): Promise<string[]> {
  const hits = await store.search({ mode: 'keyword', query: 'kettle', alpha: 0, limit: 500, filter, mayAccess: () => true });
  return hits.map(({ chunk }) => chunk.source_path).sort();
}

function expected(filter: Filter): string[] {
  return documents
    .filter(({ values }) => evaluateFilter(filter, values))
    .map(({ path }) => path)
    .sort();
}

it('on thousands of random filters', async () => {
  const catalog = fieldCatalog(FIELDS);
  const sizes = { none: 0, all: 0, some: 0 };
  await fc.assert(
    fc.asyncProperty(anyFilter, async (json) => {
      const filter = compileFilter(json, catalog);
      const wanted = expected(filter);
      expect(await found(filter)).toEqual(wanted);
      sizes[wanted.length === 0 ? 'none' : wanted.length === documents.length ? 'all' : 'some'] += 1;
    }),
    { numRuns: 2_000 },
  );
  // A generator that only ever matches nothing or everything would show nothing.
  expect(sizes.some).toBeGreaterThan(1_000);
}, 1_200_000);

it('on who may see what, whatever the filter says', async () => {
  const catalog = fieldCatalog(FIELDS);
  await fc.assert(
    fc.asyncProperty(anyCaller, anyFilter, async (caller, json) => {
      const filter: Filter = { op: 'and', of: [accessFilter(caller), compileFilter(json, catalog)] };
      const seen = await found(filter);
      expect(seen).toEqual(expected(filter));
      const permitted = new Set(documents.filter(({ metadata }) => mayAccess(caller, metadata)).map(({ path }) => path));
      expect(seen.filter((path) => !permitted.has(path))).toEqual([]);
    }),
    { numRuns: 500 },
  );
}, 1_200_000);
