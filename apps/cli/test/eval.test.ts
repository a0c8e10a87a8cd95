import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { document } from './answers.js';
import { run } from './run.js';
import { createStubApi, problem, type StubApi } from './stub-api.js';

let api: StubApi;
let folder: string;
let ranking: string[];

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'sluice-cli-')));
  ranking = ['inbox/b.md', 'inbox/a.md'];
  api = await createStubApi(({ method, path, query }) => {
    if (method === 'GET' && path === '/v1/documents') {
      return { body: { documents: ['inbox/a.md', 'inbox/b.md'].map((doc_id) => document(doc_id)) } };
    }
    if (method === 'POST' && path === '/v1/search') {
      return { body: { results: ranking.map((doc_id) => ({ doc_id, chunk_id: doc_id, text: 'text', score: 1 })), degraded: [] } };
    }
    if (method === 'GET' && path === '/v1/documents/u/chunks') {
      const text = 'The gasket of the portafilter is replaced when coffee drips past its edge.';
      return { body: { doc_id: 'inbox/a.md', revision: 'r', chunks: [{ kind: 'paragraph', text }] } };
    }
    if (method === 'POST' && path === '/v1/answer') return { body: { answer: 'Serviced in May [1].', found: true } };
    if (method === 'POST' && path === '/v1/context') {
      return { body: { context: '[1] Care\nIt is serviced in May.', sources: [{ n: 1, doc_id: 'inbox/a.md' }] } };
    }
    if (method === 'GET' && path === '/ops/api/feedback') {
      const said = { doc_id: 'inbox/a.md', revision: 'r', helpful: true, by: 'local', given_at: '2024-01-01T00:00:00Z' };
      const first = { feedback: [{ ...said, query: 'where' }], next_cursor: 'next' };
      return { body: query.cursor === 'next' ? { feedback: [{ ...said, query: 'when' }] } : first };
    }
    return problem(404, 'not_found');
  });
  await writeFile(join(folder, 'q.jsonl'), '{"question":"where","relevant":["a.md"],"filter":{"year":1}}\n');
});
afterEach(async () => {
  await api.close();
  await rm(folder, { recursive: true });
});

const evaluate = (...args: string[]) => run(['eval', 'q.jsonl', ...args], { url: api.url, cwd: folder });

describe('eval', () => {
  it('asks through the API and prints the report', async () => {
    const ran = await evaluate('--json', '--alpha', '0.3');
    expect(ran.code).toBe(0);
    expect(ran.json()).toMatchObject({ dataset: 'q', run: 'alpha 0.3', questions: 1, totals: { 'mrr@10': { mean: 0.5 } } });
    const bodies = api.requests.filter(({ path }) => path === '/v1/search').map(({ body }) => body);
    expect(bodies).toContainEqual({ query: 'where', alpha: 0.3, filter: { year: 1 }, limit: 100, group_by: 'document' });
  });

  it('writes its reports, and compares with one of them', async () => {
    expect((await evaluate('--out', 'before')).stdout).toContain('| MRR | 0.000');
    expect(await readFile(join(folder, 'before/report.html'), 'utf8')).toContain('<svg');
    expect(await readFile(join(folder, 'before/report.md'), 'utf8')).toContain('# q: defaults');
    ranking.reverse();
    const ran = await evaluate('--json', '--baseline', 'before/report.json');
    expect(ran.json()).toMatchObject({ comparison: { measures: { 'mrr@10': { difference: 0.5 } } } });
  });

  it('exits with 1 where the gate fails, and says why', async () => {
    await writeFile(join(folder, 'sluice.yaml'), 'sources: [{ name: a, path: . }]\neval: { gate: { "mrr@10": 0.6 } }\n');
    const ran = await evaluate('--json', '--gate');
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain('mrr@10 is 0.5000, below 0.6000 (threshold)');
    expect(ran.json()).toMatchObject({ gate: { failures: [{ measure: 'mrr@10', from: 'threshold' }] } });
    ranking.reverse();
    expect((await evaluate('--gate')).code).toBe(0);
  });

  it.each([
    [['--gate'], /eval\.gate/],
    [['--baseline', 'q.jsonl'], /is no report/],
    [['--alpha', '2'], /from 0 to 1/],
  ])('refuses %j', async (args, message) => {
    const ran = await evaluate(...args);
    expect(ran.code).toBe(2);
    expect(ran.stderr).toMatch(message);
  });

  it('suggests questions that it can read itself, and overwrites nothing', async () => {
    const ran = await run(['eval', 'new.jsonl', '--suggest', '--json'], { url: api.url, cwd: folder });
    expect(ran.json()).toMatchObject({ questions: 2 });
    expect((await run(['eval', 'new.jsonl', '--json'], { url: api.url, cwd: folder })).json()).toMatchObject({ questions: 2 });
    expect((await run(['eval', 'new.jsonl', '--suggest'], { url: api.url, cwd: folder })).code).toBe(2);
  });

  it('measures answers by proxies alone where no language model is configured', async () => {
    const ran = await evaluate('--answers', '--json', '--out', 'answers');
    expect(ran.code).toBe(0);
    expect(ran.stderr).toContain('by proxies alone');
    expect(ran.json()).toMatchObject({
      totals: { answered: { mean: 1 }, proxy_groundedness: { mean: 1 }, proxy_context_relevance: { mean: 1 } },
    });
    expect(await readFile(join(folder, 'answers', 'answers.json'), 'utf8')).toContain('Serviced in May');
    const bodies = api.requests.filter(({ path }) => path === '/v1/answer').map(({ body }) => body);
    expect(bodies).toEqual([{ query: 'where', filter: { year: 1 } }]);
  });

  it('makes questions of all pages of feedback', async () => {
    const ran = await run(['eval', 'log.jsonl', '--from-log', '--json'], { url: api.url, cwd: folder });
    expect(ran.json()).toMatchObject({ feedback: 2, questions: 2 });
    expect(await readFile(join(folder, 'log.jsonl'), 'utf8')).toContain('"question":"when"');
    expect((await run(['eval', 'log.jsonl', '--json'], { url: api.url, cwd: folder })).json()).toMatchObject({ questions: 2 });
  });

  it('refuses a data set whose documents are all missing', async () => {
    await writeFile(join(folder, 'q.jsonl'), '{"question":"where","relevant":["z.md"]}\n');
    const ran = await evaluate();
    expect(ran.code).toBe(2);
    expect(ran.stderr).toContain('none of the 1 documents');
  });
});
