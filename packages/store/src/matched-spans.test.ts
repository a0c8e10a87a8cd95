import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchedSpans } from './matched-spans.js';

const marked = (query: string, text: string) => matchedSpans(query, text).map(({ start, end }) => text.slice(start, end));

describe('matchedSpans', () => {
  it.each([
    ['how does the pump keep oil', 'The Pump keeps its oil; the PUMP.', ['Pump', 'oil', 'PUMP']],
    ['brulee', 'a crème brûlée', ['brûlée']],
    ['QX-7731', 'part QX\u20137731 (not QX-7732)', ['QX\u20137731']],
    ['invoice', 'call getInvoiceTotal()', ['getInvoiceTotal']],
    ['art', 'state-of-the-art', ['art']],
    ['C++', 'C, C++ and C#', ['C++']],
    ['京都', '東京都の京都', ['京都', '京都']],
    ['東京都', '東京都です', ['東京都']],
    ['猫', '白い猫です', ['猫']],
    ['zeppelin', 'no such thing', []],
  ])('%s in %s', (query, text, expected) => expect(marked(query, text)).toEqual(expected));

  it('gives spans in order, apart and within the text', () => {
    const words = fc.array(fc.constantFrom('pump', 'QX-7731', '東京都', ' ', 'oïl', '-', '😀', 'getTotal'), { maxLength: 20 });
    fc.assert(
      fc.property(words, words, (query, text) => {
        const joined = text.join('');
        let end = -1;
        for (const span of matchedSpans(query.join(' '), joined)) {
          expect(span.start).toBeGreaterThan(end);
          expect(span.end).toBeGreaterThan(span.start);
          end = span.end;
        }
        expect(end).toBeLessThanOrEqual(joined.length);
      }),
    );
  });
});
