import {
  attemptUuid,
  type ChunkObject,
  type DocumentMetadata,
  docUuid,
  type FieldType,
  type FieldValue,
  type Filter,
  objectUuid,
  type Scalar,
  sha256,
} from '@sluice/core';
import { evaluateFilter, filterableValues } from '@sluice/metadata';
import { testServices } from '@sluice/testkit';
import { unit } from '@sluice/testkit/store-contract';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestStore } from './create-test-store.js';
import { matchingIds } from './matching-ids.js';

const FIELDS: Record<string, FieldType> = {
  quarter: 'text',
  year: 'int',
  price: 'number',
  due: 'date',
  draft: 'boolean',
  labels: 'text[]',
};
const DOCUMENTS = 60;
const FILTERS = 2_000;

/** Values that equal each other in some sense, and must not here: case, space, stop words, wildcards, composition of signs. */
const TEXTS = [
  '',
  ' ',
  'a',
  'A',
  'a ',
  ' a',
  'a b',
  'b a',
  'the',
  'a*',
  '%',
  'caf\u00e9',
  'cafe',
  '日本',
  '日',
  'x-1',
  'x 1',
  'null',
  '0',
  'true',
];
const INTS = [-1, 0, 1, 2, 2_147_483_648, Number.MAX_SAFE_INTEGER];
const NUMBERS = [-1.5, 0, 0.1, 1.5, 1e12];
const DATES = ['1969-12-31T23:59:59.999Z', '1970-01-01T00:00:00.000Z', '2024-02-29T12:00:00.000Z', '2024-03-01T00:00:00.000Z'];

const text = fc.constantFrom(...TEXTS);
const texts = fc.uniqueArray(text, { maxLength: 3 });
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const metadata: fc.Arbitrary<DocumentMetadata> = fc
  .record({
    doc_title: maybe(text),
    doc_type: text,
    category: maybe(text),
    tags: texts,
    created_at: maybe(fc.constantFrom(...DATES)),
    created_ts: maybe(fc.constantFrom(...INTS)),
    security_level: fc.constantFrom(1 as const, 2 as const, 3 as const, 4 as const, 5 as const),
    allowed_groups: maybe(texts),
    fields: fc.record({
      quarter: maybe(text),
      year: maybe(fc.constantFrom(...INTS)),
      price: maybe(fc.constantFrom(...NUMBERS)),
      due: maybe(fc.constantFrom(...DATES)),
      draft: maybe(fc.boolean()),
      labels: maybe(texts),
    }),
  })
  .map((made) => {
    const present = <T extends object>(value: T) =>
      Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));
    const fields: Record<string, FieldValue> = present(made.fields);
    return { ...present(made), fields } as DocumentMetadata; // the members that are required have a value
  });

const byField: Record<string, fc.Arbitrary<Scalar>> = {
  doc_title: text,
  doc_type: text,
  category: text,
  tags: text,
  quarter: text,
  labels: text,
  allowed_groups: text,
  created_at: fc.constantFrom(...DATES),
  due: fc.constantFrom(...DATES),
  created_ts: fc.constantFrom(...INTS),
  year: fc.constantFrom(...INTS),
  security_level: fc.constantFrom(0, 1, 2, 3, 4, 5, 6),
  price: fc.constantFrom(...NUMBERS),
  draft: fc.boolean(),
  access_restricted: fc.boolean(),
};
const ORDERED = ['created_at', 'due', 'created_ts', 'year', 'security_level', 'price'];

const fieldAndValue = (names: string[]) =>
  fc.constantFrom(...names).chain((field) => fc.record({ field: fc.constant(field), value: byField[field] ?? text }));

const leaf: fc.Arbitrary<Filter> = fc.oneof(
  { weight: 4, arbitrary: fieldAndValue(Object.keys(byField)).map(({ field, value }): Filter => ({ op: 'eq', field, value })) },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom(...Object.keys(byField))
      .chain((field) =>
        fc.array(byField[field] ?? text, { maxLength: 4 }).map((values): Filter => ({ op: 'in', field, values })),
      ),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom('gt', 'gte', 'lt', 'lte'), fieldAndValue(ORDERED))
      .map(([op, rest]) => ({ op, ...rest }) as Filter), // one of the four
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(...Object.keys(byField).filter((name) => name !== 'access_restricted')), fc.boolean())
      .map(([field, value]): Filter => ({ op: 'exists', field, value })),
  },
  { weight: 1, arbitrary: fc.boolean().map((value): Filter => ({ op: 'const', value })) },
);

const filter: fc.Arbitrary<Filter> = fc.letrec<{ filter: Filter }>((tie) => ({
  filter: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc
      .tuple(fc.constantFrom('and' as const, 'or' as const), fc.array(tie('filter'), { maxLength: 3 }))
      .map(([op, of]): Filter => ({ op, of })),
    tie('filter').map((of): Filter => ({ op: 'not', of })),
  ),
})).filter;

let made: ReturnType<typeof createTestStore>;
let chunks: ChunkObject[];

beforeAll(async () => {
  made = createTestStore(testServices().weaviate, { dimensions: 2, fields: FIELDS });
  await made.store.ensureSchema();
  chunks = fc.sample(metadata, DOCUMENTS).map((one, n) => {
    const docId = `p/${n}.md`;
    const rev = attemptUuid();
    return {
      id: objectUuid(docUuid(docId), 'chunk', rev, 0),
      doc_id: docId,
      doc_uuid: docUuid(docId),
      source: 'p',
      source_path: `${n}.md`,
      rev,
      fence: 1,
      kind: 'paragraph',
      text: 'kettle',
      text_hash: sha256('kettle'),
      metadata: one,
      vector: unit([1, n]),
    };
  });
  await made.store.insertChunks(chunks);
});
afterAll(async () => {
  await made.store.close();
  await made.remove();
});

it(`matches what the reference evaluator matches, for ${FILTERS} random filters over ${DOCUMENTS} random documents`, async () => {
  // Pushed down and nothing else: the search's own machinery is left out, and every chunk counts.
  const match = matchingIds(made.options);
  let some = 0;
  await fc.assert(
    fc.asyncProperty(filter, async (one) => {
      const expected = chunks
        .filter((chunk) => evaluateFilter(one, filterableValues(chunk.metadata, chunk)))
        .map((chunk) => chunk.id);
      if (expected.length > 0 && expected.length < DOCUMENTS) some++;
      expect((await match(one)).sort()).toEqual(expected.sort());
    }),
    { numRuns: FILTERS },
  );
  // A test whose filters match all or nothing would show little.
  expect(some).toBeGreaterThan(FILTERS / 4);
});
