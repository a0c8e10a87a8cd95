import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
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

describe('ingest', () => {
  beforeEach(async () => {
    await mkdir(join(folder, 'inbox', 'sub'), { recursive: true });
    await writeFile(join(folder, 'inbox', 'sub', 'a.md'), 'x');
    await writeFile(join(folder, 'outside.md'), 'x');
    answers['GET /ops/api/status'] = { body: status(folder) };
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

  it('is exit 1 where a path never becomes a document, and reports the others', async () => {
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
