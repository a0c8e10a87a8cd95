import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stemEnglish } from './stem.js';

describe('stemEnglish', () => {
  it('gives the stems of the reference implementation', () => {
    // From the words of manual pages, by snowballstemmer 3 (English).
    const file = new URL('../test/fixtures/stems.json', import.meta.url);
    const stems = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
    expect(Object.keys(stems).length).toBeGreaterThan(300);
    const ours = Object.fromEntries(Object.keys(stems).map((word) => [word, stemEnglish(word)]));
    expect(ours).toEqual(stems);
  });

  it('leaves what is no English word', () => {
    for (const word of ['', 'is', 'données', 'straße', '2000s', 'ключами', '東京']) expect(stemEnglish(word)).toBe(word);
  });

  it('takes any letters, and makes no word longer by more than the e it restores', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz'), maxLength: 50 }), (word) => {
        const stem = stemEnglish(word);
        expect(stem.length).toBeLessThanOrEqual(word.length);
        expect(stem).toMatch(word === '' ? /^$/ : /^[a-z]+$/);
      }),
      { numRuns: 2_000 },
    );
  });
});
