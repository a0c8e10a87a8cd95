import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSentenceSplitter } from './sentences.js';

function split(text: string, lang?: string): string[] {
  return [...createSentenceSplitter().split(text, 0, text.length, lang)].map(({ start, end }) => text.slice(start, end));
}

/** Sentences written one a line; a line break within a sentence is written `~`. */
function expectSentences(lines: string[], lang?: string, joiner = ' '): void {
  expect(split(lines.join(joiner), lang)).toEqual(lines);
}

describe('English', () => {
  it.each<{ kind: string; lines: string[] }>([
    {
      kind: 'titles, times, firms, references, initials',
      lines: [
        'Dr. Ruiz met Prof. Lund at 9 a.m. on Monday.',
        'They discussed the U.S. market, i.e. the west coast.',
        'Acme Inc. paid approx. 4.5 million, cf. Fig. 3 and No. 12.',
        'Okafor et al. (2021) disagreed.',
        'Mr. J. R. Hale holds a Ph.D.-level post.',
      ],
    },
    {
      kind: 'abbreviations that end a sentence',
      lines: [
        'It opens at 9 a.m. sharp.',
        'We left at 5 p.m.',
        'The shop of Acme Inc.',
        'They sell pens, ink, etc.',
        'He lives in the U.S.',
        'It is far.',
      ],
    },
    { kind: '"no" as a word', lines: ['Did it boil?', 'No.', 'I waited.', 'See no. 7 in vol. 2, p. 31.'] },
    {
      kind: 'initials and letters',
      lines: ['J. K. Rowling wrote it.', 'Take vitamin C. It helps.'].flatMap((line) =>
        line.startsWith('Take') ? ['Take vitamin C.', 'It helps.'] : [line],
      ),
    },
    {
      kind: 'decimals, versions, addresses',
      lines: [
        'Version 2.0.1 costs 3.50 dollars.',
        'See https://example.org/a.b?c=d.e for more.',
        'Mail to a.b@example.org.',
        'Node.js runs it.',
      ],
    },
    {
      kind: 'quotes',
      lines: ['"Why?" he asked.', 'He said "Stop." Then he left.', '“It boils.” She nodded.'].flatMap((line) =>
        line === '"Why?" he asked.' ? [line] : line.split(/(?<=[.][”"]) /),
      ),
    },
    { kind: 'ellipses', lines: ['Well... perhaps not.', 'It cooled…', 'Then nothing.'] },
    { kind: 'marks together', lines: ['Really?!', 'Yes!!', 'Good.'] },
    { kind: 'brackets', lines: ['It boils (see Fig. 2).', '(A note.)', 'It cools.'] },
    { kind: 'years and numbers', lines: ['It began in 2021.', 'By 2023 it had 40.', '12 were left.'] },
    {
      kind: 'firms, places and degrees, at the end and within',
      lines: [
        'He works at Apple Inc.',
        'It is big.',
        'She lives in Washington D.C.',
        'The U.S. Senate met.',
        'At 5 p.m. Mr. Lee left.',
        'He came at 6 p.m.',
        'Nobody saw him.',
        'He has a Ph.D.',
        'She has an M.A.',
        'They met Gen. Grant and Sen. Lee on St. James St. at noon.',
        'Mr. and Mrs. Smith vs. Jones et al. lost.',
      ],
    },
    {
      kind: 'what looks like an abbreviation and is none',
      lines: ['Mail bob@x.org.', 'Thanks!', 'It is 20 °C.', 'Fine.', 'Read a/b.c.', 'Good.', 'It was I.', 'You know.'],
    },
    {
      kind: 'numbers behind abbreviations',
      lines: [
        'At most max. 9 and min. 2 boil.',
        'See Eq. (3) and Ref. 7.',
        'Sec. 4.2 and pp. 3-5 say so.',
        'Born in Jan. 2001.',
        'Rev. 2 is out.',
      ],
    },
    { kind: 'marks of footnotes', lines: ['It boils.[1]', 'It cools.[2][13]', 'See [4].', 'It ends.'] },
    {
      kind: 'roman numbers',
      lines: ['I. Kettles are old.', 'II. Pans are not.', 'It ended with World War II.', 'Then came peace.'],
    },
    { kind: 'all in small letters', lines: ['hello.', 'how are you?', 'I am fine!', 'see you.'] },
  ])('$kind', ({ lines }) => expectSentences(lines));

  it('keeps the number of a list with its sentence', () => {
    expectSentences(['1. Fill the kettle.', '2. Press the switch.', '- Wait.', 'a) Pour.'], 'en', '\n');
  });

  it('reads through the line breaks of wrapped text and stops at blank lines and fields', () => {
    const wrapped =
      'The kettle is filled with water and is then\nplaced on its base. It boils\nin a few minutes and switches off.';
    expect(split(wrapped)).toEqual([wrapped.slice(0, wrapped.indexOf(' It boils')), wrapped.slice(wrapped.indexOf('It boils'))]);
    expectSentences(['No full stop here', 'A new paragraph'], 'en', '\n\n');
    expectSentences(['Item: bin-000', 'Shelf: 0', 'Kind: crate'], 'en', '\n');
  });
});

describe('other languages', () => {
  it.each<{ lang: string; lines: string[]; joiner?: string }>([
    {
      lang: 'de',
      lines: [
        'Am 3. Oktober kam Dr. Weiß, z. B. mit Hr. Maier.',
        'Das kostet ca. 4,50 Euro bzw. 5 Franken.',
        'Im 19. Jahrhundert war es d.h. anders.',
        '„Gut.“ Er ging.',
      ].flatMap((line) => line.split(/(?<=“) /)),
    },
    {
      lang: 'de',
      lines: [
        'Er wohnt in der Hauptstr. 5.',
        'Das sind ca. 1.000 Euro inkl. MwSt. pro Stück.',
        'Vgl. Abs. 3 S. 2.',
        'Siehe auch Art. 5.',
        'Kaiser Wilhelm II. regierte lange.',
        'Das dauert 5 Min. oder 2 Std. lang.',
        'Fa. Meier GmbH & Co. KG liefert Obst, Gemüse usw.',
        'Dann gingen sie.',
        'Der 1. FC Köln gewann.',
      ],
    },
    {
      lang: 'fr',
      lines: [
        'Voir p. ex. le chap. 3.',
        'C’est tout.',
        'Le 1er janv. 2020, il neigeait.',
        'Av. J.-C., Rome existait.',
        'Il dit : « Je viens. »',
        'Elle attend.',
      ],
    },
    {
      lang: 'es',
      lines: [
        'Vive en EE. UU. desde 2001.',
        'La Dra. Ruiz y Ud. hablaron, p. ej. de la pág. 3.',
        'Llegó a las 5 p. m. y se fue.',
        'No volvió.',
      ],
    },
    {
      lang: 'zh',
      lines: ['真的吗？！', '太好了……', '请看（图1）。', '版本是v2.0.1。', '《红楼梦》很好。', '「好。」', '『是。』'],
      joiner: '',
    },
    { lang: 'ja', lines: ['本当ですか？', 'はい！', 'そうです…', 'ＡＢＣ．', 'そうだ｡'], joiner: '' },
    { lang: 'ko', lines: ['가격은 3.5만 원입니다.', '“네.”라고 답했다.', '그는 갔다.'] },
    { lang: 'hi', lines: ['क्या यह सच है?', 'हाँ!', 'डॉ. शर्मा और श्री. वर्मा आए।', 'कीमत 3.5 रुपये है।', 'ठीक है॥'] },
    { lang: 'ar', lines: ['السعر 3.5 دولار.', 'د. أحمد هنا؛ وهو طبيب.', 'قال: «نعم.»', 'ثم ذهب.'] },
    { lang: 'fr', lines: ['M. Dupont est là.', 'Mme Morel arrive à 9 h.', '« Bonjour ! » dit-il.', 'Est-ce vrai ?', 'Oui.'] },
    { lang: 'es', lines: ['El Sr. López vive aquí.', '¿Cómo está?', '¡Muy bien!', 'Ud. lo sabe, p.ej. hoy.'] },
    { lang: 'zh', lines: ['今天下雨。', '我们留在家里！', '“好的。”他说。', '价格是3.5元。', '真的吗？'], joiner: '' },
    { lang: 'ja', lines: ['価格は3.5万円です。', '明日届きます。', '「はい。」と答えた。'], joiner: '' },
    { lang: 'ko', lines: ['오늘은 비가 옵니다.', '집에 있을까요?', '네!'] },
    { lang: 'hi', lines: ['बारिश हो रही है।', 'हम घर पर हैं।', 'कल बाज़ार जाएँगे।'] },
    { lang: 'ar', lines: ['هل وصلت؟', 'نعم.', 'حسنا!'] },
    { lang: 'th', lines: ['วันนี้ฝนตก', 'เราอยู่บ้าน', 'พรุ่งนี้จะไปตลาด'] },
  ])('$lang', ({ lang, lines, joiner }) => {
    expectSentences(lines, lang, joiner);
    // By script alone, too: a passage may be in another language than its document.
    if (/[^\u0000-\u024f‘-”]/.test(lines.join(''))) expectSentences(lines, 'en', joiner);
  });

  it('never leaves an opening quote behind, nor begins with a closing one', () => {
    for (const text of [
      '今天下雨。“好的。”他说。“走吧。”“好。”',
      '明日届きます。「はい。」と答えた。「いいえ。」',
      '他说：“我不去。你去吧。”然后走了。',
    ]) {
      for (const sentence of split(text)) {
        expect(sentence).not.toMatch(/[“「]$/);
        expect(sentence).not.toMatch(/^[”」]/);
      }
    }
  });
});

it('is lossless on any text: sentences ascend and leave out white space only', () => {
  const bits = fc.constantFrom(
    'a',
    'Dr.',
    ' ',
    '\n',
    '\n\n',
    '.',
    '!',
    '。',
    '“',
    '”',
    '3.5',
    'ไทย',
    '\u0301',
    '👩‍👩‍👧',
    'Word',
    '- ',
  );
  fc.assert(
    fc.property(fc.array(bits, { maxLength: 60 }), fc.constantFrom(undefined, 'en', 'de', 'th'), (parts, lang) => {
      const text = parts.join('');
      let at = 0;
      for (const { start, end } of createSentenceSplitter().split(text, 0, text.length, lang)) {
        expect(text.slice(at, start).trim()).toBe('');
        expect(end).toBeGreaterThan(start);
        at = end;
      }
      expect(text.slice(at).trim()).toBe('');
    }),
    { numRuns: 2_000 },
  );
});

it('takes time in proportion to the text, also where nothing ends a sentence', () => {
  // Asked in parts, each part may look at itself alone: counted by the units that patterns are given.
  const text = 'kettle steam '.repeat(20_000);
  let read = 0;
  const watched = new Proxy(new String(text), {
    get(target, key) {
      if (key === 'slice') {
        return (from: number, to: number) => {
          read += Math.max(0, Math.min(to, text.length) - from);
          return text.slice(from, to);
        };
      }
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(text) : value;
    },
  });
  // A String object does all that the splitter asks of a string.
  const asText = watched as unknown as string;
  for (let from = 0; from < text.length; from += 130) [...createSentenceSplitter().split(asText, from, from + 130)];
  expect(read).toBeLessThan(text.length * 3);
});
