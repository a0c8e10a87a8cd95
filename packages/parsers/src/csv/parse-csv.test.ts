import fc from 'fast-check';
import { expect, it } from 'vitest';
import { expectLawful } from '../../test/laws.js';
import { parseAs, parseFixture } from '../../test/parse-file.js';

const rows = async (name: string, content: string | Uint8Array) => {
  const document = await parseAs(name, content);
  expectLawful(document);
  return document.elements[0]?.rows;
};

it('reads a first column without the byte order mark', async () => {
  expect((await parseFixture('t_utf8_bom.csv')).elements[0]?.rows).toEqual([
    ['id', 'name'],
    ['7', 'Ana'],
    ['8', 'Bo'],
  ]);
  expect((await parseFixture('t_utf16le_nobom.csv')).elements[0]?.rows?.[0]).toEqual(['sku', 'qty']);
});

it.each([
  [
    'commas',
    'a.csv',
    'a,b\n1,"x, y"\n2,"say ""hi"""\n',
    [
      ['a', 'b'],
      ['1', 'x, y'],
      ['2', 'say "hi"'],
    ],
  ],
  [
    'semicolons with decimal commas',
    'a.csv',
    'name;price\nkettle;1,50\nspout;2,75\n',
    [
      ['name', 'price'],
      ['kettle', '1,50'],
      ['spout', '2,75'],
    ],
  ],
  [
    'tabs',
    'a.tsv',
    'a\tb\n1, 2\t3\n',
    [
      ['a', 'b'],
      ['1, 2', '3'],
    ],
  ],
  [
    'bars',
    'a.csv',
    'a|b\n1|2\n3|4\n',
    [
      ['a', 'b'],
      ['1', '2'],
      ['3', '4'],
    ],
  ],
  [
    'line breaks within cells',
    'a.csv',
    'a,b\r\n"one\r\ntwo",2\r\n',
    [
      ['a', 'b'],
      ['one two', '2'],
    ],
  ],
  ['rows of different length', 'a.csv', 'a,b,c\n1\n1,2,3,4\n', [['a', 'b', 'c'], ['1'], ['1', '2', '3', '4']]],
  [
    'quotes in the middle of a cell',
    'a.csv',
    'a,b\n5" pipe,2\n',
    [
      ['a', 'b'],
      ['5" pipe', '2'],
    ],
  ],
  ['one column', 'a.csv', 'name\nAna\nBo\n', [['name'], ['Ana'], ['Bo']]],
])('reads %s', async (_, name, content, expected) => {
  expect(await rows(name, content)).toEqual(expected);
});

it('reads quotes that are never closed as they stand, and says so', async () => {
  const document = await parseAs('a.csv', 'a,b\n1,"open\n2,x\n3,y\n');
  expect(document.elements[0]?.rows).toEqual([
    ['a', 'b'],
    ['1', '"open'],
    ['2', 'x'],
    ['3', 'y'],
  ]);
  expect(document.warnings).toEqual(['quotes_not_closed']);
});

it.each([
  ['names', 'id,name\n1,Ana\n', 1],
  ['data from the first row on', '1,2.5\n3,4.5\n', 0],
  ['years as names', 'city,2022,2023\nParis,3,4\nRome,5,6\n', 1],
])('tells a header (%s)', async (_, content, headerRows) => {
  const document = await parseAs('a.csv', content);
  expect(document.elements[0]?.headerRows).toBe(headerRows);
  expectLawful(document);
});

it('reads a large table with the same rows as its pieces', async () => {
  const count = 60_000;
  const line = (n: number) => `${n},"item ""${n}""\nsecond line",${n * 2}`;
  const read = await rows('a.csv', `id,name,double\n${Array.from({ length: count }, (_, n) => line(n)).join('\n')}`);
  expect(read?.length).toBe(count + 1);
  for (const n of [0, 1, 31_234, count - 1]) expect(read?.[n + 1]).toEqual([String(n), `item "${n}" second line`, String(n * 2)]);
});

it('gives back any cells that were written', async () => {
  const cell = fc
    .string({ unit: fc.constantFrom('a', 'b', ' ', ',', '"', '|', '\\', 'é', '😀', '1'), minLength: 1, maxLength: 8 })
    .filter((text) => text.trim() !== '');
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 8 }), async (written) => {
      const quoted = [['x', 'y', 'z'], ...written].map((row) => row.map((value) => `"${value.replaceAll('"', '""')}"`).join(','));
      const tidy = (value: string) => value.replace(/\s+/g, ' ').trim();
      expect(await rows('a.csv', quoted.join('\n'))).toEqual([['x', 'y', 'z'], ...written.map((row) => row.map(tidy))]);
    }),
    { numRuns: 200 },
  );
});

it.each([
  [
    'sep=;\r\na;b\r\n1,5;2\r\n',
    [
      ['a', 'b'],
      ['1,5', '2'],
    ],
  ],
  [
    '"sep=|"\na|b,c\n1|2',
    [
      ['a', 'b,c'],
      ['1', '2'],
    ],
  ],
  [
    'sep=\t\na\tb\n1\t2',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  [
    'sep,b\n1,2',
    [
      ['sep', 'b'],
      ['1', '2'],
    ],
  ],
])('takes the line that tells Excel the separator at its word: %j', async (content, expected) => {
  expect(await rows('a.csv', content)).toEqual(expected);
});

it('reads semicolons with decimal commas in every row, however many rows there are', async () => {
  const lines = Array.from({ length: 60 }, (_, n) => `S${n};1,${10 + n}`);
  const read = await rows('a.csv', `Sensor;Wert\n${lines.join('\n')}\n`);
  expect(read?.slice(0, 2)).toEqual([
    ['Sensor', 'Wert'],
    ['S0', '1,10'],
  ]);
});
