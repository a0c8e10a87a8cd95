import { expect, it } from 'vitest';
import { expectLawful } from './laws.js';
import { docxOf, docxParagraph } from './office-files.js';
import { parseAs } from './parse-file.js';

/** Inputs that make naive regular expressions and recursion run for ever; each must come to an end. */
const million = 1_000_000;
const hostile: Record<string, [name: string, content: string]> = {
  'comments before what may be HTML': ['a.txt', `${'<!-- a -->'.repeat(400)}x`],
  'one long word': ['a.txt', 'a'.repeat(5 * million)],
  'long words in many paragraphs': ['a.txt', `${'b'.repeat(5_900)}\n\n`.repeat(300)],
  'white space between marks': ['a.md', `# ${' '.repeat(million)}x\n\n${'\t'.repeat(million / 4)}y\n`],
  'a heading of a million marks': ['a.md', `# ${'*a_'.repeat(million / 4)}`],
  'a table row of a million cells': ['a.md', `|${'a|'.repeat(million / 4)}\n|${'-|'.repeat(million / 4)}\n`],
  'a list of a million items': ['a.md', '- item\n'.repeat(million / 4)],
  'a list that is not quite plain': ['a.md', '- [x] item\n  more\n'.repeat(20_000)],
  'a string of many megabytes in JSON': [
    'a.json',
    JSON.stringify({ data: 'A'.repeat(30 * million), note: 'x\\"'.repeat(million) }),
  ],
  'a text of many megabytes in SQL': ['a.sql', `INSERT INTO t VALUES ('${"it''s ".repeat(2 * million)}');\nSELECT 1;`],
  'comments that never end in SQL': ['a.sql', '/*'.repeat(million)],
  'quotes that never end in CSV': ['a.csv', `a,b\n"${'x,y\n'.repeat(million / 4)}`],
  'tags that never end': ['a.html', '<a '.repeat(million / 4)],
  'attributes without end': ['a.html', `<p ${'a=1 '.repeat(million / 4)}>text</p>`],
  'lists within lists': ['a.html', '<ul><li>x'.repeat(20_000)],
  'tables within tables': ['a.html', '<table><tr><td>x'.repeat(5_000)],
  'one line of code': ['a.ts', `const a = [${'[1, 2], '.repeat(million / 8)}];`],
  'brackets that never close': ['a.js', '('.repeat(100_000)],
  'quoted words in a subject': ['a.eml', `From: a@example.test\nSubject: ${'=?UTF-8?B?w5w=?= '.repeat(20_000)}\n\ntext\n`],
  'boundaries without parts': [
    'a.eml',
    `From: a@example.test\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B\n\n${'--B\n\nx\n'.repeat(20_000)}--B--\n`,
  ],
};

it.each(Object.entries(hostile))('comes to an end with %s', async (_, [name, content]) => {
  const result = await parseAs(name, content).catch((error: { code: string }) => error.code);
  if (typeof result === 'string') expect(['limit_exceeded', 'corrupt']).toContain(result);
  else expectLawful(result);
});

it('comes to an end with a paragraph of a million runs', async () => {
  const runs = '<w:r><w:t>a</w:t></w:r>'.repeat(100_000);
  expectLawful(await parseAs('a.docx', docxOf(`<w:p>${runs}</w:p>${docxParagraph('b')}`)));
});
