import { type Manifest, type ManifestEntry, SluiceError } from '@sluice/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chunksWithin, textOf } from './text-of.js';

function entry(id: string, start: number, end: number, more: Partial<ManifestEntry> = {}): ManifestEntry {
  return {
    id,
    rev: 'r',
    text_hash: id,
    object_hash: id,
    kind: 'paragraph',
    start,
    end,
    prefix: '',
    derived: false,
    headingPath: [],
    tokens: 1,
    metadata: {},
    ...more,
  };
}

/** A text cut into chunks that may overlap, repeat a header or be missing where a gap stands. */
const revision = fc
  .record({
    text: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 80 }),
    cuts: fc.array(fc.nat(200), { maxLength: 12 }),
    kinds: fc.array(fc.constantFrom('chunk', 'gap', 'header'), { minLength: 14, maxLength: 14 }),
    overlaps: fc.array(fc.nat(5), { minLength: 14, maxLength: 14 }),
  })
  .map(({ text, cuts, kinds, overlaps }) => {
    const borders = [...new Set([0, ...cuts.map((cut) => cut % (text.length + 1)), text.length])].sort((a, b) => a - b);
    const manifest: Manifest = { entries: [], gaps: [], length: text.length, pages: [], dropped: [] };
    const texts = new Map<string, string>();
    for (let at = 0; at + 1 < borders.length; at += 1) {
      const [from = 0, to = 0] = [borders[at], borders[at + 1]];
      if (kinds[at] === 'gap') {
        manifest.gaps.push({ start: from, text: text.slice(from, to) });
        continue;
      }
      const start = Math.max(0, from - (overlaps[at] ?? 0));
      const prefix = kinds[at] === 'header' ? '| a | b |\n' : '';
      manifest.entries.push(entry(`c${at}`, start, to, { prefix }));
      texts.set(`c${at}`, prefix + text.slice(start, to));
    }
    // A proposition has its passage's span, and text of its own that must never show.
    manifest.entries.push(entry('fact', 0, text.length, { derived: true }));
    texts.set('fact', 'a fact');
    return { text, manifest, texts };
  });

describe('textOf', () => {
  it('gives back any slice of the parsed text', () => {
    fc.assert(
      fc.property(revision, fc.nat(100), fc.nat(100), ({ text, manifest, texts }, a, b) => {
        const [start, end] = [Math.min(a, b), Math.max(a, b)];
        const needed = new Map(chunksWithin(manifest, start, end).map((id) => [id, texts.get(id) ?? '']));
        expect(textOf(manifest, needed, start, end)).toBe(text.slice(start, end));
      }),
      { numRuns: 2000 },
    );
  });

  it('fails instead of leaving something out when a chunk is gone', () => {
    const manifest: Manifest = { entries: [entry('a', 0, 3), entry('b', 3, 6)], gaps: [], length: 6, pages: [], dropped: [] };
    const read = () => textOf(manifest, new Map([['a', 'abc']]), 0, 6);
    expect(read).toThrow(SluiceError);
    expect(read).toThrow(/from 3 to 6/);
    expect(textOf(manifest, new Map([['a', 'abc']]), 0, 3)).toBe('abc');
  });
});
