import { SluiceError } from '@sluice/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { frontMatterOf, MAX_FRONT_MATTER, refuseUnreadAccess } from './front-matter.js';

/** Each text is read twice: a reader that remembers the first reading must not answer differently the second time. */
function read(text: string) {
  const first = frontMatterOf(text);
  expect(frontMatterOf(text)).toEqual(first);
  return first;
}

function fault(text: string): SluiceError {
  try {
    frontMatterOf(text);
  } catch (thrown) {
    if (thrown instanceof SluiceError) return thrown;
    throw thrown;
  }
  throw new Error('was accepted');
}

it.each([
  ['a rule below an empty line', '\n---\nThe security level of the harbour is high.\n---\n'],
  ['TOML without access', '+++\ntitle = "x"\n+++\nText\n'],
  ['JSON without access', '{"title": "x"}\n\nText with access level: 4\n'],
  ['a text about access', 'access_level: the column that holds it\n\nMore.\n'],
  ['a marker far below', `Text\n\n---\nsecurity_level: 4\n---\n`],
])('%s is text', (_name, text) => {
  expect(read(text)).toBeUndefined();
});

describe('P19: front matter', () => {
  it('reads a mapping and says where the body begins', () => {
    const text = '---\ntitle: Plan\ntags: [x, y]\n---\n# Body\n\nText 1\n';
    const found = read(text);
    expect(found?.data).toEqual({ title: 'Plan', tags: ['x', 'y'] });
    expect(text.slice(found?.end)).toBe('# Body\n\nText 1\n');
    expect(found?.start).toBe(0);
  });

  it.each([
    ['a rule with prose up to the next rule', '---\n\n**Note: keep this**\n\n## Kept heading\n\n---\n\nTail 2\n'],
    ['open ended', '---\ntitle: open ended\n\nText 3\n'],
    ['open ended, a rule in the text further on', '---\ntitle: open ended\n\nText 3\nand 4\n\n---\n\nTail\n'],
    ['a heading between two rules', '---\n# Heading\n---\nText\n'],
    ['open ended, access in a list or in prose', '---\n- security_level: 4\n\nText\nsecurity_level: 4\n'],
    ['a sentence between two rules', '---\nJust words\n---\nText\n'],
    ['a list between two rules', '---\n- one\n- two\n---\nText\n'],
    ['prose with a colon', '---\nNote: this is prose\nwhich goes on\nand on\n---\n'],
    ['four dashes', '----\ntitle: x\n---\n'],
    ['not on the first line', '\n---\ntitle: x\n---\n'],
    ['an indented rule', ' ---\ntitle: x\n---\n'],
    ['only the opening line', '---'],
    ['empty', ''],
  ])('%s is no front matter', (_name, text) => {
    expect(read(text)).toBeUndefined();
  });

  it('skips a byte order mark', () => {
    const text = '\ufeff---\ntitle: Bom\n---\nText 4\n';
    expect(read(text)).toEqual({ data: { title: 'Bom' }, start: 1, end: text.indexOf('Text 4') });
  });

  it('keeps dates and what would lose digits as text, and ends at the first closing line', () => {
    const text =
      '---\ntitle: "a: b"\ndate: 2024-05-01\nversion: 1.10\npart: 007\nn: 12\nx: 0.5\nid: 9007199254740993\n---\nText 5\n---\nmore\n';
    const found = read(text);
    expect(found?.data).toEqual({
      title: 'a: b',
      date: '2024-05-01',
      version: '1.10',
      part: '007',
      n: 12,
      x: 0.5,
      id: '9007199254740993',
    });
    expect(text.slice(found?.end)).toBe('Text 5\n---\nmore\n');
  });

  it('takes ... as the end, blanks behind the marks, an empty block, and a text that ends with the block', () => {
    expect(read('---  \na: 1\n...\t\nx')).toMatchObject({ data: { a: 1 } });
    expect(read('---\n---\nx')).toEqual({ data: {}, start: 0, end: 8 });
    expect(read('---\na: yes\n---')).toEqual({ data: { a: 'yes' }, start: 0, end: 14 });
  });

  it('does not look for the end beyond its bound', () => {
    const filler = `#${' '.repeat(98)}\n`.repeat(Math.ceil(MAX_FRONT_MATTER / 100) + 2);
    expect(read(`---\na: 1\n${filler}---\n`)).toBeUndefined();
  });

  it.each([
    ['a key twice', '---\na: 1\na: 2\n---\n'],
    ['an open quote', '---\ntitle: "a\n---\nx'],
    ['an open list', '---\ntags: [a, b\n---\nx'],
    ['an unknown alias', '---\na: *b\n---\nx'],
    ['deep nesting', `---\na: ${'['.repeat(5000)}${']'.repeat(5000)}\n---\n`],
    [
      'billion laughs',
      `---\na0: &a0 [x, x]\n${Array.from({ length: 20 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`).join('\n')}\n---\n`,
    ],
  ])('%s is invalid metadata', (_name, text) => {
    expect(fault(text)).toMatchObject({ code: 'invalid_metadata', details: { access: false } });
  });

  it.each([
    ['bad YAML', '---\nsecurity_level: [4\n---\nx'],
    ['a level twice', '---\nsecurity_level: 1\nsecurity_level: 4\n---\nx'],
    ['bad YAML among prose', '---\nsecurity_level: 4\nprose\nmore prose\nand more\n---\nx'],
    ['never closed', '---\ntitle: x\nallowed_groups: [a]\n\nText\n'],
    ['never closed, below a blank line', '---\ntitle: x\n\n# who\nsecurity_level: 4\n\nText\n'],
    ['never closed, below a comment', '---\n# of the board\nsecurity_level: 4\n\nText\n'],
    ['closed too far away', `---\nsecurity_level: 4\nabstract: ${'x'.repeat(MAX_FRONT_MATTER)}\n---\nText\n`],
    ['closed too far away, access last', `---\n${'key: value\n'.repeat(MAX_FRONT_MATTER / 10)}access_level: secret\n---\nText\n`],
    ['YAML below empty lines', '\n\n---\nsecurity_level: 4\n---\nText\n'],
    ['YAML behind a mark with its name', '---yaml\nsecurity_level: 4\n---\nText\n'],
    ['YAML behind a mark with spaces before it', '  ---\nsecurity_level: 4\n---\nText\n'],
    ['TOML', '+++\ntitle = "x"\nsecurity_level = 4\n+++\nText\n'],
    ['TOML in a table', '+++\n[access]\n"allowed_groups" = ["board"]\n+++\nText\n'],
    ['JSON', '{\n  "title": "x",\n  "security_level": 4\n}\n\nText\n'],
    ['JSON in one line', '{"title": "x", "access_level": "secret"}\nText\n'],
    ['JSON between semicolons', ';;;\n"security_level": 4\n;;;\nText\n'],
  ])('%s that speaks of access fails closed', (_name, text) => {
    expect(fault(text)).toMatchObject({ code: 'invalid_metadata', details: { access: true } });
  });

  it('a key named like a member of every object harms nothing', () => {
    read('---\n__proto__: {polluted: true}\n---\n');
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  it('never throws anything but invalid_metadata, and its end lies behind a closing line', () => {
    const line = fc.oneof(
      fc.constantFrom(
        '---',
        '...',
        '',
        '# h',
        '- a',
        'a: 1',
        'b: "x',
        '*a',
        '&a b: *a',
        '? x',
        '{a: b}',
        '\t- x',
        'k: |',
        '  text',
      ),
      fc.string({ maxLength: 12 }),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
        const text = `---\n${lines.join('\n')}`;
        try {
          const found = frontMatterOf(text);
          if (found === undefined) return;
          expect(text.slice(found.start, found.start + 3)).toBe('---');
          expect(text.slice(0, found.end)).toMatch(/\n(?:---|\.\.\.)[ \t]*\n?$/);
        } catch (thrown) {
          if (!(thrown instanceof SluiceError)) throw thrown;
          expect(thrown.code).toBe('invalid_metadata');
        }
      }),
    );
  });
});

it('takes time by the length of what is hostile, not by its square', () => {
  // Each of these took seconds to minutes once; the limit of a test is five seconds.
  const long = 64_000;
  for (const line of [
    `key${' '.repeat(long)}`,
    `key${'\t '.repeat(long / 2)}`,
    `key${'. '.repeat(long / 2)}`,
    `"${'a'.repeat(long)}`,
    `'${"' ".repeat(long / 2)}`,
    `${'access-'.repeat(long / 7)}`,
    `security${'_'.repeat(long)}`,
    `allowed${' -_'.repeat(long / 3)}`,
  ]) {
    for (let n = 0; n < 20; n += 1) {
      try {
        frontMatterOf(`---\na: [\n${line}\n---\n`);
      } catch {
        // Front matter that can't be read.
      }
    }
  }
});

describe('front matter of a format that has none', () => {
  const check = (name: string, text: string | Uint8Array) =>
    refuseUnreadAccess(name, (length) => (typeof text === 'string' ? Buffer.from(text) : text).subarray(0, length));

  it.each([
    ['a.txt', '---\nsecurity_level: 5\n---\nbody'],
    ['a.html', '---\r\nlayout: page\r\nSecurity-Level: 5\r\n---\r\n<p>body</p>'],
    ['a.adoc', '+++\nallowed_groups = ["board"]\n+++\n= Title'],
    ['a.rst', '\n\n---\nclearance: 4\n---\nbody'],
    ['sub/A.ORG', '---\naccess: { security_level: 4 }\n---\nbody'],
    ['notes.d/README', '---\nsecurity_level: 5\n---\nbody'],
    ['a.text', '---\nsecurity_level: [\n---\nbody'],
    ['a.htm', Buffer.from('\ufeff---\nsecurity_level: 4\n---\n', 'utf16le')],
  ])('%s that sets access is refused: %j', async (name, text) => {
    await expect(check(name, text)).rejects.toMatchObject({ code: 'invalid_metadata', details: { access: true } });
  });

  it.each([
    ['a.txt', '---\ntitle: On security levels\n---\nbody'],
    ['a.txt', 'security_level: 5\nis what the form says'],
    ['a.txt', '--- a/clearance.c\n+++ b/clearance.c\n'],
    ['a.yaml', '---\nsecurity_level: 5\n---\n'],
    ['a.txt', '---\n\nThe clearance sale begins on Monday.\n\n---\n'],
  ])('%s that does not is text: %j', async (name, text) => {
    await expect(check(name, text)).resolves.toBeUndefined();
  });

  it('is looked for in the first bytes alone', async () => {
    const asked: number[] = [];
    await refuseUnreadAccess('a.txt', (length) => {
      asked.push(length);
      return Buffer.from('plain text');
    });
    expect(asked).toEqual([256]);
  });
});
