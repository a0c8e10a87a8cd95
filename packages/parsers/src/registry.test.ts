import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type ParsedDocument, SluiceError } from '@sluice/core';
import { describe, expect, it } from 'vitest';
import { FORMATS } from './formats.js';
import { createParserRegistry, defaultParseLimits } from './index.js';

const registry = createParserRegistry();
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const parse = (name: string, bytes: Uint8Array | string): Promise<ParsedDocument> =>
  registry.parse({ name, bytes: typeof bytes === 'string' ? bytesOf(bytes) : bytes, limits: defaultParseLimits });

describe('the type of a file', () => {
  it.each([
    ['notes', '<!doctype html><p>Hello', 'html'],
    ['notes.txt', '<html><body>Hello', 'html'],
    ['notes.md', '<html> is a tag', 'markdown'],
    ['notes.txt', '%PDF-1.4\n', 'pdf'],
    ['run', '#!/bin/bash\nls\n', 'code'],
    ['Makefile', 'all:\n\tls\n', 'code'],
    ['notes', 'Just words.', 'text'],
    ['notes.pdf', 'Just words.', 'text'],
    [
      'image.png',
      new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
      undefined,
    ],
    ['empty.bin', '', undefined],
    ['empty.md', '', 'markdown'],
  ])('%s holding %j is %s', (name, content, format) => {
    expect(registry.detect(typeof content === 'string' ? bytesOf(content) : content, name)).toBe(format);
  });

  it('of no known kind is refused by name', async () => {
    const gif = new Uint8Array([...bytesOf('GIF89a'), ...new Uint8Array(64)]);
    await expect(parse('cat.txt', gif)).rejects.toMatchObject({
      code: 'unsupported_type',
      message: expect.stringContaining('image/gif'),
    });
  });
});

it('refuses text that begins with front matter which sets access, since only Markdown has some that is read', async () => {
  for (const name of ['a.txt', 'a.html', 'a.adoc', 'README']) {
    const refusal = { code: 'invalid_metadata', details: { access: true } };
    await expect(parse(name, '---\nsecurity_level: 5\n---\n\nWords.'), name).rejects.toMatchObject(refusal);
    expect((await parse(name, '---\ntitle: Five\n---\n\nWords.')).text, name).toContain('Words.');
  }
});

it('refuses a file over the limit before reading it', async () => {
  const limits = { ...defaultParseLimits, fileBytes: 3 };
  await expect(registry.parse({ name: 'a.txt', bytes: bytesOf('four'), limits })).rejects.toThrow(SluiceError);
  await expect(registry.parse({ name: 'a.txt', bytes: bytesOf('four'), limits })).rejects.toMatchObject({ code: 'too_large' });
});

it.each(['a.txt', 'a.md', 'a.html', 'a.py'])('has nothing to say of a blank %s', async (name) => {
  for (const blank of ['', ' \n\t\n']) expect(await parse(name, blank)).toMatchObject({ text: '', elements: [] });
});

it('calls a file of 0 bytes unfinished where its format has none', async () => {
  for (const { format, extensions, neverEmpty, parts } of FORMATS)
    for (const extension of extensions) {
      const { unfinished, ...blank } = await parse(`a.${extension}`, '');
      expect(blank).toMatchObject({ format, text: '', elements: [] });
      expect(unfinished ?? false).toBe(neverEmpty === true || parts !== undefined);
    }
  expect(FORMATS.filter(({ neverEmpty, parts }) => neverEmpty || parts).map(({ format }) => format)).toEqual(
    expect.arrayContaining(['pdf', 'docx', 'pptx', 'xlsx', 'epub', 'odf', 'rtf']),
  );
});

it('never begins a text with the byte order mark, and never lets control characters in', async () => {
  const document = await parse('a.txt', '\ufeffone\u0000\u0007 two\u000b\u000c\u001f\u007f\u0085 three\r\nfour\rfive \ufeffsix');
  expect(document.text).toBe('one two three\nfour\nfive \ufeffsix');
});

const fixture = (name: string) =>
  new Uint8Array(readFileSync(fileURLToPath(new URL(`../test/fixtures/${name}`, import.meta.url))));
it.each([
  ['p_cjk_gb.pdf', '质量报告二'],
  ['p_cjk_gbk.pdf', '质量报告二'],
  ['p_cjk_sjis.pdf', '品質報告'],
  ['p_locked_owner.pdf', 'Open bid is 6160'],
  ['p_badxref.pdf', 'Recovered line 7731'],
  ['p_scan.pdf', ''],
  ['p_zero.pdf', ''],
])('reads %s', async (name, text) => {
  expect((await parse(name, fixture(name))).text).toBe(text);
});

it.each([
  ['p_locked_user.pdf', 'password_required'],
  ['p_truncated.pdf', 'corrupt'],
])('refuses %s as %s', async (name, code) => {
  await expect(parse(name, fixture(name))).rejects.toMatchObject({ code, kind: 'permanent' });
});

it.each(['docx', 'pptx', 'xlsx', 'pdf'])('calls a broken .%s corrupt, wherever it is cut off', async (extension) => {
  const mark = extension === 'pdf' ? '%PDF-1.7\n%' : 'PK\u0003\u0004\u0014\u0000\u0000\u0000';
  const registry = createParserRegistry();
  for (const length of [1, 2, 3, mark.length]) {
    const bytes = new Uint8Array(Buffer.from(mark.slice(0, length), 'latin1'));
    const input = { name: `a.${extension}`, bytes, limits: defaultParseLimits };
    await expect(registry.parse(input)).rejects.toMatchObject({ code: 'corrupt' });
  }
  const zeros = { name: `a.${extension}`, bytes: new Uint8Array(5000), limits: defaultParseLimits };
  await expect(registry.parse(zeros)).rejects.toMatchObject({ code: 'corrupt' });
});
