import fc from 'fast-check';
import { expect, it } from 'vitest';
import { expectLawful } from '../../test/laws.js';
import { parseAs } from '../../test/parse-file.js';
import { makeRtf, rtfText } from '../bench/make-open-formats.js';

const read = async (body: string, name = 'a.rtf') => {
  const document = await parseAs(name, makeRtf(body));
  expectLawful(document);
  return document;
};

it('reads headings, paragraphs, lists, tables and notes', async () => {
  const document = await read(
    `\\pard\\s1 Care\\par\\pard\\s2 Daily\\par\\pard Fill it to 10{\\super 6} cups{\\footnote \\pard Or less.}.\\line Wait.\\par
    {\\listtext 1.\\tab}one\\par{\\listtext 2.\\tab}two\\par\\pard Then this.\\par
    \\trowd\\cellx1\\cellx2\\pard\\intbl a\\cell b\\cell\\row\\trowd\\pard\\intbl x\\par more\\cell y\\cell\\row\\pard After.\\par`,
  );
  expect(
    document.elements.map(({ kind, level, rows, text }) => [level === undefined ? kind : `${kind} ${level}`, rows ?? text]),
  ).toEqual([
    ['heading 1', 'Care'],
    ['heading 2', 'Daily'],
    ['paragraph', 'Fill it to 10^6 cups[1].\nWait.'],
    ['list', '1. one\n2. two'],
    ['paragraph', 'Then this.'],
    [
      'table',
      [
        ['a', 'b'],
        ['x more', 'y'],
      ],
    ],
    ['paragraph', 'After.'],
    ['paragraph', '[1] Or less.'],
  ]);
  expect(document.metadata).toEqual({ doc_title: 'Care', author: 'Ida' });
});

it('decodes characters of fonts, of code pages and of Unicode', async () => {
  const document = await read(
    "\\pard caf\\'e9 \\'80 5 \\f1\\'cf\\'f0\\f0  \\u8364?\\u-3913?\\emdash\\lquote x\\rquote  {\\uc2\\u1043??}end\\par",
  );
  expect(document.text).toBe('café € 5 Пр €\uf0b7—‘x’ Гend');
});

it('passes over pictures, field codes, headers, hidden and deleted text, binary data', async () => {
  const document = await read(
    '{\\header Head}{\\*\\unknown gone}{\\pict 89504e47}\\pard Read {\\field{\\*\\fldinst HYPERLINK "x"}{\\fldrslt the guide}}{\\v hidden}{\\deleted old} now.{\\bin4 {}{}}\\par',
  );
  expect(document.text).toBe('Read the guide now.');
});

it('is known by its content under other names, and corrupt where it is cut off', async () => {
  expect((await read('\\pard Lease.\\par', 'a.doc')).format).toBe('rtf');
  await expect(parseAs('a.rtf', makeRtf('\\pard Lease.\\par').slice(0, -5))).rejects.toMatchObject({ code: 'corrupt' });
});

it('keeps every word, and its laws on any input', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }), { maxLength: 5 }), async (texts) => {
      const document = await read(texts.map((text) => `\\pard ${rtfText(text.replace(/[\r\n]/g, ' '))}\\par`).join('\n'));
      const letters = (text: string) => text.match(/[\p{L}\p{N}]/gu)?.join('') ?? '';
      expect(letters(document.text)).toBe(letters(texts.join('')));
    }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.constantFrom(
          '{',
          '}',
          '\\par ',
          '\\cell ',
          '\\row ',
          '\\intbl ',
          '\\pard ',
          "\\'ff",
          '\\u-1?',
          'a',
          '\\*',
          '\\s1 ',
          '\\footnote ',
          '\\bin9 ',
          '\\listtext ',
        ),
      ),
      async (parts) => {
        const document = await parseAs('a.rtf', makeRtf(parts.join(''))).catch((error: { code: string }) => error.code);
        if (typeof document === 'string') expect(document).toBe('corrupt');
        else expectLawful(document);
      },
    ),
  );
});
