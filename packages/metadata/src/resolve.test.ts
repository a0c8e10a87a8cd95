import { SluiceError } from '@sluice/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { accessLevelNames } from './access.js';
import type { MetadataInput } from './layers.js';
import { checkMetadata, resolveMetadata } from './resolve.js';

const schema = { defaultSecurityLevel: 1 as const, accessLevels: accessLevelNames() };

function input(given: Partial<MetadataInput> = {}): MetadataInput {
  return { sourcePath: 'finance/q3.md', schema, fields: {}, ...given };
}

function fault(given: Partial<MetadataInput>): SluiceError {
  try {
    resolveMetadata(input(given));
  } catch (thrown) {
    if (thrown instanceof SluiceError) return thrown;
    throw thrown;
  }
  throw new Error('was accepted');
}

describe('resolveMetadata: who speaks first', () => {
  const layers = {
    frontMatter: { category: 'a' },
    sidecar: { category: 'b', author: 'b', tags: [] },
    matchingRules: [
      { match: ['finance/**'], metadata: { category: 'c', author: 'c', version: 'c', tags: ['c'] } },
      { match: ['**'], metadata: { version: 'd', doc_type: 'd' } },
    ],
    sourceMetadata: { category: 'e', author: 'e', version: 'e', doc_type: 'e', lang: 'e', doc_title: 'E' },
    self: { doc_title: 'F', lang: 'de', created_at: '2020-01-01', author: 'F' },
    mtimeMs: Date.UTC(2030, 0, 1),
  };

  it('takes each field from the first layer that speaks, lists too, and tells which one it was', () => {
    const { metadata, origins } = resolveMetadata(input(layers));
    expect(metadata).toEqual({
      doc_title: 'E',
      doc_type: 'd',
      category: 'a',
      author: 'b',
      tags: [],
      version: 'c',
      lang: 'e',
      created_at: '2020-01-01T00:00:00.000Z',
      created_ts: 1577836800,
      security_level: 1,
      fields: {},
    });
    expect(origins).toMatchObject({
      category: 'front matter',
      author: 'sidecar',
      tags: 'sidecar',
      version: 'rule finance/**',
      doc_type: 'rule **',
      lang: 'source',
      created_at: 'document',
      security_level: 'default',
    });
  });

  it('says nothing with null, so that a blank line of a template hides nobody', () => {
    expect(resolveMetadata(input({ ...layers, frontMatter: { category: null } })).metadata.category).toBe('b');
  });

  it('defaults: title from the file name, type document, no date, no tags', () => {
    const { metadata, origins, warnings } = resolveMetadata(input());
    expect(metadata).toEqual({ doc_title: 'q3.md', doc_type: 'document', tags: [], security_level: 1, fields: {} });
    expect(origins).toEqual({ doc_title: 'file name', doc_type: 'default', security_level: 'default' });
    expect(warnings).toEqual([]);
  });

  it('takes mtime and the recognised language last', () => {
    const { metadata, origins } = resolveMetadata(input({ mtimeMs: Date.UTC(2024, 4, 1) + 0.7, lang: 'en' }));
    expect(metadata).toMatchObject({ created_at: '2024-05-01T00:00:00.000Z', created_ts: 1714521600, lang: 'en' });
    expect(origins.created_at).toBe('mtime');
  });
});

describe('resolveMetadata: friendly input', () => {
  it('reads title, date and created, the own name first', () => {
    expect(resolveMetadata(input({ frontMatter: { title: 'T', date: '2024-05-01', created: '2020' } })).metadata).toMatchObject({
      doc_title: 'T',
      created_at: '2024-05-01T00:00:00.000Z',
    });
    expect(resolveMetadata(input({ frontMatter: { title: 'T', doc_title: 'D', created: 2020 } })).metadata).toMatchObject({
      doc_title: 'D',
      created_at: '2020-01-01T00:00:00.000Z',
    });
  });

  it('a declared field takes its name back from an alias', () => {
    const { metadata } = resolveMetadata(input({ fields: { date: 'text' }, frontMatter: { date: 'soon', created: '2024' } }));
    expect(metadata.fields).toEqual({ date: 'soon' });
    expect(metadata.created_at).toBe('2024-01-01T00:00:00.000Z');
  });

  it.each([
    ['text', 5, '5'],
    ['text', true, 'true'],
    ['text', '', ''],
    ['text', 'e\u0301', '\u00e9'],
    ['text', 'a\u0000b', 'ab'],
    ['text[]', 'a, b,,a', ['a', 'b']],
    ['text[]', [1, 'x'], ['1', 'x']],
    ['text[]', 7, ['7']],
    ['text[]', [], []],
    ['int', 5.0, 5],
    ['int', '5.0', 5],
    ['int', '007', 7],
    ['int', -3, -3],
    ['number', '1.50', 1.5],
    ['number', 0, 0],
    ['date', 2024, '2024-01-01T00:00:00.000Z'],
    ['date', '2024-05', '2024-05-01T00:00:00.000Z'],
    ['date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['boolean', false, false],
    ['boolean', 'Yes', true],
  ] as const)('a %s field takes %j', (type, given, stored) => {
    expect(resolveMetadata(input({ fields: { f: type }, frontMatter: { f: given } })).metadata.fields).toEqual({ f: stored });
  });

  it.each([
    ['text', ['a']],
    ['text', { a: 1 }],
    ['text[]', { a: 1 }],
    ['text[]', [['a']]],
    ['text[]', [null]],
    ['int', 5.5],
    ['int', 'five'],
    ['int', true],
    ['int', ''],
    ['int', 2 ** 53],
    ['number', 'NaN'],
    ['number', Number.POSITIVE_INFINITY],
    ['date', '2024-02-30'],
    ['date', '1 May'],
    ['date', 20240501],
    ['boolean', 1],
    ['boolean', 'maybe'],
  ] as const)('a %s field refuses %j, naming field and value', (type, given) => {
    const error = fault({ fields: { f: type }, frontMatter: { f: given } });
    expect(error).toMatchObject({ code: 'invalid_metadata', details: { field: 'f', origin: 'front matter', access: false } });
    expect(error.message).toMatch(/^f is .* \(front matter\); expected /s);
  });

  it('checks doc_type where types are declared, and its length where not', () => {
    const declared = { ...schema, docTypes: ['report', 'policy'] };
    expect(resolveMetadata(input({ schema: declared, frontMatter: { doc_type: 'report' } })).metadata.doc_type).toBe('report');
    expect(fault({ schema: declared, frontMatter: { doc_type: 'memo' } }).message).toContain('"memo"');
    expect(fault({ frontMatter: { doc_type: 'x'.repeat(101) } }).code).toBe('invalid_metadata');
    // Nobody says it: the default needs no declaration.
    expect(resolveMetadata(input({ schema: declared })).metadata.doc_type).toBe('document');
  });

  it('version stays text, and a language is its code', () => {
    expect(resolveMetadata(input({ frontMatter: { version: '1.10', lang: 'en-US' } })).metadata).toMatchObject({
      version: '1.10',
      lang: 'en',
    });
  });
});

describe('resolveMetadata: what is left over', () => {
  it('keeps undeclared front matter and lists it, the reserved names too', () => {
    const { extra, warnings, metadata } = resolveMetadata(
      input({ frontMatter: { mood: 'calm', source: 'https://example.org' }, sidecar: { mood: 'x', owner: { name: 'n' } } }),
    );
    expect(extra).toEqual({ mood: 'calm', source: 'https://example.org', owner: { name: 'n' } });
    expect(warnings).toEqual(['undeclared_field: mood', 'undeclared_field: source', 'undeclared_field: owner']);
    expect(metadata.fields).toEqual({});
  });

  it('drops with a warning what the document says of itself and does not fit, and never its level', () => {
    const { metadata, warnings, extra } = resolveMetadata(
      input({
        fields: { pages: 'int' },
        self: { created_at: 'long ago', author: ['A'], pages: 'many', security_level: 5, producer: 'x' },
      }),
    );
    expect(metadata).toMatchObject({ security_level: 1, fields: {} });
    expect(metadata.created_at).toBeUndefined();
    expect(warnings.sort()).toEqual([
      'self_metadata_ignored: author',
      'self_metadata_ignored: created_at',
      'self_metadata_ignored: pages',
    ]);
    expect(extra).toEqual({});
  });

  it('bounds its warnings', () => {
    const frontMatter = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k${i}`, i]));
    const { warnings, extra } = resolveMetadata(input({ frontMatter }));
    expect(warnings).toHaveLength(51);
    expect(warnings.at(-1)).toBe('undeclared_field: and 450 more');
    expect(Object.keys(extra)).toHaveLength(500);
  });

  it('names like those of Object.prototype are names like others', () => {
    const frontMatter = JSON.parse('{"__proto__": {"category": "x"}, "constructor": 1, "toString": 2}');
    const { extra, metadata } = resolveMetadata(input({ frontMatter }));
    expect(Object.keys(extra)).toEqual(['__proto__', 'constructor', 'toString']);
    expect(metadata.category).toBeUndefined();
  });

  it('throws nothing but invalid_metadata, whatever a file says', () => {
    const keys = fc.constantFrom(
      'title',
      'tags',
      'created',
      'security_level',
      'allowed_groups',
      'doc_type',
      'n',
      'when',
      'other',
    );
    fc.assert(
      fc.property(
        fc.dictionary(keys, fc.anything({ withDate: true, withBigInt: false, withNullPrototype: true })),
        (frontMatter) => {
          try {
            const { metadata } = resolveMetadata(input({ fields: { n: 'int', when: 'date' }, frontMatter }));
            expect(metadata.tags.every((tag) => tag !== '')).toBe(true);
          } catch (thrown) {
            expect(thrown).toBeInstanceOf(SluiceError);
            expect((thrown as SluiceError).code).toBe('invalid_metadata');
          }
        },
      ),
    );
  });
});

describe('checkMetadata', () => {
  it('finds every fault of configured metadata', () => {
    const problems = checkMetadata(
      { category: 'ok', title: 'ok', quarter: 5, year: 'x', colour: 'red', security_level: 9, allowed_groups: null, date: 'x' },
      { quarter: 'text', year: 'int' },
      schema,
    );
    expect(problems.map(({ field }) => field)).toEqual(['year', 'colour', 'security_level', 'allowed_groups', 'date']);
  });
});
