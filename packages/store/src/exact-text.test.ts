import { sha256 } from '@sluice/core';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { exactText, wellFormed } from './exact-text.js';

/** What Weaviate keeps of a text: its white space at the edges goes, and nothing is kept of an empty one. */
const indexed = (text: string) => exactText(text, sha256).replace(/^[\s\u0085]+|[\s\u0085]+$/gu, '');

it('keeps texts apart in the index exactly when they differ after NFC', () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 4 }),
    fc.constantFrom('', ' ', 'a', ' a', 'a ', '\u0002', '\u0002a\u0002', '\u0085a', 'e\u0301', '\u00e9', '\u0002\u0002'),
  );
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(indexed(a) === indexed(b)).toBe(a.normalize('NFC') === b.normalize('NFC'));
      expect(indexed(a)).not.toBe('');
    }),
    { numRuns: 2_000 },
  );
});

it('bounds long texts, and keeps those apart too', () => {
  expect(exactText('x'.repeat(100_000), sha256).length).toBeLessThan(100);
  expect(exactText('x'.repeat(100_000), sha256)).not.toBe(exactText('x'.repeat(100_001), sha256));
});

it('leaves no half of a surrogate pair', () => {
  expect(wellFormed('a\ud83d b \ude00 😀')).toBe('a\ufffd b \ufffd 😀');
});
