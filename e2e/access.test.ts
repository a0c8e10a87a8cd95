import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makePdf } from './support/make-pdf.js';
import { createSluice, type Sluice } from './support/sluice.js';

const CONFIG = `
sources:
  - name: inbox
    path: FOLDER
    metadata: { security_level: 1 }
    fields: { quarter: text }
`;

/** A document with front matter; the word "cobalt" stands in the strict one alone. */
function markdown(frontMatter: Record<string, unknown>, text: string): string {
  const lines = Object.entries(frontMatter).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return ['---', ...lines, '---', '', text, ''].join('\n');
}

describe('readers with keys', () => {
  let sluice: Sluice;
  let admin: string;
  let two: string;

  const ask = async (path: string, key: string, body?: object) => {
    const response = await fetch(`${sluice.url}${path}`, {
      headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  };
  const find = async (key: string, body: object): Promise<string[]> => {
    const { status, text } = await ask('/v1/search', key, { limit: 50, group_by: 'document', ...body });
    expect(status, text).toBe(200);
    const { results } = JSON.parse(text) as { results: { doc_id: string }[] };
    return results.map(({ doc_id }) => doc_id).sort();
  };
  const makeKey = async (...args: string[]) => {
    const made = await sluice.json<{ key: string }>('key', 'create', ...args);
    return made.key;
  };

  beforeAll(async () => {
    sluice = await createSluice({ config: CONFIG });
    await sluice.up();
    const report = { doc_type: 'report', quarter: 'Q3' };
    await sluice.write('q3.md', markdown(report, 'Revenue of the third quarter rose.'));
    await sluice.write('q1.md', markdown({ ...report, quarter: 'Q1' }, 'Revenue of the first quarter fell.'));
    await sluice.write('strict.md', markdown({ ...report, security_level: 4 }, 'Revenue of the cobalt project is secret.'));
    await sluice.write('plan.md', markdown({ doc_type: 'plan', quarter: 'Q3' }, 'Revenue is planned for the third quarter.'));
    await sluice.write('audit.md', markdown({ doc_type: 'report', date: '2023-10-01' }, 'The security audit found two gaps.'));
    await sluice.write(
      'roadmap.md',
      markdown({ doc_type: 'plan', created_at: '2024-01-15' }, 'The payments roadmap has three steps.'),
    );
    admin = await makeKey('--name', 'admin', '--clearance', '5', '--role', 'operator');
    sluice.env.SLUICE_API_KEY = admin;
    two = await makeKey('--name', 'two', '--clearance', '2');
    await sluice.settle();
  });
  afterAll(() => sluice.close());

  it('find by doc_type and quarter what matches, within their clearance, in every mode', async () => {
    for (const mode of ['hybrid', 'dense', 'keyword']) {
      const filter = { doc_type: 'report', quarter: 'Q3' };
      expect(await find(two, { query: 'revenue', mode, filter })).toEqual(['inbox/q3.md']);
      expect(await find(admin, { query: 'revenue', mode, filter })).toEqual(['inbox/q3.md', 'inbox/strict.md']);
      // Whatever they say of access themselves.
      const wide = { $or: [{ security_level: { $gte: 0 } }, { doc_id: 'inbox/strict.md' }] };
      expect(await find(two, { query: 'cobalt revenue', mode, filter: wide })).not.toContain('inbox/strict.md');
    }
  });

  it('meet nothing of a stricter document on any route', async () => {
    const listed = JSON.parse((await ask('/v1/documents', admin)).text) as { documents: { doc_id: string; id: string }[] };
    const strict = listed.documents.find(({ doc_id }) => doc_id === 'inbox/strict.md');
    expect(listed.documents).toHaveLength(6);
    for (const name of ['inbox%2Fstrict.md', strict?.id ?? '']) {
      for (const rest of ['', '/chunks', '/text', '/text?start=0&end=5']) {
        expect((await ask(`/v1/documents/${name}${rest}`, admin)).status).toBe(200);
        const { status, text } = await ask(`/v1/documents/${name}${rest}`, two);
        expect(status, rest).toBe(404);
        expect(text).not.toContain('cobalt');
      }
    }
    const seen = await ask('/v1/documents?limit=1000', two);
    expect((JSON.parse(seen.text) as { documents: unknown[] }).documents).toHaveLength(5);
    expect((await ask('/v1/sources', two)).text).toContain('"indexed":5');
    expect((await ask('/v1/sources', admin)).text).toContain('"indexed":6');
    for (const path of ['/ops/api/status', '/ops/api/dead-letters', '/ops/api/why?path=/', '/metrics', '/ops/queues']) {
      expect((await ask(path, two)).status, path).toBe(403);
    }
    // An operator of that clearance is one of its readers.
    const low = await makeKey('--name', 'low', '--clearance', '2', '--role', 'operator');
    expect((await ask('/metrics', low)).text).toContain('sluice_documents{source="inbox",status="indexed"} 5\n');
    expect((await ask('/metrics', admin)).text).toContain('sluice_documents{source="inbox",status="indexed"} 6\n');
    const why = await ask(`/ops/api/why?path=${encodeURIComponent(`${sluice.folder}/strict.md`)}`, low);
    expect(JSON.parse(why.text)).toMatchObject({ note: expect.stringContaining('above your clearance') });
    expect(why.text).not.toContain('"document"');
  });

  it('find by year of creation that year alone', async () => {
    for (const [filter, found] of [
      [{ created_at: '2023' }, 'inbox/audit.md'],
      [{ created_at: '2024' }, 'inbox/roadmap.md'],
      [{ created_ts: { $gte: 1_672_531_200, $lt: 1_704_067_200 } }, 'inbox/audit.md'],
      [{ created_ts: { $gte: 1_704_067_200, $lt: 1_735_689_600 } }, 'inbox/roadmap.md'],
    ]) {
      expect(await find(two, { query: 'audit roadmap', filter })).toEqual([found]);
    }
  });

  it('lose a document whose level rises, also when its new content cannot be read', async () => {
    await sluice.write('dam.pdf', await makePdf(['The dam at Orrey holds ninety million litres.']));
    await sluice.settle();
    expect(await find(two, { query: 'dam at Orrey', mode: 'keyword' })).toEqual(['inbox/dam.pdf']);
    await sluice.write('dam.pdf.meta.yaml', 'security_level: 4\n');
    await sluice.write('dam.pdf', '%PDF-1.7 no more');
    await sluice.settle();
    expect(await find(two, { query: 'dam at Orrey', mode: 'keyword' })).toEqual([]);
    expect((await ask('/v1/documents/inbox%2Fdam.pdf/text', two)).status).toBe(404);
    expect(await find(admin, { query: 'dam at Orrey', mode: 'keyword' })).toEqual(['inbox/dam.pdf']);
    const { text } = await ask('/v1/documents/inbox%2Fdam.pdf', admin);
    expect(JSON.parse(text)).toMatchObject({
      status: 'failed',
      reason: 'corrupt',
      serving: true,
      metadata: { security_level: 4 },
    });
    expect(text).not.toContain(sluice.folder);
    const { dead_letters } = await sluice.json<{ dead_letters: { doc_id: string }[] }>('dlq', 'list');
    expect(dead_letters).toMatchObject([{ doc_id: 'inbox/dam.pdf', code: 'corrupt' }]);
  });

  it('and a file that is gone is ingested away', async () => {
    await sluice.remove('q1.md');
    const ran = await sluice.cli('ingest', `${sluice.folder}/q1.md`, '--wait', '--json');
    // The watcher may have been quicker than the command.
    if (ran.code === 0) expect(JSON.parse(ran.stdout)).toEqual({ documents: [], deleted: ['inbox/q1.md'] });
    else expect(JSON.parse(ran.stdout)).toMatchObject({ error: { code: 'invalid_request' } });
    await sluice.settle();
    expect(await find(admin, { query: 'revenue' })).not.toContain('inbox/q1.md');
  });
});
