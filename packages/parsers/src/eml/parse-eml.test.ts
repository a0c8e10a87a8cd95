import type { ParsedDocument } from '@sluice/core';
import iconv from 'iconv-lite';
import { expect, it } from 'vitest';
import { expectLawful } from '../../test/laws.js';
import { docxOf, docxParagraph } from '../../test/office-files.js';
import { fixture, parseAs, parseFixture } from '../../test/parse-file.js';
import { defaultParseLimits } from '../settings.js';

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

it('prefers the plain text, tells lists and quotes, and knows mail without its extension', async () => {
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
    '* one',
    '* two, which',
    '  goes on',
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
      ['list', '* one\n* two, which goes on'],
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
  expect(document.attachments).toEqual([
    { path: ['plan.docx'], format: 'docx', outcome: 'indexed', start: expect.any(Number), end: expect.any(Number) },
    { path: ['../../stock.csv'], format: 'csv', outcome: 'indexed', start: expect.any(Number), end: document.text.length },
    { path: ['blob.bin'], outcome: 'unsupported_type' },
  ]);
  expect(sectionOf(document, 0)).toBe('plan.docx\n\nBoil at noon.');
  expect(document.elements.map((element) => element.path?.join('/'))).toEqual([
    undefined,
    undefined,
    undefined,
    'plan.docx',
    'plan.docx',
    '../../stock.csv',
    '../../stock.csv',
  ]);
  expectLawful(document);
});

const sectionOf = ({ text, attachments }: ParsedDocument, at: number) =>
  text.slice(attachments?.[at]?.start ?? 0, attachments?.[at]?.end ?? 0);

/** A mail that holds these parts behind its text. */
const mailWith = (subject: string, ...parts: string[]) =>
  mail(
    'From: a@example.test',
    `Subject: ${subject}`,
    'MIME-Version: 1.0',
    `Content-Type: multipart/mixed; boundary="${subject}"`,
    '',
    `--${subject}`,
    'Content-Type: text/plain',
    '',
    `Text of ${subject}.`,
    ...parts.flatMap((own) => [`--${subject}`, own]),
    `--${subject}--`,
    '',
  );
const within = (inner: string) => mail('Content-Type: message/rfc822', '', inner);

it('lets each attachment fail alone, all of it or nothing', async () => {
  const document = await parseAs(
    'a.eml',
    mailWith(
      'Outer',
      part('application/pdf', 'cut.pdf', fixture('p_truncated.pdf')),
      part('application/pdf', 'locked.pdf', fixture('p_locked_user.pdf')),
      part('application/pdf', 'scan.pdf', fixture('p_scan.pdf')),
      within(
        mailWith(
          'Inner',
          part('text/plain', 'note.txt', Buffer.from('Inner note.')),
          part('text/plain', 'blank.txt', Buffer.from('')),
        ),
      ),
      part('text/plain', 'last.txt', Buffer.from('Last words.')),
    ),
  );
  expect(document.attachments?.map(({ path, format, outcome }) => [path.join('/'), format, outcome])).toEqual([
    ['cut.pdf', 'pdf', 'corrupt'],
    ['locked.pdf', 'pdf', 'password_required'],
    ['scan.pdf', 'pdf', 'empty'],
    ['message', 'eml', 'indexed'],
    ['message/note.txt', 'text', 'indexed'],
    ['message/blank.txt', 'text', 'empty'],
    ['last.txt', 'text', 'indexed'],
  ]);
  expect(document.warnings).toEqual([
    'attachment_not_read: cut.pdf (corrupt)',
    'attachment_not_read: locked.pdf (password_required)',
    'attachment_empty: scan.pdf',
    'attachment_empty: blank.txt',
  ]);
  expect(sectionOf(document, 3)).toBe('Inner\n\nFrom: a@example.test\n\nText of Inner.\n\nnote.txt\n\nInner note.');
  expect(document.elements.slice(3).map((element) => element.path?.join('/'))).toEqual([
    ...['message', 'message', 'message', 'message/note.txt', 'message/note.txt', 'last.txt', 'last.txt'],
  ]);
  expectLawful(document);
});

it('holds attachments to the limits of the mail, together and in number', async () => {
  const words = Buffer.from('word '.repeat(400));
  const bytes = mailWith(
    'Outer',
    part('text/plain', 'a.txt', words),
    part('text/plain', 'b.txt', words),
    part('text/plain', 'c.txt', Buffer.from('short')),
  );
  const document = await parseAs('a.eml', bytes, { limits: { ...defaultParseLimits, textUnits: 3_000 } });
  expect(document.attachments?.map((attachment) => attachment.outcome)).toEqual(['indexed', 'limit_exceeded', 'indexed']);
  expect(document.text.length).toBeLessThan(3_000);
  expectLawful(document);
  await expect(parseAs('a.eml', bytes, { limits: { ...defaultParseLimits, archiveEntries: 2 } })).rejects.toMatchObject({
    code: 'limit_exceeded',
  });
});

it('reads a document that hangs on a mail as it reads it alone', async () => {
  const alone = await parseAs('a.md', '# Care\n\nBoil it.\n\n- one\n- two\n\n```js\nx()\n```\n\n> quoted\n');
  const hung = await parseAs('a.eml', mailWith('Outer', part('text/markdown', 'a.md', Buffer.from(alone.text))));
  expect(hung.elements.slice(4).map(({ kind, level }) => [kind, level])).toEqual(
    alone.elements.map(({ kind, level }) => [kind, level === undefined ? undefined : level + 2]),
  );
});

it('leaves attachments out where they are switched off, under the same limits where not', async () => {
  const off = await parseAs('a.eml', attached, { settings: { eml: { attachments: false } } });
  expect(off.text).not.toMatch(/plan\.docx|Boil|north/);
  expect(off.text).toContain('See below.');
});

it('stops at mails that nest too deep, by whatever name they go', async () => {
  for (const asFile of [false, true]) {
    let inner = mail('Subject: innermost', '', 'x');
    for (let depth = 40; depth > 0; depth--)
      inner = mailWith(
        `Level${depth}`,
        asFile
          ? mail('Content-Type: application/octet-stream; name="inner.eml"', '', `From: a@example.test\r\n${inner}`)
          : within(inner),
      );
    const document = await parseAs('a.eml', inner);
    expect(document.text).toContain('Text of Level20.');
    expect(document.text).not.toMatch(/Level22|innermost/);
    expect(document.attachments?.length).toBe(20);
    expect(document.attachments?.at(-1)?.outcome).toBe('limit_exceeded');
    expectLawful(document);
  }
});

it('reads a mail saved in UTF-16, and finds nothing in a blank one', async () => {
  const text = mail('From: Zoë <z@example.test>', 'Subject: Plan', 'Content-Type: text/plain; charset=utf-8', '', 'Größe');
  const document = await parseAs('a.eml', new Uint8Array(Buffer.from(`\ufeff${text}`, 'utf16le')));
  expect(document.text).toContain('Größe');
  expect(document.metadata).toMatchObject({ author: 'Zoë', doc_title: 'Plan' });
  expect(await parseAs('a.eml', '  \n\n  \n')).toMatchObject({ text: '', elements: [] });
});

const russian = 'Сегодня утром прошло важное совещание, на котором обсудили план работы.';
const german = 'Heute früh fand in der Firma eine Besprechung statt, die Qualität müsse größer werden.';

it.each([
  ['declared', 'koi8-r', 'koi8-r', russian],
  ['declared by an old name', 'euc-kr', 'ks_c_5601-1987', '오늘 오전에 회사에서 중요한 회의가 열렸습니다.'],
  ['not declared, UTF-8', 'utf-8', undefined, german],
  ['not declared', 'windows-1252', undefined, german],
  ['not declared', 'windows-1251', undefined, russian],
  ['declared as ASCII, UTF-8', 'utf-8', 'us-ascii', german],
  ['declared as Latin, UTF-8', 'utf-8', 'iso-8859-1', german],
  ['declared as UTF-8', 'windows-1252', 'utf-8', german],
  ['declared by no name', 'windows-1251', 'x-nonsense', russian],
  ['of escapes', 'iso-2022-jp', 'iso-2022-jp', 'こんにちは'],
])('reads text in an encoding that is %s: %s', async (_, encoding, declared, text) => {
  const type = `Content-Type: text/plain${declared === undefined ? '' : `; charset=${declared}`}`;
  const body = encoding === 'iso-2022-jp' ? Buffer.from('\x1b$B$3$s$K$A$O\x1b(B', 'latin1') : iconv.encode(text, encoding);
  for (const [transfer, written] of [
    ['8bit', body],
    ['base64', Buffer.from(body.toString('base64'))],
  ] as const) {
    const head = mail(
      'From: a@example.test',
      'Subject: x',
      'MIME-Version: 1.0',
      type,
      `Content-Transfer-Encoding: ${transfer}`,
      '',
      '',
    );
    const document = await parseAs('a.eml', new Uint8Array(Buffer.concat([Buffer.from(head), written])));
    expect(document.elements.at(-1)?.text).toBe(text);
  }
});

it('never leaves replacement characters without a word: guesses are told, what no encoding explains is refused', async () => {
  const subject = Buffer.concat([
    Buffer.from('From: a@example.test\r\nSubject: '),
    iconv.encode(german, 'windows-1252'),
    Buffer.from('\r\n\r\nbody'),
  ]);
  expect((await parseAs('a.eml', new Uint8Array(subject))).metadata).toMatchObject({ doc_title: german });
  const short = Buffer.concat([Buffer.from('From: a@example.test\r\n\r\n'), iconv.encode('naïve', 'windows-1252')]);
  expect((await parseAs('a.eml', new Uint8Array(short))).warnings).toEqual(['encoding_guessed: windows-1252']);
  const broken = Buffer.from(`From: a@example.test\r\n\r\n${russian} ${german}`);
  broken[80] = 0xff;
  await expect(parseAs('a.eml', new Uint8Array(broken))).rejects.toMatchObject({ code: 'encoding_unknown' });
});

it('puts the headings of an HTML text under the subject, also of mails within', async () => {
  const html = (subject: string, text: string) =>
    mail('From: a@example.test', `Subject: ${subject}`, 'MIME-Version: 1.0', 'Content-Type: text/html; charset=utf-8', '', text);
  const outer = mail(
    'From: a@example.test',
    'Subject: Outer',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary="B"',
    '',
    '--B',
    'Content-Type: text/html',
    '',
    '<h1>News</h1><p>Words.</p><h2>More</h2>',
    '--B',
    'Content-Type: message/rfc822',
    '',
    html('Inner', '<h1>Old news</h1><p>Old words.</p>'),
    '--B--',
    '',
  );
  const document = await parseAs('a.eml', outer);
  expectLawful(document);
  expect(
    document.elements.filter((element) => element.kind === 'heading').map((element) => [element.level, element.text]),
  ).toEqual([
    [1, 'Outer'],
    [2, 'News'],
    [3, 'More'],
    [2, 'Inner'],
    [3, 'Old news'],
  ]);
});

it.each([
  ['windows-1252', 'Bill of €9 – Ida’s'],
  ['iso-8859-1', '“Grüße” aus Köln – 9 €'],
  ['ks_c_5601-1987', '똠방각하 님'],
  ['koi8-u', 'Ґанок стоїть'],
  ['gb2312', '交货期确认'],
])('decodes words of headers and names of attachments in %s by its table', async (charset, text) => {
  const encode = (value: string) =>
    iconv.encode(value, { 'iso-8859-1': 'windows-1252', gb2312: 'gbk', 'ks_c_5601-1987': 'cp949' }[charset] ?? charset);
  const percent = [...encode(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  const quoted = [...encode(text)].map((byte) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
  const source = mail(
    `From: =?${charset}?B?${encode(text).toString('base64')}?= <a@example.test>`,
    // The second word begins in the middle of a character where there are two bytes each.
    `Subject: =?${charset}?Q?${quoted.slice(0, 9)}?=`,
    ` =?${charset}?Q?${quoted.slice(9)}?=`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary="B"',
    '',
    '--B',
    'Content-Type: text/plain',
    '',
    'A literal =?windows-1252?Q?=80?= stays.',
    '--B',
    'Content-Type: text/plain',
    `Content-Disposition: attachment; filename*=${charset}''${percent}.txt`,
    '',
    'one',
    '--B',
    `Content-Type: text/plain; name="=?${charset}?B?${encode(`${text}2.txt`).toString('base64')}?="`,
    'Content-Disposition: attachment',
    '',
    'two',
    '--B--',
    '',
  );
  const document = await parseAs('a.eml', source);
  expect(document.metadata).toMatchObject({ doc_title: text, author: text });
  expect(document.text).toContain('A literal =?windows-1252?Q?=80?= stays.');
  expect(document.attachments?.map(({ path }) => path)).toEqual([[`${text}.txt`], [`${text}2.txt`]]);
});

const twoParts = (plain: string, html: string) =>
  mail(
    'From: a@example.test',
    'Subject: S',
    'MIME-Version: 1.0',
    'Content-Type: multipart/alternative; boundary="B"',
    '',
    '--B',
    'Content-Type: text/plain',
    '',
    plain,
    '--B',
    'Content-Type: text/html',
    '',
    html,
    '--B--',
    '',
  );

it.each([
  'Your email client does not support HTML.',
  'View this email in your browser: https://example.test/a',
  'Diese Nachricht kann nicht richtig dargestellt werden.',
  'https://example.test/view/1',
])('takes the HTML where the plain text only stands in for it: %s', async (plain) => {
  const html = `<p>The pump ${'was replaced '.repeat(20)}today.</p>`;
  const document = await parseAs('a.eml', twoParts(plain, html));
  expect(document.text).toContain('The pump');
  expect(document.text).not.toContain(plain);
  expect((await parseAs('a.eml', twoParts('The valve is open.', html))).text).not.toContain('The pump');
});

it('leaves ciphertext and signatures out', async () => {
  const cipher = ['-----BEGIN PGP MESSAGE-----', '', 'hQEMA8kTYvbW', '=njUN', '-----END PGP MESSAGE-----'];
  const document = await parseAs(
    'a.eml',
    mail(
      'From: a@example.test',
      'To: b@example.test',
      'Subject: S',
      'Date: x',
      '',
      'Before.',
      '',
      ...cipher,
      '',
      'After.',
      '-----BEGIN PGP SIGNATURE-----',
      'iQEzBAEB',
      '-----END PGP SIGNATURE-----',
      '',
    ),
  );
  expect(document.text).toContain('Before.\n\nAfter.');
  expect(document.text).not.toMatch(/hQEMA8|iQEzBAEB|PGP/);
  await expect(parseAs('a.txt', cipher.join('\n'))).rejects.toMatchObject({ code: 'unsupported_type' });
});
