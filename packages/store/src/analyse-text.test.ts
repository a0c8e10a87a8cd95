import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { analyseText } from './analyse-text.js';

const terms = (text: string) => analyseText(text, 'document');
const query = (text: string) => analyseText(text, 'query');
/** Whether keyword search finds the text: any term of the query is one of the text. */
const finds = (asked: string, text: string) => query(asked).some((term) => terms(text).includes(term));

describe('words of keyword search', () => {
  it('fold case, ligatures, width and invisible signs, on both sides', () => {
    expect(terms('The ﬁrst ＦＵＬＬ Straße co\u00adop')).toEqual(['the', 'first', 'full', 'strass', 'coop']);
    expect(finds('FIRST', 'ﬁrst')).toBe(true);
    expect(finds('cafe\u0301', 'CAF\u00c9')).toBe(true);
    expect(finds('ｶﾞ', 'ガ')).toBe(true);
  });

  it('find an English word in its other forms, and leave identifiers as they are', () => {
    expect(finds('connection', 'They were connected.')).toBe(true);
    expect(finds('boundary layers', 'the boundary-layer')).toBe(true);
    expect(finds('flies', 'one fly')).toBe(true);
    expect(finds('universe', 'the university')).toBe(false);
    expect(finds('foo-things.md', 'foo-thing.md')).toBe(false);
    expect(terms('tests.ts')).toEqual(['tests.ts', 'test', 'ts']);
  });

  it('know an identifier as a whole: a text without it is not found', () => {
    for (const text of [
      'Part QX-7731 of the pump',
      '(QX-7731)',
      'QX-7731.',
      'see QX-7731/B',
      'QX\u20117731',
      'part:QX-7731',
      "QX-7731's",
    ]) {
      expect(finds('QX-7731', text), text).toBe(true);
    }
    for (const text of ['Part QX-7732', 'qx 7731', '7731', 'QX', 'QX7731', 'QX-77310', 'AQX-7731', 'QX-7731x']) {
      expect(finds('QX-7731', text), text).toBe(false);
    }
    expect(finds('7731', 'Part QX-7731')).toBe(true);
  });

  it('find words joined by hyphens apart, and files, addresses and versions whole', () => {
    expect(finds('state-of-the-art', 'state of the art')).toBe(true);
    expect(finds('art', 'state-of-the-art')).toBe(true);
    expect(finds('read.me', 'read me')).toBe(false);
    expect(finds('config.yaml', 'docs/config.yaml')).toBe(true);
    expect(finds('ada@example.org', 'mail ada@example.org now')).toBe(true);
    expect(finds('v1.2', 'since v1.2')).toBe(true);
    expect(finds('v1.2', 'since v1.3')).toBe(false);
    expect(finds('telescope', "the telescope's shield")).toBe(true);
    expect(finds('telescope’s', 'the telescope')).toBe(true);
  });

  it('find text in scripts without spaces by pairs of signs', () => {
    expect(terms('東京都')).toEqual(['東京', '京都', '東', '京', '都']);
    expect(finds('京都', '東京都')).toBe(true);
    expect(finds('猫', '白い猫です')).toBe(true);
    expect(finds('大阪', '東京都')).toBe(false);
    expect(finds('ภาษา', 'ภาษาไทย')).toBe(true);
    expect(finds('한국', '한국어는')).toBe(true);
    expect(finds('GPT', 'GPT模型')).toBe(true);
    expect(finds('模型', 'GPT模型')).toBe(true);
    expect(finds('नमस्ते', 'नमस्ते दुनिया')).toBe(true);
  });

  it('know a word without its accents or vowel marks, after the word as it was asked for', () => {
    const both = (one: string, other: string) => finds(one, other) && finds(other, one);
    for (const [marked, plain] of [
      ['résumé', 'resume'],
      ['Nguyễn', 'Nguyen'],
      ['Łódź', 'Lodz'],
      ['Søren', 'Soren'],
      ['İSTANBUL', 'istanbul'],
      ['Ελλάδα', 'ελλαδα'],
      ['кото\u0301рый', 'который'],
      ['כִּתָב', 'כתב'],
      ['كِتَاب', 'كتاب'],
      ['كـتـاب', 'كتاب'],
      ['cœur', 'coeur'],
    ] as const) {
      expect(both(marked, plain), marked).toBe(true);
      expect(both(marked.normalize('NFD'), marked.normalize('NFC')), marked).toBe(true);
      const shared = (text: string) => query(marked).filter((term) => terms(text).includes(term)).length;
      expect(shared(marked), marked).toBeGreaterThanOrEqual(shared(plain));
    }
    // In kana and Indic scripts a mark makes another letter.
    expect(finds('か', 'が')).toBe(false);
    expect(finds('क', 'कि')).toBe(false);
  });

  it('find parts of names in code, and a name asked for in full by itself alone', () => {
    for (const [part, name] of [
      ['invoice total', 'getInvoiceTotal'],
      ['user id', 'parse_user_id'],
      ['http', 'XMLHttpRequest'],
      ['xml', 'XMLHttpRequest'],
      ['total', 'order.getInvoiceTotal()'],
      ['retries', 'MAX_RETRIES'],
      ['straße', 'neueStraße'],
    ] as const) {
      expect(finds(part, name), name).toBe(true);
    }
    expect(finds('getInvoiceTotal', 'the invoice total')).toBe(false);
    expect(finds('getinvoicetotal', 'getInvoiceTotal')).toBe(true);
    expect(finds('parse_user_id', 'the user id')).toBe(false);
  });

  it('keep C, C++ and C# apart', () => {
    const texts = ['written in C and', 'written in C++ and', 'written in C# and', 'C++17, at last', 'from C/C++.'];
    const found = (asked: string) => texts.filter((text) => finds(asked, text));
    expect(found('C')).toEqual([texts[0], texts[4]]);
    expect(found('c++')).toEqual([texts[1], texts[3], texts[4]]);
    expect(found('C#')).toEqual([texts[2]]);
    expect(found('C++17')).toEqual([texts[3]]);
    expect(finds('a+b', 'a+b')).toBe(true);
    expect(finds('page#part', 'see page#part')).toBe(true);
  });

  it.each([0x2d, 0x58a, 0x2010, 0x2011, 0x2012, 0x2013, 0x2014, 0x2015, 0x2043, 0x2212, 0xfe58, 0xfe63, 0xff0d])(
    'take the sign %i for a hyphen',
    (sign) => expect(finds('QX-7731', `part QX${String.fromCodePoint(sign)}7731`)).toBe(true),
  );

  it.each([0xad, 0x200b, 0x200c, 0x200d, 0x2060, 0xfeff])('pass over the invisible sign %i', (sign) =>
    expect(finds('QX-7731', `part QX${String.fromCodePoint(sign)}-77${String.fromCodePoint(sign)}31`)).toBe(true),
  );

  it('yield terms without white space, whatever the text, and the same each time', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (text) => {
        for (const side of ['document', 'query'] as const) {
          const found = analyseText(text, side);
          expect(analyseText(text, side)).toEqual(found);
          for (const term of found) {
            expect(term).toMatch(/^\S+$/u);
            expect(term.length).toBeLessThanOrEqual(256);
          }
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('find every text by every word of its own', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('QX-7731', 'state-of-the-art', '東京都', 'a.b_c', "it's", 'ภาษาไทย', 'naïve', 'x/y-z'), {
          minLength: 1,
        }),
        (words) => {
          const text = words.join(' ');
          for (const word of words) for (const term of query(word)) expect(terms(text)).toContain(term);
        },
      ),
    );
  });

  it('takes time in proportion to the text', () => {
    const time = (text: string) => {
      const began = performance.now();
      analyseText(text, 'document');
      return performance.now() - began;
    };
    time('warm-up '.repeat(1_000));
    // A quadratic analysis of these would take minutes.
    for (const text of [
      'a'.repeat(1_000_000),
      'a-'.repeat(500_000),
      '-'.repeat(1_000_000),
      '東'.repeat(500_000),
      "'s".repeat(300_000),
    ]) {
      expect(time(text)).toBeLessThan(20_000);
    }
  });
});
