import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { expectLawful } from '../../test/laws.js';
import { parseAs } from '../../test/parse-file.js';
import { parseBlocks } from './blocks.js';
import { scanMarkdown } from './scan.js';

const headings = (document: { elements: { kind: string; level?: number; title?: string }[] }) =>
  document.elements.filter((element) => element.kind === 'heading').map((element) => [element.level, element.title]);

it('takes no line of a fence for a heading', async () => {
  const text =
    '# Setup\n\n````md\n```sh\n# not one\n```\n# not two\n````\n\n~~~py\n# not three\n~~~ruby\n# not four\n~~~~\n\n   ```\n   # not five\n   ```\n\n    # not six\n\n## Run\n\n```js\n# not seven, never closed';
  const document = await parseAs('a.md', text);
  expect(headings(document)).toEqual([
    [1, 'Setup'],
    [2, 'Run'],
  ]);
  expectLawful(document);
});

it('reads headings of both styles, their titles without marks', async () => {
  const document = await parseAs('a.md', 'One\n===\n\ntext\n\n## **Two** [link](http://x.y) `code` ##\n\n# Pl\u0000an\u0007 B\n');
  expect(headings(document)).toEqual([
    [1, 'One'],
    [2, 'Two link code'],
    [1, 'Plan B'],
  ]);
});

describe('front matter', () => {
  const cases = {
    a: '---\ntitle: Plan\ntags: [x, y]\n---\n# Body\n\nText 1\n',
    b: '---\n\n**Note: keep this**\n\n## Kept heading\n\n---\n\nTail 2\n',
    c: '---\ntitle: open ended\n\nText 3\n',
    d: '\ufeff---\ntitle: Bom\n---\nText 4\n',
    e: '---\ntitle: "a: b"\ndate: 2024-05-01\n---\nText 5\n---\nmore\n',
  };
  it('is read and covered by no element, the same each time', async () => {
    for (const text of Object.values(cases)) expect(await parseAs('a.md', text)).toEqual(await parseAs('a.md', text));
    const a = await parseAs('a.md', cases.a);
    expect(a.frontMatter).toEqual({ title: 'Plan', tags: ['x', 'y'] });
    expect(a.elements.map((element) => element.text)).toEqual(['# Body', 'Text 1']);
    expect(a.text).toBe(cases.a);
    expect((await parseAs('a.md', cases.d)).frontMatter).toEqual({ title: 'Bom' });
    const e = await parseAs('a.md', cases.e);
    expect(e.frontMatter).toEqual({ title: 'a: b', date: '2024-05-01' });
    expect(e.elements.map((element) => element.text).join(' ')).toMatch(/Text 5[\s\S]*more/);
  });
  it('is not seen in a document that begins with a rule, or that never closes it', async () => {
    const b = await parseAs('a.md', cases.b);
    expect(b.frontMatter).toBeUndefined();
    expect(headings(b)).toEqual([[2, 'Kept heading']]);
    expect(b.elements.map((element) => element.text)).toEqual(expect.arrayContaining(['**Note: keep this**', 'Tail 2']));
    expectLawful(b);
    const c = await parseAs('a.md', cases.c);
    expect(c.frontMatter).toBeUndefined();
    expect(c.elements.map((element) => element.text).join('\n')).toMatch(/title: open ended[\s\S]*Text 3/);
  });
});

it('reads tables with rows, cells and the place of each row', async () => {
  const text = 'Table 1: bins\n\n| key | note |\n|-----|:----:|\n| k0 | a\\|b |\n| k1 | `c` |\n';
  const { elements } = await parseAs('a.md', text);
  const table = elements.find((element) => element.kind === 'table');
  expect(table?.rows).toEqual([
    ['key', 'note'],
    ['k0', 'a|b'],
    ['k1', '`c`'],
  ]);
  expect(table?.parts?.map((part) => text.slice(part.start, part.end))).toEqual([
    '| key | note |',
    '| k0 | a\\|b |',
    '| k1 | `c` |',
  ]);
});

it('reads lists with the place of each outer item, marker included', async () => {
  const text = 'Before:\n\n- one\n  - inner\n- two\n\n  more\n\n3. three\n4. four\n';
  const { elements } = await parseAs('a.md', text);
  const items = elements
    .filter((element) => element.kind === 'list')
    .map((list) => list.parts?.map((part) => text.slice(part.start, part.end)));
  expect(items).toEqual([
    ['- one\n  - inner', '- two\n\n  more'],
    ['3. three', '4. four'],
  ]);
});

it('reads a long document as it reads its pieces', async () => {
  const piece = (n: number) =>
    `## Section ${n}\n\nText ${n} of it\nover two lines.\n\n- item\n\n  inner\n- item\n\n\`\`\`\n# code ${n}\n\nmore\n\`\`\`\n\n> quote ${n}\n\n<!-- a\n\n# comment\n-->\n\n| a | b |\n|---|---|\n| ${n} | 2 |\n\n`;
  const count = 500;
  const long = await parseAs('a.md', Array.from({ length: count }, (_, n) => piece(n)).join(''));
  expect(headings(long).length).toBe(count);
  const kinds = (await parseAs('a.md', piece(0))).elements.map((element) => element.kind);
  expect(long.elements.map((element) => element.kind)).toEqual(Array.from({ length: count }, () => kinds).flat());
  expectLawful(long);
});

const word = fc.constantFrom(
  ...[
    '# ',
    '- ',
    '1. ',
    '> ',
    '```',
    '~~~',
    '| a | b |',
    '|---|---|',
    '|',
    '---',
    '===',
    '\n',
    '\n',
    '\n\n',
    '    ',
    '  ',
    'word',
    '*',
    '[',
    ']: x',
  ],
  ...[
    '](',
    '<!--',
    '-->',
    '<div>',
    '</div>',
    '<pre>',
    '</pre>',
    '\\',
    '`',
    '\t',
    '😀',
    'é',
    ': ',
    '2) ',
    '+ ',
    '12',
    '[^1]: ',
    '<?',
    '<!X',
    '>',
  ],
);
const markdown = fc.array(word, { maxLength: 60 }).map((words) => words.join(''));

it('keeps its laws on any text', async () => {
  await fc.assert(
    fc.asyncProperty(markdown, async (text) => {
      expectLawful(await parseAs('a.md', `x\n${text}`));
    }),
    { numRuns: 300 },
  );
});

it.each(['- <pre>\n- ', '- <pre>\n- b\n- c', '1. <!--\n2. b'])(
  'keeps items apart that end in unclosed HTML: %j',
  async (text) => {
    expectLawful(await parseAs('a.md', `x\n${text}`));
    expectLawful(await parseAs('a.md', text));
  },
);

/** Words of which lists, quotes and what they hold are made. */
const container = fc
  .array(
    fc.constantFrom(
      ...[
        '- a',
        '* b',
        '1. c',
        '\n',
        '\n',
        '\n',
        '\n\n',
        '  ',
        '    ',
        ' ',
        'word',
        '> q',
        '>',
        '```',
        '---',
        '===',
        '\t',
        '# h',
        '- ',
      ],
      ...[
        '| x |',
        'a | b',
        '|---|',
        '--|--',
        '<div>',
        '10. x',
        'lazy',
        '[a]: b',
        '[^1]: z',
        '~~~',
        '***',
        '- - -',
        '+',
        '1) ',
        '-',
      ],
    ),
    { maxLength: 40 },
  )
  .map((words) => words.join(''));

const ONCE_WRONG = ['word| x |\n- |---|', 'a | b\n    --|--', 'a | b\n\t--|--'];

it.each([
  ['anything', markdown],
  ['lists and quotes', container],
])('finds the same blocks and items in one pass as the full grammar does: %s', (_, texts) => {
  const kinds = new Map([
    ['blockquote', 'quote'],
    ['footnoteDefinition', 'paragraph'],
  ]);
  const placesOf = (text: string, shift: number) =>
    parseBlocks(text, 200).flatMap((node) => [
      [kinds.get(node.type) ?? node.type, shift + (node.position?.start.offset ?? 0)],
      ...(node.type === 'list' ? node.children.map((item) => ['item', shift + (item.position?.start.offset ?? 0)]) : []),
    ]);
  fc.assert(
    fc.property(texts, (text) => {
      const pieces = [...scanMarkdown(text, 0)].flatMap((stretch) =>
        stretch.kind === 'complex'
          ? placesOf(text.slice(stretch.start, stretch.end + 1), stretch.start)
          : [
              [stretch.kind, stretch.start + (/^ {0,3}(?=\S)/.exec(text.slice(stretch.start, stretch.end))?.[0].length ?? 0)],
              ...(stretch.kind === 'list' ? stretch.items.map((item) => ['item', item.start]) : []),
            ],
      );
      expect(pieces).toEqual(placesOf(text, 0));
    }),
    { numRuns: 2_000, examples: ONCE_WRONG.map((text): [string] => [text]) },
  );
});

const LINES = 20_000;
/** Each made the full grammar work with the square of its length, or read a line again and again. */
const long: Record<string, string> = {
  'items with lines that go on': '- item\n  more of it\n'.repeat(LINES),
  'items with lines at the margin that go on': '- item\nmore of it\n'.repeat(LINES),
  'one item with many lines': `- item\n${'more of it\n'.repeat(LINES)}`,
  'items with paragraphs': '- item\n\n  more of it\n\n'.repeat(LINES),
  'items with items': '- item\n  1. inner\n     - [x] innermost\n'.repeat(LINES),
  'items with code, tables and quotes': '- item\n  ```\n  x\n  ```\n- | a |\n  |---|\n  | b |\n- > q\n'.repeat(LINES / 4),
  'lists of changing marks': '- a\n+ b\n* c\n'.repeat(LINES),
  quotes: '> quoted\n> > twice\ngoes on\n\n'.repeat(LINES),
  'one quote': '> quoted\n>\n'.repeat(LINES),
  'headings by the line under them': 'Title\n===\ntext\n'.repeat(LINES),
  'tables without bars at the ends': `a | b\n--|--\n${'c | d\n'.repeat(LINES)}`,
};

it.each(Object.entries(long))('reads %s once, without the full grammar', (_, text) => {
  const reads = vi.spyOn(String.prototype, 'indexOf');
  try {
    const stretches = [...scanMarkdown(text, 0)];
    expect(stretches.filter((stretch) => stretch.kind === 'complex')).toEqual([]);
    // A line is looked at by a few readers of blocks, however many lines there are.
    expect(reads.mock.calls.length).toBeLessThan(4 * text.split('\n').length);
  } finally {
    reads.mockRestore();
  }
});

it('reads a long list with one strange item in pieces, each once', () => {
  const text = `${'- item\n'.repeat(LINES)}-\tstrange\n${'- item\n'.repeat(LINES)}`;
  const stretches = [...scanMarkdown(text, 0)];
  const complex = stretches.filter((stretch) => stretch.kind === 'complex');
  expect(complex.reduce((sum, stretch) => sum + stretch.end - stretch.start, 0)).toBeLessThan(text.length / 2);
  expect(stretches.length).toBeLessThan(30);
});

it('does not choke on syntax that nests or never closes', async () => {
  for (const mark of ['[', '*a ', '![', '`', '<', '_', '](', '\\'])
    expectLawful(await parseAs('a.md', `- start ${mark.repeat(50_000)}`));
  await expect(parseAs('a.md', '> '.repeat(5_000))).rejects.toMatchObject({ code: 'limit_exceeded' });
});
