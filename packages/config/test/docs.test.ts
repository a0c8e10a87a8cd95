import { copyFileSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SluiceError } from '@sluice/core';
import { compileFilter, createPathRules, fieldCatalog, frontMatterOf, resolveAccess, resolveMetadata } from '@sluice/metadata';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { knownKeysAt } from '../src/known-keys.js';
import { loadConfig } from '../src/load-config.js';
import { SECTIONS } from '../src/sections/sections.js';
import { readDocBlocks, readDocTable } from './doc-blocks.js';

let cwd: string;
beforeEach(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-docs-')));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

function load(text: string) {
  writeFileSync(join(cwd, 'sluice.yaml'), text);
  return loadConfig({ env: { CONTRACT_PASSWORDS: 'x' }, cwd });
}

const PAGES = ['configuration.md', 'access.md'];

describe.each(PAGES)('docs/%s', (page) => {
  const files = readDocBlocks(page).filter(({ label }) => label === 'sluice.yaml');
  it.each(files.map(({ code }) => [code]))('example %# loads', (code) => {
    expect(load(code).file).toBe(join(cwd, 'sluice.yaml'));
  });
  it('has no example that nothing runs', () => {
    const run = [
      'yaml sluice.yaml',
      'yaml sluice.yaml invalid',
      'text problems',
      'json metadata',
      'json filter',
      'markdown finance/q3.md',
    ];
    expect(readDocBlocks(page).map(({ language, label }) => `${language} ${label}`)).toSatisfy((kinds: string[]) =>
      kinds.every((kind) => run.includes(kind)),
    );
  });
});

describe('docs/configuration.md', () => {
  const blocks = readDocBlocks('configuration.md');
  const block = (label: string) => blocks.find((one) => one.label === label)?.code ?? '';

  it('gives the document the metadata it says', () => {
    const config = load(block('sluice.yaml'));
    const source = config.sources[0];
    const sourcePath = 'finance/q3.md';
    const { metadata, warnings } = resolveMetadata({
      sourcePath,
      schema: config.schema,
      fields: source?.fields ?? {},
      sourceMetadata: source?.metadata ?? {},
      matchingRules: createPathRules(source?.rules ?? []).matching(sourcePath),
      frontMatter: frontMatterOf(block(sourcePath))?.data ?? {},
    });
    expect(metadata).toEqual(JSON.parse(block('metadata')));
    expect(warnings).toEqual(['undeclared_field: mood']);
  });

  it('shows the problems of the faulty file as they are', () => {
    expect(() => load(block('sluice.yaml invalid'))).toThrow(
      expect.objectContaining({ message: expect.stringContaining(`\n${block('problems').trim()}`) }),
    );
  });

  it('names every key there is', () => {
    const text = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');
    for (const [section, schema] of Object.entries(SECTIONS)) {
      const keys = section === 'sources' ? knownKeysAt(SECTIONS.sources, [0]) : knownKeysAt(schema, []);
      expect(keys.length).toBeGreaterThan(0);
      for (const key of keys) expect(text).toContain(key);
    }
    for (const format of knownKeysAt(SECTIONS.sources, [0, 'parsers'])) {
      for (const key of knownKeysAt(SECTIONS.sources, [0, 'parsers', format]))
        expect(text).toMatch(new RegExp(`${format}: \\{.*${key}`));
    }
  });
});

describe('docs/access.md', () => {
  const config = () => load(readDocBlocks('access.md').find(({ label }) => label === 'sluice.yaml')?.code ?? '');
  const rows = readDocTable('access.md', '| path | its own front matter |');

  it.each(rows)('%s with "%s" is level %s, groups "%s"', (path, said, level, groups) => {
    const { schema, sources } = config();
    const access = resolveAccess({
      schema,
      sourceMetadata: sources[0]?.metadata ?? {},
      matchingRules: createPathRules(sources[0]?.rules ?? []).matching(path ?? ''),
      frontMatter: frontMatterOf(`---\n${said}\n---\n`)?.data ?? {},
    });
    const shown = access.allowed_groups === undefined ? '' : access.allowed_groups.join(', ') || 'nobody';
    expect([String(access.security_level), shown]).toEqual([level, groups]);
  });

  it('has rows, and a filter that is one', () => {
    expect(rows).toHaveLength(10);
    const filter = readDocBlocks('access.md').find(({ label }) => label === 'filter')?.code ?? '';
    expect(compileFilter(JSON.parse(filter), fieldCatalog({})).op).toBe('and');
  });
});

describe('sluice.example.yaml', () => {
  it('loads, and what it sets as defaults are the defaults', () => {
    copyFileSync(new URL('../../../sluice.example.yaml', import.meta.url), join(cwd, 'sluice.yaml'));
    const example = loadConfig({ env: {}, cwd });
    writeFileSync(join(cwd, 'sluice.yaml'), '');
    const silent = loadConfig({ env: {}, cwd });
    const { sources: _ours, schema, api, warnings: _warnings, ...rest } = example;
    const { sources: _defaults, schema: defaultSchema, api: defaultApi, warnings: _none, ...others } = silent;
    expect(rest).toEqual(others);
    expect({ ...schema, fields: {} }).toEqual(defaultSchema);
    expect({ ...api, portIsSet: false }).toEqual(defaultApi);
  });

  it('also loads with its commented lines taken in', () => {
    const text = readFileSync(new URL('../../../sluice.example.yaml', import.meta.url), 'utf8');
    const config = load(text.replace(/^( +)# (\w+: )/gm, '$1$2'));
    expect(config.sources[0]).toMatchObject({ createdAt: 'mtime', parsers: { pdf: { ocr: true } } });
    expect(config.schema.docTypes).toEqual(['report', 'policy']);
  });
});

it('problems are data, too', () => {
  try {
    load('searhc: 1');
    expect.unreachable();
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(SluiceError);
    expect((thrown as SluiceError).details).toEqual({
      problems: [{ origin: 'sluice.yaml', line: 1, path: 'searhc', message: 'unknown section; did you mean search?' }],
    });
  }
});
