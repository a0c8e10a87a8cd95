import { describe, expect, it } from 'vitest';
import { isReadSidecar, isSidecar, ownerOf, parseSidecar, sidecarsOf } from './sidecar.js';

describe('sidecars', () => {
  it('are named after their file', () => {
    expect(sidecarsOf('a/b.pdf')).toEqual(['a/b.pdf.meta.yaml', 'a/b.pdf.meta.yml', 'a/b.pdf.meta.json']);
    expect(sidecarsOf('a.d/b')).toEqual(['a.d/b.meta.yaml', 'a.d/b.meta.yml']);
    for (const path of sidecarsOf('a/b.pdf')) expect(ownerOf(path)).toBe('a/b.pdf');
    const sidecars = ['b.pdf.meta.yaml', 'a/b.meta.yaml', 'b.meta.yml', 'b.pdf.meta.json', 'b.txt.meta.yaml.meta.yml'];
    expect(sidecars.filter(isSidecar)).toEqual(sidecars);
    expect(sidecars.filter(isReadSidecar)).toEqual(sidecars);
    const documents = [
      '.meta.yaml',
      'a/.meta.yml',
      'meta.yaml',
      'model.meta.json',
      'a.d/model.meta.json',
      'b.metayaml',
      'b.pdf.meta.toml',
    ];
    expect(documents.filter(isSidecar)).toEqual([]);
  });

  it('are no documents in other letters either, though not read', () => {
    const names = ['b.pdf.META.YAML', 'b.pdf.Meta.yml', 'b.PDF.META.JSON'];
    expect(names.filter(isSidecar)).toEqual(names);
    expect(names.filter(isReadSidecar)).toEqual([]);
    expect(names.map(ownerOf)).toEqual(['b.pdf', 'b.pdf', 'b.PDF']);
  });

  it('hold a mapping or nothing', () => {
    expect(parseSidecar('\ufefftags: [a]\r\ncreated: 2024-05-01\r\n')).toEqual({ tags: ['a'], created: '2024-05-01' });
    expect(parseSidecar('')).toEqual({});
    expect(parseSidecar('# nothing yet\n')).toEqual({});
  });

  it.each([
    ['- a list', false],
    ['just text', false],
    ['tags: [a', false],
    ['a: 1\na: 2', false],
    ['--- \na: 1\n---\nb: 2', false],
    ['security_level: [', true],
    ['- security_level: 3', true],
    ['x'.repeat(300_000), true],
  ])('text %# is invalid metadata', (text, access) => {
    expect(() => parseSidecar(text)).toThrow(
      expect.objectContaining({ code: 'invalid_metadata', details: expect.objectContaining({ access }) }),
    );
  });
});
