import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPlainTokenizer } from './plain-tokenizer.js';

const tokenizer = createPlainTokenizer(512);

describe('createPlainTokenizer', () => {
  it.each([
    ['', 2],
    ['the kettle boils', 2 + 1 + 2 + 2],
    ['2024-12-31', 2 + 2 + 1 + 1 + 1 + 1],
    ['東京', 4],
    ['👩‍👩‍👧', 2 + 2 + 1 + 2 + 1 + 2],
  ])('counts %j', (text, count) => {
    expect(tokenizer.count(text)).toBe(count);
  });

  it('counts what its offsets show, and adds up over texts that white space parts', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 60 });
    fc.assert(
      fc.property(text, text, (a, b) => {
        const spans = tokenizer.offsets(a);
        expect(tokenizer.count(a)).toBe(spans.length + 2);
        expect(tokenizer.count(`${a} ${b}`)).toBe(tokenizer.count(a) + tokenizer.count(b) - 2);
        let last = 0;
        for (const { start, end } of spans) {
          expect(start).toBeLessThan(end);
          expect(end).toBeGreaterThanOrEqual(last);
          last = end;
        }
        expect(spans.map(({ start, end }) => a.slice(start, end)).join('').length).toBeGreaterThanOrEqual(
          a.replace(/\s/g, '').length,
        );
      }),
    );
  });
});
