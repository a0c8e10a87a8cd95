import { expect, it } from 'vitest';
import { expectLawful } from '../../test/laws.js';
import { docxOf, docxParagraph } from '../../test/office-files.js';
import { parseAs, parseFixture } from '../../test/parse-file.js';

const mail = (...lines: string[]) => lines.join('\r\n');
const part = (type: string, name: string, content: Uint8Array) =>
  mail(
    `Content-Type: ${type}; name="${name}"`,
    'Content-Transfer-Encoding: base64',
    `Content-Disposition: attachment; filename="${name}"`,
    '',
    Buffer.from(content).toString('base64'),
  );

it('reads encoded headers, charsets, HTML alone and mails within', async () => {
  const document = await parseFixture('m_nested.eml');
  expect(document.metadata).toEqual({ doc_title: 'Übergabe №5', author: 'Zoë', created_at: '2024-03-06T04:30:00.000Z' });
  for (const text of ['Café opens at 9', 'Bring £5', 'Inner note', 'Inner text says 31337'])
    expect(document.text).toContain(text);
  expect(document.text).not.toMatch(/color:red|AAECAwQF|=E9|=\?UTF-8/);
  expect(
    document.elements.filter((element) => element.kind === 'heading').map((element) => [element.level, element.text]),
  ).toEqual([
    [1, 'Übergabe №5'],
    [2, 'Inner note'],
  ]);
  expectLawful(document);
});

it('prefers the plain text, tells quotes, and knows mail without its extension', async () => {
  const text = mail(
    'From: a@example.test',
    'To: b@example.test',
    'Subject: Plan',
    'Date: Tue, 05 Mar 2024 10:00:00 +0000',
    'MIME-Version: 1.0',
    'Content-Type: multipart/alternative; boundary="B"',
    '',
    '--B',
    'Content-Type: text/plain',
    '',
    'Plain words.',
    '',
    '> quoted',
    '> more',
    '--B',
    'Content-Type: text/html',
    '',
    '<p>HTML words.</p>',
    '--B--',
    '',
  );
  for (const name of ['a.eml', 'a', 'a.txt']) {
    const document = await parseAs(name, text);
    expect(document.elements.map(({ kind, text: own }) => [kind, own])).toEqual([
      ['heading', 'Plan'],
      ['paragraph', 'From: a@example.test\nTo: b@example.test\nDate: 2024-03-05T10:00:00.000Z'],
      ['paragraph', 'Plain words.'],
      ['quote', 'quoted\nmore'],
    ]);
  }
});

const attached = mail(
  'From: a@example.test',
  'Subject: Papers',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary="B"',
  '',
  '--B',
  'Content-Type: text/plain',
  '',
  'See below.',
  '--B',
  part(
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    'plan.docx',
    docxOf(docxParagraph('Boil at noon.')),
  ),
  '--B',
  part('text/csv', '../../stock.csv', Buffer.from('bin,count\nnorth,3\n')),
  '--B',
  part('application/octet-stream', 'blob.bin', Uint8Array.from([0, 1, 2, 3, 255, 254])),
  '--B--',
  '',
);

it('reads attachments by their own formats, and says which it can not read', async () => {
  const document = await parseAs('a.eml', attached);
  expect(document.elements.slice(2).map(({ kind, level, rows, text }) => [kind, level, rows ?? text])).toEqual([
    ['paragraph', undefined, 'See below.'],
    ['heading', 2, 'plan.docx'],
    ['paragraph', undefined, 'Boil at noon.'],
    ['heading', 2, '../../stock.csv'],
    [
      'table',
      undefined,
      [
        ['bin', 'count'],
        ['north', '3'],
      ],
    ],
  ]);
  expect(document.warnings).toEqual(['attachment_not_read: blob.bin (unsupported_type)']);
  expectLawful(document);
});

it('leaves attachments out where they are switched off, under the same limits where not', async () => {
  const off = await parseAs('a.eml', attached, { settings: { eml: { attachments: false } } });
  expect(off.text).not.toMatch(/plan\.docx|Boil|north/);
  expect(off.text).toContain('See below.');
});

it('stops at mails that nest too deep', async () => {
  let inner = mail('Subject: innermost', '', 'x');
  for (let depth = 0; depth < 40; depth++)
    inner = mail(`Subject: level ${depth}`, 'MIME-Version: 1.0', 'Content-Type: message/rfc822', '', inner);
  await expect(parseAs('a.eml', mail('From: a@example.test', inner))).rejects.toMatchObject({ code: 'limit_exceeded' });
});

it('reads a mail saved in UTF-16, and finds nothing in a blank one', async () => {
  const text = mail('From: Zoë <z@example.test>', 'Subject: Plan', 'Content-Type: text/plain; charset=utf-8', '', 'Größe');
  const document = await parseAs('a.eml', new Uint8Array(Buffer.from(`\ufeff${text}`, 'utf16le')));
  expect(document.text).toContain('Größe');
  expect(document.metadata).toMatchObject({ author: 'Zoë', doc_title: 'Plan' });
  expect(await parseAs('a.eml', '  \n\n  \n')).toMatchObject({ text: '', elements: [] });
});
