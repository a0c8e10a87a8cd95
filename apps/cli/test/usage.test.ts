import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
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

  it("sends the operator token of the data folder to that folder's instance alone", async () => {
    answers['GET /v1/sources'] = { body: { sources: [] } };
    const data = join(folder, 'data');
    const sent = async (env: Record<string, string>) => {
      await run(['source', 'list'], { env: { SLUICE_DATA: data, ...env } });
      return api.requests.at(-1)?.authorization;
    };
    await mkdir(join(data, 'secrets'), { recursive: true });
    await writeFile(join(data, 'secrets', 'operator-token'), 'token\n');
    expect(await sent({ SLUICE_URL: api.url })).toBe('Bearer token');
    const runFile = { version: '0.1.0', state: 'ready', startedAt: '', processes: [], services: {}, api: api.url };
    await writeFile(join(data, 'run.json'), JSON.stringify(runFile));
    expect(await sent({})).toBe('Bearer token');
    expect(await sent({ SLUICE_URL: api.url })).toBe('Bearer token');
    expect(await sent({ SLUICE_API_KEY: 'k' })).toBe('Bearer k');
    // Another instance on this machine, and another data folder.
    await writeFile(join(data, 'run.json'), JSON.stringify({ ...runFile, api: 'http://127.0.0.1:9' }));
    expect(await sent({ SLUICE_URL: api.url })).toBeUndefined();
    expect(await sent({ SLUICE_URL: api.url, SLUICE_DATA: join(folder, 'other') })).toBeUndefined();
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
