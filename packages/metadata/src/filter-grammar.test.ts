import { type Caller, type FieldValue, type Filter, SluiceError } from '@sluice/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { accessFilter } from './access.js';
import { fieldCatalog } from './fields.js';
import { evaluateFilter, setFieldsOf } from './filter-evaluator.js';
import { compileFilter } from './filter-grammar.js';

const catalog = fieldCatalog({ metal: 'text', t: 'int', price: 'number', due: 'date', draft: 'boolean', labels: 'text[]' });

function matches(filter: unknown, values: Record<string, FieldValue>): boolean {
  return evaluateFilter(compileFilter(filter, catalog), values);
}

function fault(filter: unknown): SluiceError {
  try {
    compileFilter(filter, catalog);
  } catch (thrown) {
    if (thrown instanceof SluiceError) return thrown;
    throw thrown;
  }
  throw new Error(`was accepted: ${JSON.stringify(filter)}`);
}

describe('G03: empty lists never fail open', () => {
  const document = { tags: ['a'], t: 1 };
  it.each([
    [{ tags: { $in: [] } }, false],
    [{ tags: { $nin: [] } }, true],
    [{ due: { $in: [] } }, false],
    [{ $and: [] }, true],
    [{ $not: { $and: [] } }, false],
    [{ $not: { tags: { $in: [] } } }, true],
    [{}, true],
  ])('%j gives %s', (filter, expected) => {
    expect(matches(filter, document)).toBe(expected);
  });
  it('$or of nothing, $not of nothing and a field without operators are refused', () => {
    for (const filter of [{ $or: [] }, { $not: {} }, { tags: {} }, { tags: { $not: {} } }])
      expect(fault(filter).code).toBe('invalid_filter');
  });
});

describe('G04: nesting and precedence', () => {
  const documents: Record<string, Record<string, FieldValue>> = {
    d1: { metal: 'zinc', t: 5, security_level: 1, access_restricted: false },
    d2: { metal: 'zinc', t: 50, security_level: 1, access_restricted: false },
    d3: { metal: 'iron', t: 5, security_level: 1, access_restricted: false },
    d4: { metal: 'lead', t: 50, security_level: 5, access_restricted: false },
  };
  const reader: Caller = { role: 'reader', clearance: 1, groups: [], name: 'r' };
  const found = (filter: unknown) =>
    Object.keys(documents).filter((name) => {
      const guarded: Filter = { op: 'and', of: [accessFilter(reader), compileFilter(filter, catalog)] };
      return evaluateFilter(guarded, documents[name] ?? {});
    });

  it('an inner $and stays inner', () => {
    expect(found({ $or: [{ $and: [{ metal: 'zinc' }, { t: { $gt: 10 } }] }, { metal: { $in: ['iron', 'lead'] } }] })).toEqual([
      'd2',
      'd3',
    ]);
  });
  it('no $or widens access', () => {
    expect(found({ $or: [{ security_level: { $gte: 0 } }, { metal: 'lead' }] })).toEqual(['d1', 'd2', 'd3']);
    expect(found({ $not: { metal: 'none' } })).toEqual(['d1', 'd2', 'd3']);
  });
  it('not (a and b) is not a or not b', () => {
    const both = found({ $not: { metal: 'zinc', t: 5 } });
    expect(both).toEqual(['d2', 'd3']);
    expect(found({ $or: [{ $not: { metal: 'zinc' } }, { $not: { t: 5 } }] })).toEqual(both);
  });
  it('keys of one object are ANDed, on every level', () => {
    expect(found({ metal: 'zinc', t: { $gt: 1, $lt: 10 } })).toEqual(['d1']);
  });
});

describe('G07: missing and empty values', () => {
  const documents: Record<string, Record<string, FieldValue>> = {
    d: { tags: [] },
    e: {},
    f: { doc_title: '', tags: ['x'], t: 0, draft: false },
  };
  const found = (filter: unknown) => Object.keys(documents).filter((name) => matches(filter, documents[name] ?? {}));

  it.each([
    [{ $not: { tags: 'x' } }, ['d', 'e']],
    [{ tags: { $ne: 'x' } }, ['d', 'e']],
    [{ tags: { $nin: ['x', 'y'] } }, ['d', 'e']],
    [{ doc_title: { $exists: true } }, ['f']],
    [{ tags: { $exists: false } }, ['d', 'e']],
    [{ t: { $exists: true } }, ['f']],
    [{ draft: { $exists: true } }, ['f']],
    [{ draft: false }, ['f']],
    [{ t: { $lt: 5 } }, ['f']],
    [{ t: { $not: { $gt: 5 } } }, ['d', 'e', 'f']],
  ])('%j matches %j', (filter, expected) => {
    expect(found(filter)).toEqual(expected);
  });

  it('the list of set fields says the same as $exists', () => {
    expect(setFieldsOf(documents.f ?? {})).toEqual(['doc_title', 'draft', 't', 'tags']);
    expect(setFieldsOf(documents.d ?? {})).toEqual([]);
  });
});

describe('exactness', () => {
  it.each(['handbook', 'Handbook', 'hand', 'handbook v2', 'hand*', 'hand_ook', 'the', ''])('%j matches itself alone', (text) => {
    const others = ['handbook', 'Handbook', 'hand', 'handbook v2', 'hand*', 'hand_ook', 'the', ''].filter(
      (other) => other !== text,
    );
    expect(matches({ metal: text }, { metal: text })).toBe(true);
    for (const other of others) expect(matches({ metal: text }, { metal: other })).toBe(false);
  });
  it('text is compared after NFC', () => {
    expect(matches({ metal: 'e\u0301' }, { metal: '\u00e9' })).toBe(true);
  });
  it('control characters are not thought away', () => {
    expect(matches({ metal: 'a\u0001b' }, { metal: 'ab' })).toBe(false);
  });
});

describe('dates', () => {
  const year = [
    ['2023-12-31T23:59:59.999Z', false],
    ['2024-01-01T00:00:00.000Z', true],
    ['2024-12-31T23:59:59.999Z', true],
    ['2025-01-01T00:00:00.000Z', false],
  ] as const;
  it('a year is the span it names', () => {
    for (const [due, within] of year) {
      expect(matches({ due: '2024' }, { due })).toBe(within);
      expect(matches({ due: { $in: ['2024', '1999-01-01'] } }, { due })).toBe(within);
      expect(matches({ due: { $ne: '2024' } }, { due })).toBe(!within);
      expect(matches({ due: { $gte: '2024', $lte: '2024' } }, { due })).toBe(within);
      expect(matches({ $or: [{ due: { $lt: '2024' } }, { due: { $gt: '2024' } }] }, { due })).toBe(!within);
    }
  });
  it('the last year has no end to compare with', () => {
    const values = { due: '9999-12-31T23:59:59.999Z' };
    expect(matches({ due: '9999' }, values)).toBe(true);
    expect(matches({ due: { $lte: '9999' } }, values)).toBe(true);
    expect(matches({ due: { $gt: '9999-12' } }, values)).toBe(false);
    expect(matches({ due: { $lte: '9999' } }, {})).toBe(false);
  });
  it('an instant is itself, in any zone, and UTC without one', () => {
    const values = { due: '2024-05-01T08:00:00.000Z' };
    expect(matches({ due: '2024-05-01T10:00:00+02:00' }, values)).toBe(true);
    expect(matches({ due: '2024-05-01T08:00:00' }, values)).toBe(true);
    expect(matches({ due: { $gt: '2024-05-01T08:00:00Z' } }, values)).toBe(false);
  });
  it('created_at of one year, or created_ts, tell two documents apart', () => {
    const audit = { created_at: '2023-10-01T00:00:00.000Z', created_ts: 1696118400 };
    const roadmap = { created_at: '2024-01-15T00:00:00.000Z', created_ts: 1705276800 };
    for (const filter of [{ created_at: '2023' }, { created_ts: { $lt: 1704067200 } }, { created_at: { $lt: '2024' } }]) {
      expect([matches(filter, audit), matches(filter, roadmap)]).toEqual([true, false]);
    }
  });
});

describe('what is refused, naming the place', () => {
  it.each([
    [null, 'filter', undefined],
    [[], 'filter', undefined],
    ['x', 'filter', undefined],
    [{ colour: 'red' }, 'filter.colour', 'colour'],
    [{ access_restricted: false }, 'filter.access_restricted', 'access_restricted'],
    [{ set_fields: 'a' }, 'filter.set_fields', 'set_fields'],
    [{ metal: null }, 'filter.metal', 'metal'],
    [{ metal: ['a'] }, 'filter.metal', 'metal'],
    [{ metal: 5 }, 'filter.metal', 'metal'],
    [{ metal: { $eq: null } }, 'filter.metal.$eq', 'metal'],
    [{ metal: { $eq: { a: 1 } } }, 'filter.metal.$eq', 'metal'],
    [{ metal: { $like: 'a*' } }, 'filter.metal.$like', 'metal'],
    [{ metal: { eq: 'a' } }, 'filter.metal.eq', 'metal'],
    [{ metal: { $gt: 'a' } }, 'filter.metal.$gt', 'metal'],
    [{ draft: { $lt: true } }, 'filter.draft.$lt', 'draft'],
    [{ draft: 'true' }, 'filter.draft', 'draft'],
    [{ t: 5.5 }, 'filter.t', 't'],
    [{ t: '5' }, 'filter.t', 't'],
    [{ t: 2 ** 53 }, 'filter.t', 't'],
    [{ price: '1' }, 'filter.price', 'price'],
    [{ due: 2024 }, 'filter.due', 'due'],
    [{ due: '2024-02-30' }, 'filter.due', 'due'],
    [{ due: { $gte: 'soon' } }, 'filter.due.$gte', 'due'],
    [{ tags: { $in: 'a' } }, 'filter.tags.$in', 'tags'],
    [{ tags: { $in: ['a', null] } }, 'filter.tags.$in', 'tags'],
    [{ tags: { $exists: 'yes' } }, 'filter.tags.$exists', 'tags'],
    [{ tags: { $exists: null } }, 'filter.tags.$exists', 'tags'],
    [{ $xor: [] }, 'filter.$xor', undefined],
    [{ $eq: 'a' }, 'filter.$eq', undefined],
    [{ $and: {} }, 'filter.$and', undefined],
    [{ $and: [{ metal: 'a' }, null] }, 'filter.$and[1]', undefined],
    [{ $or: [{ t: 1 }, { $not: { metal: { $in: [1] } } }] }, 'filter.$or[1].$not.metal.$in', 'metal'],
    [{ $not: [] }, 'filter.$not', undefined],
    [{ $not: null }, 'filter.$not', undefined],
    [JSON.parse('{"__proto__": {"metal": "a"}}'), 'filter.__proto__', '__proto__'],
    [{ constructor: 'a' }, 'filter.constructor', 'constructor'],
  ])('%j', (filter, path, field) => {
    const error = fault(filter);
    expect(error.code).toBe('invalid_filter');
    expect(error.details?.path).toBe(path);
    expect(error.details?.field).toBe(field);
    expect(error.message.startsWith(path)).toBe(true);
  });

  it('a whole number may be written 5.0', () => {
    expect(matches(JSON.parse('{"t": 5.0}'), { t: 5 })).toBe(true);
  });

  it('depth, conditions and values have limits', () => {
    const nested = (depth: number) => {
      let filter: unknown = { t: 1 };
      for (let i = 0; i < depth; i++) filter = i % 2 === 0 ? { $not: filter } : { $and: [filter] };
      return filter;
    };
    expect(compileFilter(nested(10), catalog)).toBeDefined();
    expect(fault(nested(11)).message).toContain('deeper than 10');
    expect(fault(nested(100_000)).code).toBe('invalid_filter');
    const some = (n: number) => ({ $or: Array.from({ length: n }, (_, i) => ({ t: i })) });
    expect(compileFilter(some(100), catalog)).toBeDefined();
    expect(fault(some(101)).message).toContain('100 conditions');
    expect(fault({ $and: Array.from({ length: 1001 }, () => ({})) }).code).toBe('invalid_filter');
    const values = (n: number) => ({ t: { $in: Array.from({ length: n }, (_, i) => i) } });
    expect(compileFilter(values(1000), catalog)).toBeDefined();
    expect(fault(values(1001)).message).toContain('1000 values');
    // Bodies of a mebibyte that made a query of 26 MB for the store.
    const lists = (count: number) => ({ $or: Array.from({ length: count }, () => values(1000)) });
    expect(compileFilter(lists(5), catalog)).toBeDefined();
    expect(fault(lists(6)).message).toContain('5000 values');
    const empty = (count: number) => ({ $and: [{ $and: Array.from({ length: count }, () => ({})) }] });
    expect(compileFilter(empty(998), catalog)).toBeDefined();
    expect(fault(empty(999)).message).toContain('1000 objects');
  });
});

describe('laws', () => {
  const text = fc.constantFrom('', 'a', 'A', 'b', 'a b', '\u00e9', 'e\u0301');
  const date = fc.constantFrom('2023', '2024', '2024-02', '2024-02-29', '2024-02-29T12:00:00Z');
  const operand: Record<string, fc.Arbitrary<unknown>> = {
    metal: text,
    tags: text,
    t: fc.integer({ min: -2, max: 2 }),
    price: fc.constantFrom(-0.5, 0, 0.5),
    due: date,
    draft: fc.boolean(),
  };
  const comparison = fc.constantFrom(...Object.keys(operand)).chain((field) => {
    const value = operand[field] ?? text;
    const ordered = ['t', 'price', 'due'].includes(field);
    return fc
      .oneof(
        value,
        fc.record({ $eq: value }),
        fc.record({ $ne: value }),
        fc.record({ $in: fc.array(value, { maxLength: 3 }) }),
        fc.record({ $nin: fc.array(value, { maxLength: 3 }) }),
        fc.record({ $exists: fc.boolean() }),
        ...(ordered ? [fc.record({ $gt: value }), fc.record({ $gte: value, $lte: value }), fc.record({ $lt: value })] : []),
      )
      .map((condition) => ({ [field]: condition }));
  });
  const { filter: anyFilter } = fc.letrec((tie) => ({
    filter: fc.oneof(
      { maxDepth: 3 },
      comparison,
      fc.record({ $and: fc.array(tie('filter'), { maxLength: 3 }) }),
      fc.record({ $or: fc.array(tie('filter'), { minLength: 1, maxLength: 3 }) }),
      fc.record({ $not: tie('filter') }),
    ),
  }));
  const document = fc.record(
    {
      metal: text.map((value) => value.normalize('NFC')),
      tags: fc.array(
        text.map((value) => value.normalize('NFC')),
        { maxLength: 2 },
      ),
      t: fc.integer({ min: -2, max: 2 }),
      price: fc.constantFrom(-0.5, 0, 0.5),
      due: fc.constantFrom('2023-12-31T23:59:59.999Z', '2024-02-29T12:00:00.000Z', '2024-03-01T00:00:00.000Z'),
      draft: fc.boolean(),
    },
    { requiredKeys: [] },
  );

  it('$not is the exact complement, and De Morgan holds', () => {
    fc.assert(
      fc.property(anyFilter, anyFilter, document, (a, b, values) => {
        const [isA, isB] = [matches(a, values), matches(b, values)];
        expect(matches({ $not: a }, values)).toBe(!isA);
        expect(matches({ $not: { $and: [a, b] } }, values)).toBe(!isA || !isB);
        expect(matches({ $or: [{ $not: a }, { $not: b }] }, values)).toBe(!isA || !isB);
        expect(matches({ $not: { $or: [a, b] } }, values)).toBe(!isA && !isB);
        expect(matches({ $and: [{ $not: a }, { $not: b }] }, values)).toBe(!isA && !isB);
      }),
      { numRuns: 500 },
    );
  });

  it('$ne and $nin are the complements of $eq and $in, a bare value is $eq', () => {
    const pairs = fc
      .constantFrom(...Object.keys(operand))
      .chain((field) =>
        fc.record({ field: fc.constant(field), values: fc.array(operand[field] ?? text, { minLength: 1, maxLength: 3 }) }),
      );
    fc.assert(
      fc.property(pairs, document, ({ field, values: given }, values) => {
        const one = given[0];
        expect(matches({ [field]: { $ne: one } }, values)).toBe(!matches({ [field]: { $eq: one } }, values));
        expect(matches({ [field]: one }, values)).toBe(matches({ [field]: { $eq: one } }, values));
        expect(matches({ [field]: { $nin: given } }, values)).toBe(!matches({ [field]: { $in: given } }, values));
        expect(matches({ [field]: { $in: given } }, values)).toBe(given.some((value) => matches({ [field]: value }, values)));
      }),
      { numRuns: 500 },
    );
  });

  it('throws nothing but invalid_filter, whatever it is given', () => {
    const key = fc.constantFrom('$and', '$or', '$not', '$in', '$eq', '$exists', 'metal', 'due', 't', 'tags', 'nope', '');
    const { json } = fc.letrec((tie) => ({
      json: fc.oneof(
        { maxDepth: 5 },
        fc.jsonValue(),
        fc.array(tie('json'), { maxLength: 3 }),
        fc.dictionary(key, tie('json'), { maxKeys: 3 }),
      ),
    }));
    let accepted = 0;
    fc.assert(
      fc.property(json, (given) => {
        try {
          compileFilter(given, catalog);
          accepted += 1;
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(SluiceError);
          expect((thrown as SluiceError).code).toBe('invalid_filter');
        }
      }),
      { numRuns: 2000 },
    );
    expect(accepted).toBeGreaterThan(0);
  });
});
