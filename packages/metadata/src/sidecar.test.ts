import { describe, expect, it } from 'vitest';
import { isSidecar, ownerOf, parseSidecar, sidecarOf } from './sidecar.js';

describe('sidecars', () => {
  it('are named after their file', () => {
    expect(sidecarOf('a/b.pdf')).toBe('a/b.pdf.meta.yaml');
    expect(ownerOf('a/b.pdf.meta.yaml')).toBe('a/b.pdf');
    expect(['b.pdf.meta.yaml', 'a/b.meta.yaml'].map(isSidecar)).toEqual([true, true]);
    expect(['.meta.yaml', 'a/.meta.yaml', 'meta.yaml', 'b.meta.yml', 'b.META.YAML'].map(isSidecar)).toEqual([
      false,
      false,
      false,
      false,
      false,
    ]);
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
