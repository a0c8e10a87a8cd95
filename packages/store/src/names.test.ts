import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { collectionNames, fieldProperty } from './names.js';

describe('names in the store', () => {
  it('are valid there', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }), (text) => {
        expect(fieldProperty(text, 'int')).toMatch(/^[a-z][_0-9a-z]*$/);
        for (const name of Object.values(collectionNames(`n${text}`, text))) expect(name).toMatch(/^[A-Z][_0-9A-Za-z]*$/);
      }),
    );
  });

  it('are those of one field and one type alone, though the store compares them without case', () => {
    const names = ['a', 'A', 'a_', 'a-', 'a_2d_', '_', 'é', 'É', 'ａ', 'a b', 'ab', 'a.b', '5f', '_5f_'];
    const types = ['text', 'text[]', 'int', 'number', 'date', 'boolean'] as const;
    const properties = names.flatMap((name) => types.map((type) => fieldProperty(name, type).toLowerCase()));
    expect(new Set(properties).size).toBe(properties.length);
  });

  it('tell instances and models apart', () => {
    const pairs = [
      ['a', 'm-1'],
      ['a', 'm1'],
      ['a-', 'm1'],
      ['b', 'm1'],
    ].map(([namespace = '', model = '']) => collectionNames(namespace, model).chunks);
    expect(new Set(pairs).size).toBe(pairs.length);
  });
});
