import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectLawful } from '../../test/laws.js';
import { parseAs } from '../../test/parse-file.js';

const parts = async (text: string) => {
  const document = await parseAs('a.yaml', text);
  expectLawful(document);
  expect(document.format).toBe('yaml');
  expect(document.text).toBe(text);
  return document.elements.map(({ text: own, path }) => [(path ?? []).join(' > '), own.split('\n')[0]]);
};

const filler = (name: string, indent: string) =>
  Array.from(
    { length: 8 },
    (_, index) =>
      `${indent}${name}_${index}: a value of some length, so that the member which holds it is parted from those around it\n`,
  ).join('');

describe('YAML', () => {
  it('is parted at members, each with its path and what tells its object from others', async () => {
    const text = `# The service.\nname: auth\nversion: "2"\nserver:\n${filler('option', '  ')}client:\n  retry:\n${filler('wait', '    ')}`;
    expect(await parts(text)).toEqual([
      ['name: auth, version: 2', '# The service.'],
      ['name: auth, version: 2 > server', 'server:'],
      ['name: auth, version: 2 > client > retry', 'client:'],
    ]);
  });

  it('has an element for each record of a list, also where the list is not indented', async () => {
    const record = (n: number) => `- name: pump ${n}\n  place: hall ${n}\n  note: |\n    Line: one\n    - line two\n`;
    for (const key of ['', 'pumps:\n']) {
      const text = `${key}${Array.from({ length: 20 }, (_, index) => record(index)).join('')}`;
      const found = await parts(text);
      expect(found).toHaveLength(20);
      expect(found[3]).toEqual([key === '' ? '3' : 'pumps > 3', '- name: pump 3']);
    }
  });

  it('keeps the documents of a file apart', async () => {
    const document = (kind: string) => `apiVersion: v1\nkind: ${kind}\nspec:\n${filler('field', '  ')}`;
    const found = await parts(`${document('Service')}---\n${document('Deployment')}`);
    expect(found.map(([path]) => path)).toEqual([
      '0 > apiVersion: v1, kind: Service',
      '0 > apiVersion: v1, kind: Service > spec',
      '1 > apiVersion: v1, kind: Deployment',
      '1 > apiVersion: v1, kind: Deployment > spec',
    ]);
  });

  it('takes the title, and reads no key in an address or a quoted text', async () => {
    const document = await parseAs(
      'a.yml',
      `title: "Kettles: a guide"\nlink: https://example.test/a\n"a: b": 1\n${filler('x', '')}`,
    );
    expect(document.metadata).toEqual({ doc_title: 'Kettles: a guide' });
  });

  it('keeps its laws on any lines', async () => {
    const line = fc.constantFrom(
      'a:',
      'b: 1',
      '- x',
      '- a: 1',
      '  - y',
      '  c: |',
      '    text: - x',
      '---',
      '...',
      '# c',
      '',
      '}',
      '- - z',
      '"q',
      "'",
      '\tt: 1',
      ': x',
      '-',
      `k: ${'v'.repeat(300)}`,
    );
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 40 }), async (lines) => {
        expectLawful(await parseAs('a.yaml', lines.join('\n')));
      }),
      { numRuns: 300 },
    );
  });

  it('is linear in what is deep, long or wide', async () => {
    const deep = Array.from({ length: 3_000 }, (_, index) => `${' '.repeat(Math.min(index, 900))}k:\n`).join('');
    const dashes = `${'- '.repeat(30_000)}x`;
    for (const text of [deep, dashes, 'k: '.repeat(30_000), 'a: 1\n'.repeat(100_000)])
      expectLawful(await parseAs('a.yaml', text));
  });
});
