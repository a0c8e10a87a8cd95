import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
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

const counts = { indexed: 1, pending: 0, empty: 0, failed: 0, skipped: 0 };
const status = (more: Record<string, unknown> = {}, source: Record<string, unknown> = {}) => ({
  state: 'idle',
  version: '0.1.0',
  processes: [{ role: 'api', pid: 1, restarts: 0 }],
  services: { redis: { url: 'redis://x', state: 'up' } },
  sources: [
    {
      name: 'inbox',
      path: join(folder, 'inbox'),
      configured: true,
      reachable: true,
      deletes_suspended: false,
      documents: counts,
      scanned: 7,
      ...source,
    },
  ],
  queues: { reconcile: { waiting: 0 } },
  paused: false,
  dead_letters: 0,
  ...more,
});
const document = (docId: string, more: Record<string, unknown> = {}) => ({
  doc_id: docId,
  id: 'u',
  source: 'inbox',
  source_path: docId.slice(6),
  status: 'indexed',
  serving: true,
  revision: 'r',
  chunks: 2,
  content_hash: 'h',
  warnings: [],
  metadata: {},
  ...more,
});

describe('usage', () => {
  it.each([
    ['no command', []],
    ['an unknown command', ['frobnicate']],
    ['an unknown option', ['status', '--frobnicate']],
    ['a missing argument', ['search']],
    ['too many arguments', ['verify', 'x']],
    ['an unknown choice', ['search', 'x', '--mode', 'magic']],
    ['a filter that is no JSON', ['search', 'x', '--filter', '{']],
    ['a filter that is no object', ['search', 'x', '--filter', '[]']],
    ['a limit of 0', ['search', 'x', '--limit', '0']],
    ['a limit that is no number', ['search', 'x', '--limit', 'many']],
    ['a negative timeout', ['status', '--wait', '--timeout', '-1']],
    ['no way of choosing dead letters', ['dlq', 'retry']],
    ['two ways of choosing', ['dlq', 'discard', 'inbox/a.md', '--all']],
    ['an unknown strategy', ['chunk', 'x.md', '--strategy', 'magic']],
    ['a setting without a value', ['chunk', 'x.md', '--set', 'max_tokens']],
    ['a subcommand that is missing', ['dlq']],
  ])('%s is exit 2, told on stderr', async (_name, args) => {
    const plain = await run(args, { url: api.url });
    expect(plain.code).toBe(2);
    expect(plain.stderr).not.toBe('');
    expect(plain.stderr).not.toMatch(/\n\s+at /);
    const json = await run([...args, '--json'], { url: api.url });
    expect(json.code).toBe(2);
    expect(json.json()).toMatchObject({ error: { code: expect.any(String), message: expect.any(String) } });
    expect(api.requests).toEqual([]);
  });

  it.each([
    ['nonsense'],
    ['localhost:4180'],
    ['ftp://127.0.0.1'],
    ['http://'],
    ['http://127.0.0.1:99999'],
    ['//127.0.0.1'],
    ['http://127.0.0.1/?x=1'],
  ])('SLUICE_URL=%s is exit 2, and said so', async (url) => {
    const ran = await run(['status', '--json'], { url });
    expect(ran.code).toBe(2);
    expect(ran.json()).toMatchObject({
      error: { code: 'invalid_configuration', message: expect.stringContaining('SLUICE_URL') },
    });
  });

  it('SLUICE_API_KEY that no header can carry is exit 2, and not repeated', async () => {
    const ran = await run(['status', '--json'], { url: api.url, env: { SLUICE_API_KEY: 'sec\nret' } });
    expect(ran.code).toBe(2);
    expect(ran.stderr).toContain('SLUICE_API_KEY');
    expect(ran.stderr + ran.stdout).not.toContain('sec');
  });

  it('help and version are one JSON value, too', async () => {
    expect((await run(['--version', '--json'])).json()).toEqual({ version: '0.1.0' });
    expect((await run(['--json', '--version'])).json()).toEqual({ version: '0.1.0' });
    for (const args of [
      ['--help', '--json'],
      ['dlq', '--help', '--json'],
      ['search', '--json', '--help'],
      ['help', '--json'],
    ]) {
      const ran = await run(args);
      expect([ran.code, ran.stderr], args.join(' ')).toEqual([0, '']);
      expect(ran.json()).toEqual({ help: expect.stringContaining('Usage: sluice') });
    }
  });

  it('--json behind -- is an argument', async () => {
    answers['POST /v1/search'] = { body: { results: [], degraded: [] } };
    const ran = await run(['search', '--', '--json'], { url: api.url });
    expect([ran.code, ran.stdout]).toEqual([0, 'Nothing found.\n']);
    expect(api.requests[0]?.body).toEqual({ query: '--json' });
  });

  it('help and version are exit 0 on stdout', async () => {
    expect(await run(['--version'])).toMatchObject({ code: 0, stdout: '0.1.0\n' });
    expect((await run(['--json'])).json()).toMatchObject({ error: { message: 'Name a command: "sluice --help" lists them.' } });
    const help = await run(['--help']);
    expect(help.code).toBe(0);
    for (const name of [
      'up',
      'down',
      'ingest',
      'status',
      'documents',
      'why',
      'search',
      'parse',
      'chunk',
      'dlq',
      'verify',
      'reindex',
      'source',
      'doctor',
    ]) {
      expect(help.stdout).toMatch(new RegExp(`^ {2}${name}\\b`, 'm'));
    }
  });
});

describe('what is not running', () => {
  const commands = [
    ['status'],
    ['documents'],
    ['search', 'x'],
    ['verify'],
    ['dlq', 'list'],
    ['dlq', 'show', 'a/b'],
    ['dlq', 'retry', '--all'],
    ['why', 'x'],
    ['reindex'],
    ['source', 'list'],
    ['source', 'remove', 'x'],
    ['ingest', '/tmp'],
  ];

  it.each(commands)('%s %s %s is exit 3 when nothing answers', async (...args) => {
    const words = args.filter((word): word is string => word !== undefined);
    const refused = await run([...words, '--json'], { url: 'http://127.0.0.1:9' });
    expect(refused.code).toBe(3);
    expect(refused.json()).toMatchObject({ error: { code: 'not_ready' } });
    const nowhere = await run(words, { cwd: folder });
    expect(nowhere.code).toBe(3);
    expect(nowhere.stdout).toBe('');
    expect(nowhere.stderr).toContain(folder);
  });

  it('finds the instance by the run file of the data folder', async () => {
    answers['GET /v1/sources'] = { body: { sources: [] } };
    await mkdir(join(folder, 'data'));
    const runFile = { version: '0.1.0', state: 'ready', startedAt: '', processes: [], services: {}, api: api.url };
    await writeFile(join(folder, 'data', 'run.json'), JSON.stringify(runFile));
    expect((await run(['source', 'list'], { env: { SLUICE_DATA: join(folder, 'data') } })).code).toBe(0);
    expect((await run(['source', 'list', '--data', 'data'], { cwd: folder })).code).toBe(0);
  });

  it('is said of another server too', async () => {
    answers['GET /v1/sources'] = { status: 500, body: 'oops' };
    expect((await run(['source', 'list'], { url: api.url })).code).toBe(3);
  });

  it('sends the key it was given', async () => {
    answers['GET /v1/sources'] = { body: { sources: [] } };
    await run(['source', 'list'], { url: api.url, env: { SLUICE_API_KEY: 'k' } });
    expect(api.requests[0]?.authorization).toBe('Bearer k');
  });

  it.each([
    [401, 'unauthorized', 2],
    [403, 'forbidden', 2],
    [400, 'invalid_filter', 2],
    [404, 'not_found', 1],
    [500, 'internal', 1],
    [503, 'not_ready', 3],
  ])('an answer %i %s is exit %i', async (httpStatus, code, exit) => {
    answers['POST /v1/search'] = problem(httpStatus, code);
    const ran = await run(['search', 'x', '--json'], { url: api.url });
    expect(ran.code).toBe(exit);
    expect(ran.json()).toEqual({ error: { code, message: 'detail of the problem' } });
  });
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
    const body = status({ dead_letters: 3 });
    answers['GET /ops/api/status'] = { body };
    const ran = await run(['status', '--json'], { url: api.url });
    expect(ran.code).toBe(0);
    expect(ran.json()).toEqual(body);
    expect((await run(['status'], { url: api.url })).stdout).toContain('3 dead letters');
  });

  it('--wait asks for scans first and waits for them and for the queue', async () => {
    answers['POST /ops/api/reconcile'] = { status: 202, body: { scans: [{ source: 'inbox', request: 9 }], documents: [] } };
    const steps = [
      status({ state: 'idle' }),
      status({ state: 'working' }, { scanned: 9 }),
      status({ state: 'idle' }, { scanned: 9 }),
    ];
    let asked = 0;
    answers['GET /ops/api/status'] = () => ({ body: steps[Math.min(asked++, 2)] });
    expect((await run(['status', '--wait', '--json'], { url: api.url })).code).toBe(0);
    expect(asked).toBe(4);
    expect(api.requests.at(-1)?.query).toEqual({ fresh: 'true' });
  });

  it('--timeout is exit 4, with the status as it is', async () => {
    answers['POST /ops/api/reconcile'] = { status: 202, body: { scans: [{ source: 'inbox', request: 9 }], documents: [] } };
    answers['GET /ops/api/status'] = { body: status() };
    expect((await run(['status', '--wait', '--timeout', '0.2'], { url: api.url })).code).toBe(4);
    const json = await run(['status', '--wait', '--timeout', '0.2', '--json'], { url: api.url });
    expect(json.code).toBe(4);
    expect(json.json()).toEqual(status());
  });

  it('does not wait for a source whose folder is away', async () => {
    answers['POST /ops/api/reconcile'] = { status: 202, body: { scans: [{ source: 'inbox', request: 9 }], documents: [] } };
    answers['GET /ops/api/status'] = { body: status({}, { reachable: false }) };
    expect((await run(['status', '--wait', '--timeout', '5'], { url: api.url })).code).toBe(0);
  });

  it('Ctrl-C is exit 130', async () => {
    answers['POST /ops/api/reconcile'] = { status: 202, body: { scans: [{ source: 'inbox', request: 9 }], documents: [] } };
    const abort = new AbortController();
    answers['GET /ops/api/status'] = () => {
      setImmediate(() => abort.abort());
      return { body: status() };
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
      differences,
      by_kind: { missing_chunk: differences },
      failed_serving_old: 0,
      in_grace: 0,
      checked: { files: 1, documents: 1, chunks: 1 },
      examples: differences === 0 ? [] : [{ kind: 'missing_chunk', doc_id: 'inbox/a.md' }],
    },
  });

  it('is exit 0 without differences, 1 with some', async () => {
    answers['POST /ops/api/verify'] = report(0);
    expect((await run(['verify', '--json'], { url: api.url })).code).toBe(0);
    expect(api.requests[0]?.body).toEqual({ repair: false });
    answers['POST /ops/api/verify'] = report(2);
    const ran = await run(['verify', '--repair'], { url: api.url });
    expect(ran.code).toBe(1);
    expect(ran.stdout).toContain('missing_chunk: inbox/a.md');
    expect(api.requests[1]?.body).toEqual({ repair: true });
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

describe('ingest', () => {
  beforeEach(async () => {
    await mkdir(join(folder, 'inbox', 'sub'), { recursive: true });
    await writeFile(join(folder, 'inbox', 'sub', 'a.md'), 'x');
    await writeFile(join(folder, 'outside.md'), 'x');
    answers['GET /ops/api/status'] = { body: status() };
    answers['POST /ops/api/reconcile'] = ({ body }) => {
      const { doc_ids, source } = body as { doc_ids?: string[]; source?: string };
      return {
        status: 202,
        body: {
          scans: source === undefined ? [] : [{ source, request: 5 }],
          documents: (doc_ids ?? []).map((doc_id) => ({ doc_id, id: 'u' })),
        },
      };
    };
  });

  it('refuses a path outside every source before anything is asked for', async () => {
    const ran = await run(['ingest', 'inbox/sub/a.md', 'outside.md', '--json'], { url: api.url, cwd: folder });
    expect(ran.code).toBe(2);
    expect(ran.json()).toMatchObject({ error: { code: 'not_in_a_source' } });
    expect(api.requests.map(({ method }) => method)).toEqual(['GET']);
  });

  it('is not fooled by a folder whose name begins alike, nor by ..', async () => {
    await mkdir(join(folder, 'inbox-2'));
    await writeFile(join(folder, 'inbox-2', 'a.md'), 'x');
    expect((await run(['ingest', 'inbox-2/a.md'], { url: api.url, cwd: folder })).code).toBe(2);
    expect((await run(['ingest', 'inbox/../outside.md'], { url: api.url, cwd: folder })).code).toBe(2);
  });

  it('a path that is neither on disk nor known is exit 2', async () => {
    answers['GET /v1/documents'] = { body: { documents: [document('inbox/other/a.md')] } };
    for (const path of ['inbox/nope.md', 'inbox/sub/a.md/x', 'nope.md']) {
      const ran = await run(['ingest', path, '--json'], { url: api.url, cwd: folder });
      expect(ran.code).toBe(2);
      expect(ran.json()).toMatchObject({ error: { code: 'invalid_request', message: expect.stringContaining('not there') } });
    }
    expect(api.requests.filter(({ method }) => method === 'POST')).toEqual([]);
  });

  it('has what is gone from disk removed, and says so', async () => {
    const states = [document('inbox/gone.md'), document('inbox/gone.md', { status: 'pending' }), undefined];
    answers['GET /v1/documents/inbox/gone.md'] = () => {
      const state = states.length > 1 ? states.shift() : states[0];
      return state === undefined ? problem(404, 'not_found') : { body: state };
    };
    const ran = await run(['ingest', 'inbox/gone.md', '--wait', '--json'], { url: api.url, cwd: folder });
    expect(ran.code).toBe(0);
    expect(ran.json()).toEqual({ documents: [], deleted: ['inbox/gone.md'] });
    expect(ran.stderr).toContain('gone from disk');
    expect(api.requests.find(({ method }) => method === 'POST')?.body).toEqual({ doc_ids: ['inbox/gone.md'] });
  });

  it('has a folder that is gone removed by a scan', async () => {
    let left = [document('inbox/away/a.md')];
    answers['GET /v1/documents'] = () => ({ body: { documents: left } });
    answers['POST /ops/api/reconcile'] = ({ body }) => {
      left = [];
      return { status: 202, body: { scans: [{ source: (body as { source: string }).source, request: 5 }], documents: [] } };
    };
    const ran = await run(['ingest', 'inbox/away', '--wait', '--json'], { url: api.url, cwd: folder });
    expect([ran.code, ran.json()]).toEqual([0, { documents: [], deleted: ['inbox/away'] }]);
  });

  it('is exit 1 where a path never becomes a document, and tells of the others', async () => {
    await writeFile(join(folder, 'inbox', '.hidden.md'), 'x');
    answers['GET /v1/documents/inbox/sub/a.md'] = { body: document('inbox/sub/a.md') };
    const ran = await run(['ingest', 'inbox/.hidden.md', 'inbox/sub/a.md', '--wait', '--json'], { url: api.url, cwd: folder });
    expect(ran.code).toBe(1);
    expect(ran.json()).toMatchObject({ documents: [{ doc_id: 'inbox/sub/a.md' }], not_found: ['inbox/.hidden.md'] });
    expect(ran.stderr).toContain('sluice why');
  });

  it('queues files by doc_id and folders by a scan', async () => {
    const ran = await run(['ingest', 'inbox/sub/a.md', 'inbox', '--json'], { url: api.url, cwd: folder });
    expect(ran.code).toBe(0);
    expect(ran.json()).toEqual({ scans: [{ source: 'inbox', request: 5 }], documents: [{ doc_id: 'inbox/sub/a.md', id: 'u' }] });
  });

  it('finds the source of a root that is named through a link', async () => {
    await symlink(join(folder, 'inbox'), join(folder, 'link'));
    const ran = await run(['ingest', 'link/sub/a.md', '--json'], { url: api.url, cwd: folder });
    expect(ran.json()).toMatchObject({ documents: [{ doc_id: 'inbox/sub/a.md' }] });
  });

  it('--wait waits while it is pending; exit 1 when it failed', async () => {
    const states = [document('inbox/sub/a.md', { status: 'pending' }), document('inbox/sub/a.md')];
    answers['GET /v1/documents/inbox/sub/a.md'] = () => ({ body: states.length > 1 ? states.shift() : states[0] });
    expect((await run(['ingest', 'inbox/sub/a.md', '--wait', '--json'], { url: api.url, cwd: folder })).code).toBe(0);
    answers['GET /v1/documents/inbox/sub/a.md'] = { body: document('inbox/sub/a.md', { status: 'failed', reason: 'corrupt' }) };
    const failed = await run(['ingest', 'inbox/sub/a.md', '--wait', '--json'], { url: api.url, cwd: folder });
    expect(failed.code).toBe(1);
    expect(failed.json()).toMatchObject({ documents: [{ status: 'failed', reason: 'corrupt' }] });
  });

  it('--wait of a folder waits for its scan and looks at what is below it', async () => {
    answers['GET /v1/documents'] = {
      body: { documents: [document('inbox/sub/a.md'), document('inbox/other.md', { status: 'failed' })] },
    };
    const ran = await run(['ingest', 'inbox/sub', '--wait', '--json'], { url: api.url, cwd: folder });
    expect(ran.code).toBe(0);
    expect(ran.json()).toMatchObject({ documents: [{ doc_id: 'inbox/sub/a.md' }] });
  });

  it('--timeout is exit 4', async () => {
    answers['GET /v1/documents/inbox/sub/a.md'] = { body: document('inbox/sub/a.md', { status: 'pending' }) };
    expect((await run(['ingest', 'inbox/sub/a.md', '--wait', '--timeout', '0.1'], { url: api.url, cwd: folder })).code).toBe(4);
    const json = await run(['ingest', 'inbox/sub/a.md', '--wait', '--timeout', '0.1', '--json'], { url: api.url, cwd: folder });
    expect(json.code).toBe(4);
    expect(json.json()).toMatchObject({ documents: [{ status: 'pending' }], error: { code: 'timed_out' } });
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
    expect(ran.stderr).toContain('--role operator');
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
    answers['DELETE /ops/api/keys/i'] = { body: { revoked: 'i' } };
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
