import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SluiceError } from '@sluice/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Config, ConfigFlags } from './config.js';
import { loadConfig } from './load-config.js';

let cwd: string;
beforeEach(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-config-')));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

function write(text: string, name = 'sluice.yaml'): void {
  writeFileSync(join(cwd, name), text);
}

function load(given: { flags?: ConfigFlags; env?: Record<string, string> } = {}): Config {
  return loadConfig({ flags: given.flags ?? {}, env: given.env ?? {}, cwd });
}

/** Lines of the error, without the first. */
function problems(given: { flags?: ConfigFlags; env?: Record<string, string> } = {}): string[] {
  try {
    load(given);
  } catch (thrown) {
    if (!(thrown instanceof SluiceError)) throw thrown;
    expect(thrown.code).toBe('invalid_configuration');
    return thrown.message.split('\n').slice(1);
  }
  throw new Error('was accepted');
}

describe('without a file', () => {
  it('watches ./inbox at level 1, with the defaults', () => {
    const config = load();
    expect(config.file).toBeUndefined();
    expect(config.sources).toHaveLength(1);
    expect(config.sources[0]).toMatchObject({
      name: 'inbox',
      path: join(cwd, 'inbox'),
      include: ['**/*'],
      exclude: [],
      polling: 'auto',
      stabilityMs: 300,
      scanIntervalS: 300,
      chunking: { strategy: 'auto' },
      metadata: {},
      fields: {},
      rules: [],
    });
    expect(config.schema).toEqual({
      defaultSecurityLevel: 1,
      accessLevels: { public: 1, internal: 2, confidential: 3, restricted: 4, secret: 5 },
      fields: {},
    });
    expect(config.limits).toMatchObject({ fileBytes: 512 * 2 ** 20, parseMs: 120_000, archiveRatio: 200 });
    expect(config.queue).toEqual({
      concurrency: 32,
      inFlightBytes: 256 * 2 ** 20,
      largeBytes: 5 * 2 ** 20,
      slowMs: 5000,
      attempts: 5,
      backoffMs: 1000,
      lockMs: 30_000,
      stalledMs: 15_000,
    });
    expect(config.embedding).toEqual({ model: 'Xenova/all-MiniLM-L6-v2', threads: 'auto' });
    expect(config.search).toEqual({ alpha: 0.6, limit: 5, candidates: 25 });
    expect(config.store.readerGraceMs).toBe(10_000);
    expect(config.api).toEqual({
      host: '127.0.0.1',
      port: 4180,
      portIsSet: false,
      anonymous: false,
      anonymousClearance: 1,
      corsOrigins: [],
      allowedHosts: [],
      hostWithoutKey: false,
      callsPerS: 200,
      callsBurst: 400,
      callsAtOnce: 200,
      badKeysPerMin: 12,
      badKeysBurst: 10,
      bodyBytes: 1_048_576,
    });
    expect(config.runtime).toMatchObject({ dataFolder: join(cwd, '.sluice'), logLevel: 'info', offline: false });
    expect(config.runtime.redisUrl).toBeUndefined();
    expect('undefined' in config).toBe(false);
    expect(JSON.parse(JSON.stringify(config))).toEqual(config);
  });

  it('takes bare folders, named after themselves', () => {
    mkdirSync(join(cwd, 'My Füll Docs'));
    const config = load({ flags: { sources: ['docs=./a', './My Füll Docs', '/x/y_z'] } });
    expect(config.sources.map(({ name, path }) => [name, path])).toEqual([
      ['docs', join(cwd, 'a')],
      ['my-full-docs', join(cwd, 'My Füll Docs')],
      ['y_z', '/x/y_z'],
    ]);
    expect(config.schema.defaultSecurityLevel).toBe(1);
    expect(config.warnings).toHaveLength(2);
  });

  it('refuses equal names, overlapping folders, bad names and files', () => {
    write('x', 'file.txt');
    expect(problems({ flags: { sources: ['a/docs', 'b/docs'] } })).toEqual([
      'command line: docs: is the name of another folder already: write NAME=FOLDER',
    ]);
    expect(problems({ flags: { sources: ['a', 'c=a/b'] } })[0]).toContain('lies in the folder of source "a"');
    expect(problems({ flags: { sources: ['c=a/b', 'a'] } })[0]).toContain('holds the folder of source "c"');
    expect(problems({ flags: { sources: ['a', 'c=./a/'] } })[0]).toContain('is the folder of source "a" already');
    expect(problems({ flags: { sources: ['Docs=a', '/', 'file.txt'] } })).toHaveLength(3);
    expect(problems({ flags: { sources: ['file.txt'] } })[0]).toContain('is a file');
    expect(load({ flags: { sources: ['a', 'ab', 'a2=aa'] } }).sources).toHaveLength(3);
  });

  it('sees through links when it compares folders', () => {
    mkdirSync(join(cwd, 'real'));
    symlinkSync(join(cwd, 'real'), join(cwd, 'link'));
    expect(problems({ flags: { sources: ['real', 'link'] } })[0]).toContain('already');
  });

  it('does not overlook a file of nearly the right name', () => {
    write('sources: []', 'sluice.yml');
    expect(problems()[0]).toContain('sluice.yaml');
  });
});

describe('sluice.yaml', () => {
  it('is strict where it is silent', () => {
    write('search: { limit: 7 }\napi:\n');
    const config = load();
    expect(config.file).toBe(join(cwd, 'sluice.yaml'));
    expect(config.schema.defaultSecurityLevel).toBe(5);
    expect(config.search.limit).toBe(7);
    expect(config.sources.map(({ name }) => name)).toEqual(['inbox']);
    write('');
    expect(load().schema.defaultSecurityLevel).toBe(5);
  });

  it('gives the whole tree with absolute paths', () => {
    write(`
sources:
  - name: handbook
    path: ./inbox
    exclude: ["drafts/**"]
    polling: true
    stability_ms: 100
    created_at: mtime
    chunking: { strategy: recursive, max_tokens: 100 }
    metadata: { category: general, access_level: board, tags: [a] }
    fields: { quarter: text, year: int }
    passwords: { env: HANDBOOK_PASSWORDS }
    parsers: { html: { main_content: false } }
    rules:
      - match: "finance/**"
        metadata: { year: 2024, security_level: 3 }
        chunking: { max_chars: 500 }
      - match: [a, "*.md"]
  - { name: other, path: ~/notes, fields: { year: int, due: date } }
schema: { doc_types: [report], default_security_level: 2, access_levels: { board: 4 } }
limits: { file_mb: 1 }
embedding: { path: models/x, threads: 2 }
api: { port: 4181, cors_origins: ["https://a.example"] }
`);
    const config = load({ env: { HANDBOOK_PASSWORDS: 'one\ntwo, three\n', HOME: '/home/u' } });
    expect(config.sources[0]).toMatchObject({
      path: join(cwd, 'inbox'),
      polling: true,
      stabilityMs: 100,
      createdAt: 'mtime',
      passwords: ['one', 'two, three'],
      chunking: { strategy: 'recursive', max_tokens: 100 },
      metadata: { category: 'general', access_level: 'board', tags: ['a'] },
      fields: { quarter: 'text', year: 'int' },
      parsers: { html: { main_content: false }, eml: { attachments: true } },
    });
    expect(config.sources[0]?.rules).toMatchObject([
      { match: ['finance/**'], metadata: { year: 2024, security_level: 3 }, chunking: { strategy: 'auto', max_chars: 500 } },
      { match: ['a', '*.md'] },
    ]);
    expect(config.sources[1]?.path).toBe('/home/u/notes');
    expect(config.schema).toMatchObject({
      docTypes: ['report'],
      defaultSecurityLevel: 2,
      accessLevels: { board: 4, secret: 5 },
      fields: { quarter: 'text', year: 'int', due: 'date' },
    });
    expect(config.limits.fileBytes).toBe(2 ** 20);
    expect(config.embedding).toEqual({ model: 'Xenova/all-MiniLM-L6-v2', path: join(cwd, 'models/x'), threads: 2 });
    expect(config.runtime.modelFolder).toBe(join(cwd, 'models/x'));
    const forced = load({ env: { SLUICE_MODEL: 'maven' } });
    expect([forced.embedding.path, forced.runtime.modelFolder, forced.runtime.provision.model]).toEqual([
      undefined,
      undefined,
      'maven',
    ]);
    expect(load({ env: { SLUICE_MODEL: '/m' } }).embedding.path).toBe('/m');
    expect(config.api).toMatchObject({ port: 4181, portIsSet: true, corsOrigins: ['https://a.example'] });
  });

  it('lists all problems at once, each with its line and path', () => {
    write(
      [
        'sources:', // 1
        '  - name: Hand Book', // 2
        '    path: ./a', // 3
        '    stabilty_ms: 5', // 4
        '    polling: sometimes', // 5
        '    fields: { Year: int, tags: text, n: integer }', // 6
        '  - name: b', // 7
        '    path: ./b', // 8
        '    fields: { year: int }', // 9
        '    metadata: { year: soon, colour: red, security_level: 9 }', // 10
        '    chunking: { strategy: semantic, threshold: 0.5, percentile: 90 }', // 11
        '    rules:', // 12
        '      - match: "**"', // 13
        '        chunking: { strategy: window }', // 14
        '        metadata: { allowed_groups: { a: 1 } }', // 15
        '  - name: b', // 16
        '    path: ./b/c', // 17
        '    fields: { year: text }', // 18
        '  - path: ./d', // 19
        '    chunking: { strategy: propositions }', // 20
        'searhc: {}', // 21
        'search: { alpha: 2, limit: 5.5, limit_: 1 }', // 22
        'api: { anonymous_clearance: 0, cors_origins: [nowhere] }', // 23
        'eval: { gate: { ndcg@7: 1, mrr@10: 2 } }', // 24
        'limits: { file_mb: big }', // 25
        'schema: 5', // 26
      ].join('\n'),
    );
    const found = problems();
    for (const [line, path, words] of [
      [2, 'sources[0].name', 'a-z'],
      [4, 'sources[0].stabilty_ms', 'did you mean stability_ms?'],
      [5, 'sources[0].polling', 'expected auto or true or false'],
      [6, 'sources[0].fields.Year', '[a-z]'],
      [6, 'sources[0].fields.tags', 'every document has'],
      [6, 'sources[0].fields.n', 'one of text'],
      [10, 'sources[1].metadata.year', 'a whole number'],
      [10, 'sources[1].metadata.colour', 'is not a field'],
      [10, 'sources[1].metadata.security_level', '1 to 5'],
      [11, 'sources[1].chunking.threshold', 'percentile'],
      [14, 'sources[1].rules[0].chunking.strategy', 'one of auto'],
      [15, 'sources[1].rules[0].metadata.allowed_groups', 'list of group names'],
      [16, 'sources[2].name', 'already'],
      [17, 'sources[2].path', 'lies in the folder of source "b"'],
      [18, 'sources[2].fields.year', 'one field has one type'],
      [19, 'sources[3].name', 'is missing'],
      [20, 'sources[3].chunking.strategy', 'set llm.base_url and llm.model'],
      [21, 'searhc', 'did you mean search?'],
      [22, 'search.alpha', '<=1'],
      [22, 'search.limit', 'a whole number'],
      [22, 'search.limit_', 'did you mean limit?'],
      [23, 'api.anonymous_clearance', 'level of 1 to 5'],
      [23, 'api.cors_origins[0]', 'origin'],
      [24, 'eval.gate.ndcg@7', 'no measure'],
      [24, 'eval.gate.mrr@10', '<=1'],
      [25, 'limits.file_mb', 'a number'],
      [26, 'schema', 'a mapping'],
    ] as const) {
      const start = `sluice.yaml:${line}: ${path}: `;
      expect(
        found.filter((one) => one.startsWith(start) && one.includes(words)),
        `${start}${words}`,
      ).toHaveLength(1);
    }
    expect(found).toHaveLength(27);
  });

  it.each([
    ['a: [1', 'not valid YAML'],
    ['search: {}\nsearch: {}', 'not valid YAML'],
    ['- a', 'expected a mapping'],
    ['sources: {}', 'expected a list'],
    ['sources: [5]', 'expected a mapping'],
    ['sources: [{ name: a, path: . , passwords: hunter2 }]', 'expected a mapping'],
  ])('%j', (text, words) => {
    write(text);
    const found = problems();
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(words);
    expect(found[0]).toMatch(/^sluice\.yaml:\d+: /);
    expect(found[0]).not.toContain('hunter2');
  });

  it.each([
    ['', []],
    ['llm: { base_url: ~, model: ~ }', []],
    ['llm: { model: m }', ['sluice.yaml:1: llm.base_url: is missing beside llm.model']],
    ['llm: { base_url: "http://h/v1" }', ['sluice.yaml:1: llm.model: is missing beside llm.base_url']],
  ])('propositions, of a source and of a rule, need an endpoint and a model: %j', (llm, more) => {
    write(`${llm}
sources:
  - { name: a, path: a, chunking: { strategy: propositions } }
  - { name: b, path: b, rules: [{ match: "x/**", chunking: { strategy: propositions } }] }`);
    expect(problems()).toEqual([
      ...more,
      expect.stringMatching(/^sluice\.yaml:3: sources\[0\]\.chunking\.strategy: .*set llm\.base_url and llm\.model/),
      expect.stringMatching(/^sluice\.yaml:4: sources\[1\]\.rules\[0\]\.chunking\.strategy: .*set llm/),
    ]);
    write(
      `llm: { base_url: "http://h/v1", model: m, api_key_env: KEY }\nsources: [{ name: a, path: a, chunking: { strategy: propositions } }]`,
    );
    const config = load({ env: { KEY: 'k' } });
    expect(config.llm).toMatchObject({ baseUrl: 'http://h/v1', model: 'm', apiKey: 'k' });
    expect(config.warnings.join()).not.toContain('KEY');
    expect(load().warnings.join()).toContain('KEY is not set');
  });

  it('a prompt of its own lies beside the file, and must be there', () => {
    const text = `llm: { base_url: "http://h/v1", model: m }
sources: [{ name: a, path: a, chunking: { strategy: propositions, prompt_file: facts.txt } }]`;
    mkdirSync(join(cwd, 'etc'));
    write(text, 'etc/sluice.yaml');
    const env = { SLUICE_CONFIG: 'etc/sluice.yaml' };
    expect(problems({ env })[0]).toContain('sources[0].chunking.prompt_file: no file facts.txt');
    write('Write facts.', 'etc/facts.txt');
    expect(load({ env }).sources[0]?.chunking).toMatchObject({ prompt_file: join(cwd, 'etc/facts.txt') });
  });

  it('the size of chunks is bounded by the embedding model, told by its folder, else by its name', () => {
    const sized = (max: number, embedding: string) =>
      `embedding: ${embedding}\nsources: [{ name: a, path: a, rules: [{ match: x, chunking: { max_tokens: ${max} } }] }]`;
    for (const [embedding, most] of [
      ['{}', 256],
      ['{ model: Xenova/e5-small-v2 }', 512],
      ['{ model: Xenova/all-MiniLM-L12-v2 }', 128],
      ['{ path: model }', 100],
    ] as const) {
      mkdirSync(join(cwd, 'model'), { recursive: true });
      write('{"max_seq_length": 100}', 'model/sentence_bert_config.json');
      write(sized(most, embedding));
      expect(load().sources[0]?.rules[0]?.chunking).toMatchObject({ max_tokens: most });
      write(sized(most + 1, embedding));
      expect(problems()).toEqual([expect.stringContaining(`at most ${most}, what the embedding model takes`)]);
    }
    write(sized(101, '{}'));
    expect(problems({ env: { SLUICE_MODEL: 'model' } })).toEqual([expect.stringContaining('at most 100')]);
  });

  it('shares no folder with the data of the instance', () => {
    write('sources: [{ name: a, path: . }]');
    expect(load().sources).toHaveLength(1);
    expect(problems({ env: { SLUICE_DATA: 'data' } })[0]).toContain('holds the data folder');
    write('sources: [{ name: a, path: .sluice/x }]');
    expect(problems()[0]).toContain('lies in the data folder');
  });

  it('says that a variable for passwords is not set, and goes on', () => {
    write('sources: [{ name: a, path: a, passwords: { env: NOT_SET } }]');
    expect(load().warnings.join()).toContain('NOT_SET');
    expect(load({ env: { NOT_SET: '["a", "b"]' } }).sources[0]?.passwords).toEqual(['a', 'b']);
    expect(load({ env: { NOT_SET: '[a' } }).sources[0]?.passwords).toEqual(['[a']);
  });
});
