import type { Chunk, ChunkingSettings, ParsedDocument } from '@sluice/core';
import { describe, expect, it } from 'vitest';
import { chunkDocument } from '../src/index.js';
import { build, parse } from './documents.js';
import { expectLaws } from './laws.js';
import { createFakeTokenizer } from './word-pieces.js';

const tokenizer = createFakeTokenizer();

async function cut(document: ParsedDocument, settings: ChunkingSettings = { strategy: 'auto' }): Promise<Chunk[]> {
  const { chunks } = await chunkDocument(document, settings, { tokenizer });
  expectLaws(document, chunks, { tokenizer, maxTokens: typeof settings.max_tokens === 'number' ? settings.max_tokens : 200 });
  return chunks;
}

describe('tables', () => {
  it('are embedded in plain words and read in Markdown', async () => {
    const [chunk] = await cut(
      await parse('# Shop\n\n| item | price | note |\n|---|---|---|\n| Kettle | 30 | |\n| Pan | 20 | heavy |\n', 'a.md'),
    );
    expect(chunk?.kind).toBe('table');
    expect(chunk?.text).toContain('| Pan | 20 | heavy |');
    expect(chunk?.embeddingText).toBe('# Shop\nitem: Kettle; price: 30\nitem: Pan; price: 20; note: heavy');
  });

  it('keep the caption, before or behind, and what it says in later parts', async () => {
    const rows = Array.from({ length: 60 }, (_, index) => ['bin', String(index)]);
    const text = ['| kind | n |', '|---|---|', ...rows.map((row) => `| ${row.join(' | ')} |`)].join('\n');
    const table = { kind: 'table' as const, text, rows: [['kind', 'n'], ...rows] };
    const chunks = await cut(build([{ kind: 'caption', text: 'All bins of hall 3' }, '\n\n', table]));
    expect(chunks[0]?.text).toMatch(/^All bins of hall 3\n\n\| kind/);
    expect(chunks.length).toBeGreaterThan(1);
    for (const chunk of chunks) {
      expect(chunk.kind).toBe('table');
      expect(chunk.embeddingText).toMatch(/^All bins of hall 3\n+kind: bin; n: \d+/);
    }
    const below = await cut(build([table, '\n', { kind: 'caption', text: 'All bins' }, '\n\n', 'Elsewhere.']));
    expect(below.at(-1)?.text).toBe('Elsewhere.');
    expect(below.at(-2)?.text).toMatch(/All bins$/);
  });

  it.each([
    ['above', 'Before.\n\nTable 1: bins\n\nTABLE\n\nAfter.\n', 'Table 1: bins\n\nTABLE'],
    ['above, in emphasis', 'Before.\n\n**Table 1.** Bins\n\nTABLE\n\nAfter.\n', '**Table 1.** Bins\n\nTABLE'],
    ['below', 'Before.\n\nTABLE\n\n*Table 1: bins*\n\nAfter.\n', 'TABLE\n\n*Table 1: bins*'],
    ['below, of the next one', 'TABLE\n\nTable 2: pans\n\n| x |\n|---|\n| y |\n', 'TABLE'],
    ['above and below', 'Table 1: bins\n\nTABLE\n\nTable 2: see the next page\n', 'Table 1: bins\n\nTABLE'],
  ])('take a caption %s that Markdown writes as a line', async (_, text, expected) => {
    const table = '| kind | n |\n|---|---|\n| bin | 3 |';
    const chunks = await cut(await parse(text.replace('TABLE', table), 'a.md'));
    expect(chunks.map((chunk) => chunk.text)).toContain(expected.replace('TABLE', table));
  });

  it('of a sheet repeat the names of the columns in each part', async () => {
    const csv = ['name,price', ...Array.from({ length: 300 }, (_, index) => `item ${index},${index * 3}`)].join('\n');
    const chunks = await cut(await parse(csv, 'a.csv'));
    expect(chunks.length).toBeGreaterThan(5);
    for (const chunk of chunks) {
      expect(chunk.text).toMatch(/^\| name \| price \|\n\| --- \| --- \|\n\| item \d+ \| \d+ \|/);
      expect(chunk.embeddingText).toMatch(/^name: item \d+; price: \d+(?:\nname: item \d+; price: \d+)*$/);
    }
  });

  it('part a row of very many cells between them, each embedded with the name of its column', async () => {
    const columns = Array.from({ length: 90 }, (_, index) => `measure ${index}`);
    const rows = [0, 1, 2].map((row) => columns.map((_, index) => `value${row}x${index}`));
    const chunks = await cut(await parse([columns, ...rows].map((row) => row.join(',')).join('\n'), 'wide.csv'));
    const said = chunks.map((chunk) => chunk.embeddingText ?? chunk.text).join('\n');
    for (let index = 0; index < 90; index++) expect(said).toContain(`measure ${index}: value1x${index}`);
  });

  it('part a row only where it alone is over the limit', async () => {
    const long = 'word '.repeat(400).trim();
    const document = await parse(`| a | b |\n|---|---|\n| short | x |\n| ${long} | y |\n| last | z |\n`, 'a.md');
    const chunks = await cut(document);
    expect(chunks.filter((chunk) => chunk.text.includes('| short | x |'))).toHaveLength(1);
    expect(chunks.filter((chunk) => chunk.text.includes('| last | z |'))).toHaveLength(1);
    for (const chunk of chunks) expect(chunk.text).toContain('| a | b |');
  });
});

describe('code', () => {
  const lines = Array.from({ length: 40 }, (_, index) => `    step_${index} = compute(litres, ${index})`);

  it('keeps functions whole where they fit, and indentation always', async () => {
    const body = (name: string) =>
      Array.from({ length: 9 }, (_, index) => `        self.${name}_${index} = compute(litres, self.level, ${index})`);
    const source = [
      'class Kettle:',
      '    """Boils."""',
      ...['fill', 'pour', 'boil'].flatMap((name) => ['', `    def ${name}(self, litres):`, ...body(name)]),
    ].join('\n');
    const chunks = await cut(await parse(source, 'kettle.py'), { strategy: 'auto', max_tokens: 256 });
    const fill = chunks.find((chunk) => chunk.text.includes('def fill'));
    expect(fill?.text).toContain('        self.fill_8 = compute(litres, self.level, 8)');
    expect(fill?.text).toMatch(/^ {4}def fill/);
    expect(fill?.embeddingText).toMatch(/class Kettle/);
    expect(fill?.metadata.language).toBe('python');
  });

  it('embeds the signature above the later parts of a long function, never the name of the file', async () => {
    const chunks = await cut(await parse(`def boil(litres):\n${lines.join('\n')}\n    return 1\n`, 'secret-name.py'));
    expect(chunks.length).toBeGreaterThan(2);
    for (const chunk of chunks) {
      expect(chunk.embeddingText ?? chunk.text).toContain('def boil(litres)');
      expect(chunk.embeddingText ?? '').not.toContain('secret-name');
      expect(chunk.text).toMatch(/^(?:def| {4})/);
    }
  });

  it('cuts where the indentation is least, and not before a closing bracket', async () => {
    const body = Array.from({ length: 12 }, (_, index) => `function f${index}() {\n  if (a) {\n    call(${index});\n  }\n}`);
    const document = build([{ kind: 'code', text: body.join('\n\n'), lang: 'javascript' }]);
    const chunks = await cut(document, { strategy: 'auto', max_tokens: 70 });
    expect(chunks.length).toBeGreaterThan(2);
    for (const chunk of chunks) expect(chunk.text).toMatch(/^function[\s\S]*\n\}$/);
  });

  it('in Markdown stays whole beside its text where it fits', async () => {
    const chunks = await cut(await parse('Run this:\n\n```sh\nnpm start\n\nnpm test\n```\n\nThen wait.\n', 'a.md'));
    expect(chunks).toHaveLength(1);
  });
});

describe('lists', () => {
  it('keep items whole and the line that leads in', async () => {
    const items = Array.from({ length: 30 }, (_, index) => `- Item ${index} is kept in hall ${index % 4} beside the door.`);
    const chunks = await cut(await parse(`# Halls\n\nThe following items are stored:\n\n${items.join('\n')}\n`, 'a.md'), {
      strategy: 'auto',
      max_tokens: 90,
    });
    expect(chunks[0]?.text).toMatch(/^# Halls\n\nThe following items are stored:\n\n- Item 0/);
    for (const item of items) expect(chunks.filter((chunk) => chunk.text.split('\n').includes(item))).toHaveLength(1);
    for (const chunk of chunks.slice(1)) expect(chunk.embeddingText).toMatch(/^Halls\nThe following items are stored:\n\n- Item/);
  });
});

describe('JSON', () => {
  const service = (endpoints: unknown[]) =>
    JSON.stringify({ service: 'auth', version: 'v2', about: 'Tokens and health of the sign-in service.', endpoints }, null, 2);
  const endpoints = [
    {
      method: 'POST',
      path: '/token',
      summary: 'Generate a token',
      body: { user: 'string', password: 'string', scope: 'string, optional' },
    },
    {
      method: 'DELETE',
      path: '/token/{id}',
      summary: 'Revoke a token',
      parameters: { id: 'the token to be revoked, as it was issued' },
    },
    {
      method: 'GET',
      path: '/health',
      summary: 'Whether the service lives',
      responses: { 200: 'it does', 503: 'it starts or stops' },
    },
    {
      method: 'GET',
      path: '/keys',
      summary: 'The public keys tokens are signed with',
      responses: { 200: 'a JWK set, RFC 7517' },
    },
  ];

  it('gives an endpoint a chunk that carries service and version', async () => {
    const chunks = await cut(await parse(service(endpoints), 'api.json'));
    for (const { summary } of endpoints) {
      const found = chunks.filter((chunk) => chunk.text.includes(summary));
      expect(found).toHaveLength(1);
      expect(found[0]?.embeddingText).toContain('service: auth, version: v2');
      expect(endpoints.filter((other) => found[0]?.text.includes(other.summary))).toHaveLength(1);
    }
  });

  it('changes no chunk but its own when an endpoint is added in front', async () => {
    const embedded = async (list: unknown[]) =>
      (await cut(await parse(service(list), 'api.json'))).map((chunk) => chunk.embeddingText ?? chunk.text);
    const before = new Set(await embedded(endpoints));
    const after = await embedded([
      { method: 'GET', path: '/new', summary: 'New', body: { a: 'something that is long enough to be a record' } },
      ...endpoints,
    ]);
    // The one added, and the one that stood first and had the bracket before it.
    expect(after.filter((text) => !before.has(text)).length).toBeLessThanOrEqual(2);
  });
});

describe('names that enclose, however long,', () => {
  const long = 'a name of very many words '.repeat(60).trim();
  const records = Array.from({ length: 20 }, (_, id) => ({ id, text: `The record number ${id} says something of its own.` }));
  it.each([
    ['a key', 'a.json', JSON.stringify({ [long]: { records } })],
    ['a value', 'a.json', JSON.stringify({ service: 'auth', about: long, [`${long} 2`]: { records } })],
    ['keys in keys', 'a.json', `${'{"outer key of some words":'.repeat(40)}${JSON.stringify(records)}${'}'.repeat(40)}`],
    [
      'a class',
      'a.py',
      `class ${'Kettle'.repeat(300)}:\n${records.map(({ id, text }) => `    def f${id}(self):\n        return "${text}"\n`).join('\n')}`,
    ],
  ])('leave room for the text: %s', async (_, name, text) => {
    const document = await parse(text, name);
    const chunks = await cut(document);
    const said = records.filter((record) => chunks.some((chunk) => chunk.text.includes(record.text)));
    expect(said).toHaveLength(records.length);
    expect(chunks.length).toBeLessThan(80);
  });
});

it('takes the subject of a mail along in each chunk', async () => {
  const body = Array.from({ length: 12 }, (_, index) =>
    `Paragraph ${index} of the order says what is sent where and when. `.repeat(4),
  ).join('\r\n\r\n');
  const mail = `From: Ann <ann@example.org>\r\nTo: Bob <bob@example.org>\r\nSubject: Kettle order\r\nDate: Tue, 05 Mar 2024 10:00:00 +0000\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${body}\r\n`;
  const chunks = await cut(await parse(mail, 'm.eml'));
  expect(chunks.length).toBeGreaterThan(3);
  for (const chunk of chunks) expect(chunk.embeddingText ?? chunk.text).toContain('Kettle order');
});

describe('heading prefix', () => {
  const text = `# Care\n\n${'The kettle is rinsed with clear water each day. '.repeat(40)}`;

  it('can be switched off, and is in no offset', async () => {
    const document = await parse(text, 'a.md');
    for (const heading_prefix of [true, false]) {
      for (const chunk of await cut(document, { strategy: 'auto', heading_prefix })) {
        expect(document.text.slice(chunk.start, chunk.end)).toBe(chunk.text);
        expect(chunk.embeddingText?.startsWith('Care\n\n') ?? false).toBe(heading_prefix && chunk.start > 0);
      }
    }
  });

  it('loses outer headings rather than the room for text', async () => {
    const long = 'a heading of very many words that goes on and on without an end in sight '.repeat(3).trim();
    const chunks = await cut(await parse(`# ${long}\n\n## Daily\n\n${'Rinse it well. '.repeat(60)}`, 'a.md'), {
      strategy: 'auto',
      max_tokens: 60,
    });
    expect(chunks.at(-1)?.headingPath).toEqual([long, 'Daily']);
    expect(chunks.at(-1)?.embeddingText).toMatch(/^Daily\n\nRinse/);
  });
});

it('joins small chunks under min_tokens, and only those', async () => {
  const document = await parse('# A\n\nOne two.\n\n# B\n\nThree four.\n\n# C\n\nFive six.\n', 'a.md');
  expect(await cut(document)).toHaveLength(3);
  const joined = await cut(document, { strategy: 'auto', min_tokens: 12 });
  expect(joined.length).toBeLessThan(3);
  expect(joined[0]?.headingPath).toEqual([]);
});

it('names the pages a chunk lies on', async () => {
  const chunks = await cut(build([{ text: 'On one.', page: 1 }, '\n\n', { text: 'On two.', page: 2 }]));
  expect(chunks).toMatchObject([{ pageStart: 1, pageEnd: 2 }]);
});
