import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { document, status } from './answers.js';
import { run } from './run.js';
import { type Answer, type Asked, createStubApi, problem, type StubApi } from './stub-api.js';

let api: StubApi;
let folder: string;
let answers: Record<string, Answer | ((asked: Asked) => Answer)>;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'sluice-cli-')));
  answers = {};
  api = await createStubApi((asked) => {
    const answer = answers[`${asked.method} ${asked.path}`];
    if (answer === undefined) return problem(404, 'not_found', `stub has no ${asked.method} ${asked.path}`);
    return typeof answer === 'function' ? answer(asked) : answer;
  });
});
afterEach(async () => {
  await api.close();
  await rm(folder, { recursive: true });
});

describe('search', () => {
  const body = {
    results: [
      {
        score: 0.5,
        doc_id: 'inbox/a.md',
        title: 'A',
        text: 'two\nlines',
        citation: { start: 0, end: 9, heading_path: ['H'], page: 3 },
      },
    ],
    degraded: ['query_truncated'],
    took_ms: 1,
  };

  it('sends what was asked, and prints the body with --json', async () => {
    answers['POST /v1/search'] = { body };
    const args = [
      'search',
      'what is it',
      '--filter',
      '{"a":1}',
      '--mode',
      'dense',
      '--limit',
      '3',
      '--expand',
      'window',
      '--json',
    ];
    const ran = await run(args, { url: api.url });
    expect(ran.code).toBe(0);
    expect(ran.json()).toEqual(body);
    expect(api.requests[0]?.body).toEqual({ query: 'what is it', filter: { a: 1 }, mode: 'dense', limit: 3, expand: 'window' });
  });

  it('pages, and counts by the values of fields', async () => {
    const facets = { doc_type: [{ value: 'guide', count: 2 }], year: [{ value: 2023, count: 1 }] };
    answers['POST /v1/search'] = { body: { ...body, facets } };
    const ran = await run(['search', 'x', '--offset', '5', '--facets', 'doc_type, year'], { url: api.url });
    expect(api.requests.at(-1)?.body).toEqual({ query: 'x', offset: 5, facets: ['doc_type', 'year'] });
    expect(ran.stdout).toContain('6. inbox/a.md');
    expect(ran.stdout).toContain('doc_type: guide (2)\nyear: 2023 (1)\n');
  });

  it('prints results for people', async () => {
    answers['POST /v1/search'] = { body };
    const ran = await run(['search', 'x'], { url: api.url });
    expect(ran.stdout).toContain('1. inbox/a.md');
    expect(ran.stdout).toContain('page 3');
    expect(ran.stderr).toContain('query_truncated');
  });
});

describe('status', () => {
  it('prints the body with --json, and is 0 whatever failed', async () => {
    const body = status(folder, { dead_letters: 3 });
    answers['GET /ops/api/status'] = { body };
    const ran = await run(['status', '--json'], { url: api.url });
    expect(ran.code).toBe(0);
    expect(ran.json()).toEqual(body);
    expect((await run(['status'], { url: api.url })).stdout).toContain('3 dead letters');
  });

  it('--wait asks for scans first and waits for them and for the queue', async () => {
    answers['POST /ops/api/reconcile'] = { status: 202, body: { scans: [{ source: 'inbox', request: 9 }], documents: [] } };
    const steps = [
      status(folder, { state: 'idle' }),
      status(folder, { state: 'working' }, { scanned: 9 }),
      status(folder, { state: 'idle' }, { scanned: 9 }),
    ];
    let asked = 0;
    answers['GET /ops/api/status'] = () => ({ body: steps[Math.min(asked++, 2)] });
    expect((await run(['status', '--wait', '--json'], { url: api.url })).code).toBe(0);
    expect(asked).toBe(4);
    expect(api.requests.at(-1)?.query).toEqual({ fresh: 'true' });
  });

  it('--timeout is exit 4, with the status as it is', async () => {
    answers['POST /ops/api/reconcile'] = { status: 202, body: { scans: [{ source: 'inbox', request: 9 }], documents: [] } };
    answers['GET /ops/api/status'] = { body: status(folder) };
    expect((await run(['status', '--wait', '--timeout', '0.2'], { url: api.url })).code).toBe(4);
    const json = await run(['status', '--wait', '--timeout', '0.2', '--json'], { url: api.url });
    expect(json.code).toBe(4);
    expect(json.json()).toEqual(status(folder));
  });

  it('--timeout names what was waited for', async () => {
    answers['POST /ops/api/reconcile'] = { status: 202, body: { scans: [{ source: 'inbox', request: 9 }], documents: [] } };
    const documents = { indexed: 1, pending: 3, empty: 0, failed: 0, skipped: 0 };
    answers['GET /ops/api/status'] = { body: status(folder, { state: 'working' }, { documents }) };
    answers['GET /v1/documents'] = { body: { documents: [document('inbox/a.md'), document('inbox/b.md')] } };
    const { stderr } = await run(['status', '--wait', '--timeout', '0.2'], { url: api.url });
    expect(stderr).toContain('not scanned yet: inbox');
    expect(stderr).toContain('pending: inbox/a.md, inbox/b.md, 1 more');
  });

  it('does not wait for a source whose folder is away', async () => {
    answers['POST /ops/api/reconcile'] = { status: 202, body: { scans: [{ source: 'inbox', request: 9 }], documents: [] } };
    answers['GET /ops/api/status'] = { body: status(folder, {}, { reachable: false }) };
    expect((await run(['status', '--wait', '--timeout', '5'], { url: api.url })).code).toBe(0);
  });

  it('Ctrl-C is exit 130', async () => {
    answers['POST /ops/api/reconcile'] = { status: 202, body: { scans: [{ source: 'inbox', request: 9 }], documents: [] } };
    const abort = new AbortController();
    answers['GET /ops/api/status'] = () => {
      setImmediate(() => abort.abort());
      return { body: status(folder) };
    };
    const ran = await run(['status', '--wait', '--json'], { url: api.url, signal: abort.signal });
    expect(ran.code).toBe(130);
    expect(ran.json()).toEqual({ error: { code: 'interrupted', message: 'Interrupted.' } });
  });
});

describe('documents', () => {
  it('joins the pages', async () => {
    answers['GET /v1/documents'] = ({ query }) => ({
      body:
        query.cursor === undefined
          ? { documents: [document('inbox/a.md')], next_cursor: 'c' }
          : { documents: [document('inbox/b.md', { status: 'failed', reason: 'corrupt', message: 'is damaged' })] },
    });
    const ran = await run(['documents', '--status', 'failed', '--source', 'inbox', '--json'], { url: api.url });
    expect(ran.json()).toMatchObject({ documents: [{ doc_id: 'inbox/a.md' }, { doc_id: 'inbox/b.md' }] });
    expect(api.requests.map(({ query }) => query)).toEqual([
      { status: 'failed', source: 'inbox', limit: '1000' },
      { status: 'failed', source: 'inbox', limit: '1000', cursor: 'c' },
    ]);
    expect((await run(['documents'], { url: api.url })).stdout).toContain('corrupt: is damaged');
  });
});

describe('verify', () => {
  const report = (differences: number) => ({
    body: {
      state: 'done',
      progress: 1,
      result: reportOf(differences),
    },
  });
  const reportOf = (differences: number) => ({
    differences,
    by_kind: { missing_chunk: differences },
    failed_serving_old: 0,
    in_grace: 0,
    in_flight: 3,
    unreachable_sources: ['share'],
    unreadable_paths: 1,
    repaired: differences,
    checked: { files: 1, documents: 1, chunks: 1 },
    examples: differences === 0 ? [] : [{ kind: 'missing_chunk', doc_id: 'inbox/a.md' }],
  });

  it('is exit 0 without differences, 1 with some', async () => {
    answers['POST /ops/api/verify'] = { status: 202, body: { task_id: 't' } };
    answers['GET /ops/api/tasks/t'] = report(0);
    const json = await run(['verify', '--json'], { url: api.url });
    expect([json.code, json.json()]).toEqual([0, reportOf(0)]);
    expect(api.requests[0]?.body).toEqual({ repair: false });
    answers['GET /ops/api/tasks/t'] = report(2);
    const ran = await run(['verify', '--repair'], { url: api.url });
    expect(ran.code).toBe(1);
    expect(ran.stdout).toContain('missing_chunk: inbox/a.md');
    expect(ran.stdout).toContain('source share was not compared with the disk');
    expect(ran.stdout).toContain('1 files or folders could not be read');
    expect(ran.stdout).toContain('3 documents that a job works on were left out');
    expect(ran.stdout).toContain('2 documents are being written again');
    expect(api.requests[2]?.body).toEqual({ repair: true });
    answers['GET /ops/api/tasks/t'] = {
      body: { state: 'failed', progress: 0, problem: { code: 'not_ready', detail: 'away' } },
    };
    expect(await run(['verify'], { url: api.url })).toMatchObject({ code: 3, stderr: expect.stringContaining('away') });
  });
});

describe('dlq', () => {
  it.each([
    [['retry', 'inbox/a.md', 'inbox/b.md'], 'retry', { ids: ['inbox/a.md', 'inbox/b.md'] }],
    [['discard', '--code', 'corrupt'], 'discard', { code: 'corrupt' }],
    [['retry', '--source', 'inbox'], 'retry', { source: 'inbox' }],
    [['discard', '--all'], 'discard', { all: true }],
  ])('%j sends its choice', async (args, verb, body) => {
    answers[`POST /ops/api/dead-letters/${verb}`] = { body: { retried: 1, discarded: 1, not_found: [] } };
    expect((await run(['dlq', ...args, '--json'], { url: api.url })).code).toBe(0);
    expect(api.requests[0]?.body).toEqual(body);
  });

  it('list says with which clearance it was seen', async () => {
    answers['GET /ops/api/dead-letters'] = { body: { dead_letters: [], clearance: 1 } };
    expect((await run(['dlq', 'list'], { url: api.url })).stderr).toContain('clearance 1');
    answers['GET /ops/api/dead-letters'] = { body: { dead_letters: [], clearance: 5 } };
    expect((await run(['dlq', 'list'], { url: api.url })).stderr).toBe('');
  });

  it('is exit 1 when one of the named is no dead letter', async () => {
    answers['POST /ops/api/dead-letters/retry'] = { body: { retried: 0, not_found: ['inbox/a.md'] } };
    const ran = await run(['dlq', 'retry', 'inbox/a.md'], { url: api.url });
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain('inbox/a.md');
  });

  it('show encodes the doc_id as one segment', async () => {
    answers['GET /v1/documents/inbox/a b#.md'] = { body: document('inbox/a b#.md') };
    expect((await run(['dlq', 'show', 'inbox/a b#.md', '--json'], { url: api.url })).json()).toMatchObject({
      doc_id: 'inbox/a b#.md',
    });
  });
});

it('what a terminal would take for commands is shown instead of sent, in names, texts and messages', async () => {
  const evil = 'inbox/\u001b]0;owned\u0007\u009b2J\r.md';
  const results = [
    { score: 1, doc_id: evil, title: '', text: 'a\tb\nc', citation: { start: 0, end: 1, heading_path: ['\u001b[2J'] } },
  ];
  answers['POST /v1/search'] = { body: { results, degraded: [], took_ms: 1 } };
  answers['POST /ops/api/dead-letters/retry'] = { body: { retried: 0, not_found: [evil] } };
  const found = await run(['search', 'x'], { url: api.url });
  const retried = await run(['dlq', 'retry', evil], { url: api.url });
  for (const text of [found.stdout, retried.stderr]) {
    expect(text).toContain('inbox/\\x1b]0;owned\\x07\\x9b2J\\x0d.md');
    expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
  }
  expect(found.stdout).toContain('   a\tb\n   c\n');
});

describe('key', () => {
  const made = { id: 'i', name: 'n', role: 'reader', clearance: 2, groups: ['a', 'b'], created_at: 't', key: 'slk_i_s' };

  it('create sends what was asked and prints the key alone on stdout', async () => {
    answers['POST /ops/api/keys'] = { status: 201, body: made };
    const args = ['key', 'create', '--name', 'n', '--clearance', '2', '--groups', 'a, b', '--expires', '2027-01-31'];
    const ran = await run(args, { url: api.url });
    expect(ran).toMatchObject({ code: 0, stdout: 'slk_i_s\n' });
    expect(ran.stderr).toContain('export SLUICE_API_KEY');
    expect(api.requests[0]?.body).toEqual({
      name: 'n',
      clearance: 2,
      role: 'reader',
      groups: ['a', 'b'],
      expires_at: '2027-01-31T00:00:00.000Z',
    });
  });

  it.each([
    ['2027-01-31T18:30', '2027-01-31T18:30:00.000Z'],
    ['2027-01-31 18:30:00+02:00', '2027-01-31T16:30:00.000Z'],
  ])('an instant is taken as it is written, in UTC where it names no zone: %s', async (expires, sent) => {
    answers['POST /ops/api/keys'] = { status: 201, body: made };
    await run(['key', 'create', '--name', 'n', '--clearance', '2', '--expires', expires], { url: api.url });
    expect(api.requests[0]?.body).toMatchObject({ expires_at: sent });
  });

  it('list and revoke', async () => {
    answers['GET /ops/api/keys'] = { body: { keys: [made] } };
    answers['DELETE /ops/api/keys/i'] = { status: 204, body: undefined };
    expect((await run(['key', 'list'], { url: api.url })).stdout).toContain('clearance 2');
    expect((await run(['key', 'revoke', 'i', '--json'], { url: api.url })).json()).toEqual({ revoked: 'i' });
    expect((await run(['key', 'revoke', 'other'], { url: api.url })).code).toBe(1);
  });

  it.each([
    [['create', '--clearance', '2']],
    [['create', '--name', 'n']],
    [['create', '--name', 'n', '--clearance', '6']],
    [['create', '--name', 'n', '--clearance', '2', '--role', 'admin']],
    [['create', '--name', 'n', '--clearance', '2', '--expires', 'soon']],
    [['create', '--name', 'n', '--clearance', '2', '--expires', '2027-02-31']],
    [['create', '--name', 'n', '--clearance', '2', '--expires', '2027-01-31 junk']],
    [['create', '--name', 'n', '--clearance', '2', '--expires', '2027']],
    [['revoke']],
  ])('%j is exit 2', async (args) => {
    expect((await run(['key', ...args], { url: api.url })).code).toBe(2);
    expect(api.requests).toEqual([]);
  });
});

describe('parse', () => {
  it('prints text, elements and front matter, offsets exact', async () => {
    await writeFile(join(folder, 'a.md'), '---\ntitle: T\n---\n# Head\n\nSome *words*.\n');
    const ran = await run(['parse', 'a.md', '--json'], { cwd: folder });
    expect(ran.code).toBe(0);
    const parsed = ran.json() as {
      text: string;
      elements: { kind: string; level?: number; text: string; start: number; end: number }[];
    };
    expect(parsed).toMatchObject({ front_matter: { title: 'T' }, warnings: [] });
    expect(parsed.elements.map(({ kind, level }) => [kind, level])).toEqual([
      ['heading', 1],
      ['paragraph', undefined],
    ]);
    for (const { text, start, end } of parsed.elements) expect(parsed.text.slice(start, end)).toBe(text);
  });

  it.each([
    ['missing.md', undefined, 'unreadable'],
    ['bad.pdf', '%PDF-1.7 garbage', 'corrupt'],
    ['x.png', Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex'), 'unsupported_type'],
  ])('%s is exit 1 with its reason', async (name, content, code) => {
    if (content !== undefined) await writeFile(join(folder, name), content);
    const ran = await run(['parse', name, '--json'], { cwd: folder });
    expect(ran.code).toBe(1);
    expect(ran.json()).toMatchObject({ error: { code, message: expect.any(String) } });
  });

  it('a broken configuration is exit 2', async () => {
    await writeFile(join(folder, 'sluice.yaml'), 'nope: 1\n');
    await writeFile(join(folder, 'a.md'), 'x');
    const ran = await run(['parse', 'a.md', '--json'], { cwd: folder });
    expect(ran.code).toBe(2);
    expect(ran.json()).toMatchObject({ error: { code: 'invalid_configuration' } });
  });
});

describe('why', () => {
  it('asks for the absolute path and tells all of it', async () => {
    answers['GET /ops/api/why'] = ({ query }) => ({
      body: {
        path: query.path,
        doc_id: 'inbox/a.md',
        ignored: { rule: 'exclude: drafts/**', from: 'the configuration, by drafts' },
        document: document('inbox/a.md', {
          metadata: { category: 'finance' },
          status: 'failed',
          reason: 'corrupt',
          message: 'damaged',
        }),
        access: { security_level: 3, allowed_groups: [] },
        origins: { category: 'source' },
      },
    });
    const ran = await run(['why', 'a.md'], { url: api.url, cwd: folder });
    expect(api.requests[0]?.query.path).toBe(join(folder, 'a.md'));
    for (const text of ['drafts/**', 'corrupt: damaged', '"finance"  (source)', 'operators of clearance 5 alone']) {
      expect(ran.stdout).toContain(text);
    }
  });
});
