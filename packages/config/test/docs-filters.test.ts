import { SluiceError } from '@sluice/core';
import { compileFilter, evaluateFilter, fieldCatalog, filterableValues, resolveMetadata } from '@sluice/metadata';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readDocBlocks } from './doc-blocks.js';

const fields = { quarter: 'text', price: 'number', draft: 'boolean' } as const;
const catalog = fieldCatalog(fields);
const blocks = readDocBlocks('filters.md');
const schema = { defaultSecurityLevel: 1 as const, accessLevels: {} };

const written = parse(blocks.find(({ label }) => label === 'documents')?.code ?? '') as Record<string, Record<string, unknown>>;
const documents = Object.entries(written).map(([path, frontMatter]) => {
  const { metadata } = resolveMetadata({ sourcePath: path, schema, fields, frontMatter });
  return {
    path,
    values: filterableValues(metadata, { doc_id: `docs/${path}`, source: 'docs', source_path: path, kind: 'text' }),
  };
});

describe('docs/filters.md', () => {
  const filters = blocks.filter(({ label }) => label === 'filter');

  it('runs every example', () => {
    expect(filters.length).toBeGreaterThan(15);
    expect(blocks).toHaveLength(filters.length + 1);
    expect(documents).toHaveLength(4);
  });

  it.each(filters.map(({ code, after }) => [code.trim(), after.trim()]))('%s %s', (code, after) => {
    const filter: unknown = JSON.parse(code);
    const refused = /^Refused at `(.+)`/.exec(after)?.[1];
    if (refused !== undefined) {
      expect(() => compileFilter(filter, catalog)).toThrow(SluiceError);
      expect(() => compileFilter(filter, catalog)).toThrow(
        expect.objectContaining({ code: 'invalid_filter', details: expect.objectContaining({ path: refused }) }),
      );
      return;
    }
    const claim = /^Matches (nothing|.+)\./.exec(after)?.[1] ?? 'no claim';
    const expected = claim === 'nothing' ? [] : [...claim.matchAll(/`([^`]+)`/g)].map((match) => match[1]);
    if (claim !== 'nothing') expect(expected.length).toBeGreaterThan(0);
    const compiled = compileFilter(filter, catalog);
    expect(documents.filter(({ values }) => evaluateFilter(compiled, values)).map(({ path }) => path)).toEqual(expected);
  });
});
