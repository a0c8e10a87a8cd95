import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createIgnoreRules, IGNORE_FILE } from './ignore-rules.js';

describe('built-in junk', () => {
  const rules = createIgnoreRules();

  it('W10: accepts what people write and ignores what programs leave', () => {
    const accept = ['a.md', 'v1.2~draft.md', 'notes.tmp.md', '$price.md', '#1 plan.md', 'a.b.c.md'];
    const ignore = [
      '~$plan.docx',
      '.~lock.plan.odt#',
      'x.pdf.filepart',
      'x.pdf.part',
      'x.pdf.crdownload',
      '.a.md.swp',
      '4913',
      'a.md~',
      '#a.md#',
      '.#a.md',
      '.DS_Store',
      '._a.md',
      'Thumbs.db',
      '.git/HEAD',
      'sub/.hidden/n.md',
    ];
    expect(accept.filter((path) => rules.explain(path) !== undefined)).toEqual([]);
    expect(ignore.filter((path) => rules.explain(path) === undefined)).toEqual([]);
  });

  it.each([
    ['a.md___jb_tmp___', 'safe-write'],
    ['sub/B.PDF.PART', 'unfinished'],
    ['movie.download/part1.txt', 'unfinished'],
    ['~WRD0001.tmp', 'office'],
    ['DESKTOP.INI', 'operating system'],
    ['$RECYCLE.BIN/x.txt', 'recycle bin'],
    ['a/__MACOSX/x.txt', 'operating system'],
    ['a.txt.swo', 'swap'],
  ])('%s is ignored as %s', (path, kind) => {
    expect(rules.explain(path)).toMatchObject({ rule: 'builtin', pattern: expect.stringContaining(kind) });
  });

  it.each([
    'part.md',
    '4914',
    '49130',
    '~notes.md',
    'a~b',
    '#tag',
    'C#',
    'download',
    'tmp/a.md',
    'swp.txt',
    'a.part.md',
    'lock.txt',
  ])('%s is an ordinary name', (path) => expect(rules.explain(path)).toBeUndefined());

  it('names the sidecar rule and the folder that decided', () => {
    expect(rules.explain('a.pdf.meta.yaml')).toMatchObject({ rule: 'sidecar' });
    expect(rules.explain('a/.b/c/d.md')).toMatchObject({ rule: 'builtin', pattern: 'hidden folder', path: 'a/.b' });
  });
});

describe('include and exclude', () => {
  it('takes globs relative to the root and plain folder names', () => {
    const rules = createIgnoreRules({ include: ['docs', '*.md', 'x/**/*.txt'], exclude: ['docs/old', '**/draft-*', 'tmp/**'] });
    const documents = ['docs/a.bin', 'docs/b/c.md', 'top.md', 'x/a.txt', 'x/y/z.txt', 'docs/older/a.md'];
    const others = [
      'docs/old/a.md',
      'docs/old/b/c.md',
      'sub/top.md',
      'x/a.md',
      'docs/draft-1.md',
      'docs/draft-folder/a.md',
      'tmp/a.md',
    ];
    expect(documents.filter((path) => rules.explain(path) !== undefined)).toEqual([]);
    expect(others.filter((path) => rules.explain(path) === undefined)).toEqual([]);
  });

  it('says which pattern decided', () => {
    const rules = createIgnoreRules({ include: ['**/*.md'], exclude: ['drafts/**'] });
    expect(rules.explain('drafts/x/a.md')).toMatchObject({ rule: 'exclude', pattern: 'drafts/**' });
    expect(rules.explain('a.txt')).toEqual({ rule: 'include', pattern: '**/*.md', path: 'a.txt' });
  });

  it.each(['a[1].md', 'weiß/ü.md', 'a (1)/b.md', '-x.md', '{a}.md', '!x.md'])('%s is covered by the default include', (path) => {
    expect(createIgnoreRules().explain(path)).toBeUndefined();
  });
});

describe('.sluiceignore', () => {
  it('names file, line and pattern; the deepest file decides, and nothing comes back from an ignored folder', () => {
    const rules = createIgnoreRules({
      ignoreFiles: new Map([
        ['', '# a comment\n*.log\n/build/\nkeep/\n'],
        ['sub', '!important.log\nsecret*\n'],
      ]),
    });
    expect(rules.explain('sub/a.log')).toEqual({
      rule: 'ignore_file',
      pattern: '*.log',
      file: IGNORE_FILE,
      line: 2,
      path: 'sub/a.log',
    });
    expect(rules.explain('sub/secret.md')).toMatchObject({ file: `sub/${IGNORE_FILE}`, line: 2 });
    expect(rules.explain('sub/important.log')).toBeUndefined();
    expect(rules.explain('build/x.md')).toMatchObject({ line: 3, path: 'build' });
    expect(rules.explain('sub/build/x.md')).toBeUndefined();
    rules.setIgnoreFile('umlauts', '?.md\n[à-ü]x.md\n');
    expect(rules.explain('umlauts/ä.md')).toMatchObject({ line: 1 });
    expect(rules.explain('umlauts/äx.md')).toMatchObject({ line: 2 });
    rules.setIgnoreFile('keep', '!*');
    expect(rules.explain('keep/x.md')).toMatchObject({ line: 4 });
    rules.setIgnoreFile('', undefined);
    expect(rules.explain('keep/x.md')).toBeUndefined();
  });
});

/** git itself says what an ignore file means. ASCII only: git compares bytes, so its `?` is half an umlaut; ours is a character. */
describe('gitignore syntax, compared with git', () => {
  let repository: string;
  beforeAll(() => {
    repository = mkdtempSync(join(tmpdir(), 'sluice-gitignore-'));
    execFileSync('git', ['init', '-q', repository]);
  });
  afterAll(() => rmSync(repository, { recursive: true }));

  const name = fc.constantFrom('a', 'b', 'ab', 'abc', 'b.md', 'a b', 'c]d', 'z', 'x-y', 'A', '7', 'a!', '#h', 'a\\b');
  // 'a' alone is the folder that holds the nested ignore file: git looks at the disk to see that it is no file.
  const path = fc
    .array(name, { minLength: 1, maxLength: 4 })
    .map((names) => names.join('/'))
    .filter((names) => names !== 'a');
  const piece = fc.constantFrom(
    ...[
      'a',
      'b',
      'c',
      '*',
      '**',
      '?',
      '/',
      '/',
      '**/',
      '/**',
      '[ab]',
      '[!a]',
      '[a-c]',
      '[^b-z]',
      '[]d]',
      '[[:alpha:]]',
      '\\a',
      '\\*',
      '\\ ',
    ],
    ...[' ', '.md', 'z', '!', '#', '***', '[', ']', '[a', '[z-a]', '[\\]]', '-', '\\\\', '\\', '[[:digit:]]', '[a-]', '[-a]'],
  );
  const line = fc
    .tuple(
      fc.constantFrom('', '', '', '!', '/', '\\!', '#'),
      fc.array(piece, { minLength: 1, maxLength: 5 }),
      fc.constantFrom('', '', '/', ' '),
    )
    .map(([head, middle, tail]) => head + middle.join('') + tail)
    // An empty path component means nothing. `a**/b` is `a*/b` by git's manual, but `a` and then any folders in its code.
    .filter((written) => !written.includes('//') && !/[^/!]\*\*/.test(written.replace(/^(.)\*+$/, '')));
  const text = fc.array(line, { minLength: 1, maxLength: 4 }).map((lines) => `${lines.join('\n')}\n`);

  function ignoredByGit(ignoreFiles: Map<string, string>, paths: string[]): string[] {
    const made: string[] = [];
    for (const [folder, content] of ignoreFiles) {
      const file = join(repository, folder, '.gitignore');
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
      made.push(file);
    }
    try {
      const out = execFileSync('git', ['-c', 'core.ignorecase=false', 'check-ignore', '--no-index', '-z', '--stdin'], {
        cwd: repository,
        input: paths.join('\0'),
      });
      return out.toString('utf8').split('\0').filter(Boolean);
    } catch (error) {
      // 1: none is ignored.
      if (error instanceof Error && 'status' in error && error.status === 1) return [];
      throw error;
    } finally {
      for (const file of made) rmSync(file);
    }
  }

  it('agrees on random files and paths', () => {
    let ignored = 0;
    fc.assert(
      fc.property(text, fc.option(text), fc.uniqueArray(path, { minLength: 8, maxLength: 20 }), (top, nested, paths) => {
        const ignoreFiles = new Map([['', top]]);
        if (nested !== null) ignoreFiles.set('a', nested);
        const rules = createIgnoreRules({ ignoreFiles });
        // The names are no junk to git, so only what the ignore files say is compared.
        const ours = paths.filter((each) => rules.explain(each)?.rule === 'ignore_file');
        const theirs = ignoredByGit(ignoreFiles, paths);
        ignored += theirs.length;
        expect(ours.sort()).toEqual(theirs.sort());
      }),
      { numRuns: 400 },
    );
    expect(ignored).toBeGreaterThan(100);
  });

  it('is installed where the tests run', () => {
    expect(readFileSync(join(repository, '.git/HEAD'), 'utf8')).toContain('ref:');
  });
});
