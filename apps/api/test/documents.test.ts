import { docUuid } from '@sluice/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWorld, type World } from './world.js';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.close());

const get = async (url: string) => {
  const response = await world.app.inject({ method: 'GET', url });
  return { status: response.statusCode, body: response.json() };
};
const at = (docId: string, rest = '') => `/v1/documents/${encodeURIComponent(docId)}${rest}`;

describe('GET /v1/documents', () => {
  it('lists every document once over pages, queued ones among them', async () => {
    const expected: string[] = [];
    for (let n = 0; n < 23; n += 1) {
      await world.put({ docId: `inbox/${n}.md`, text: 'words' });
      expected.push(`inbox/${n}.md`);
    }
    for (let n = 0; n < 9; n += 1) {
      await world.queue.queue.add({ source: 'inbox', path: `new-${n}.md`, cause: 'add' }, 'bulk');
      expected.push(`inbox/new-${n}.md`);
    }
    const found: string[] = [];
    let cursor = '';
    for (let page = 0; page < 20; page += 1) {
      const { status, body } = await get(`/v1/documents?limit=5${cursor}`);
      expect(status).toBe(200);
      expect(body.documents.length).toBeLessThanOrEqual(5);
      found.push(...body.documents.map((document: { doc_id: string }) => document.doc_id));
      if (body.next_cursor === undefined) break;
      cursor = `&cursor=${body.next_cursor}`;
    }
    expect(found.sort()).toEqual(expected.sort());
  });

  it('filters by metadata, as searches do', async () => {
    await world.put({ docId: 'inbox/a.md', text: 'words', metadata: { doc_type: 'report', tags: ['x', 'y'] } });
    await world.put({ docId: 'inbox/b.md', text: 'words', metadata: { doc_type: 'plan', tags: ['x'] } });
    await world.put({ docId: 'inbox/c.md', text: 'words', metadata: { doc_type: 'report', tags: ['x'], security_level: 4 } });
    await world.queue.queue.add({ source: 'inbox', path: 'new.md', cause: 'add' }, 'bulk');
    const list = (filter: unknown, more = '') => get(`/v1/documents?filter=${encodeURIComponent(JSON.stringify(filter))}${more}`);
    const ids = async (filter: unknown, more = '') =>
      (await list(filter, more)).body.documents.map((document: { doc_id: string }) => document.doc_id).sort();
    expect(await ids({ doc_type: 'report' })).toEqual(['inbox/a.md']);
    expect(await ids({ tags: 'x' })).toEqual(['inbox/a.md', 'inbox/b.md']);
    expect(await ids({ tags: 'x' }, '&doc_id=inbox%2Fb.md')).toEqual(['inbox/b.md']);
    expect(await ids({ source_path: 'new.md' })).toEqual(['inbox/new.md']);
    expect(await ids({ security_level: { $gte: 4 } })).toEqual([]);
    for (const filter of [{ nope: 1 }, { kind: 'text' }, 1])
      expect(await list(filter)).toMatchObject({ status: 400, body: { code: 'invalid_filter' } });
    expect((await get('/v1/documents?filter={')).body).toMatchObject({ status: 400, code: 'invalid_request' });
  });

  it('filters by status and source', async () => {
    await world.put({ docId: 'inbox/a.md', text: 'words' });
    await world.put({ docId: 'inbox/b.pdf' });
    await world.put({ docId: 'inbox/c.pdf', record: { status: 'failed', reason: 'corrupt', message: 'c.pdf is damaged' } });
    await world.put({ docId: 'other/d.md', text: 'words' });
    await world.queue.queue.add({ source: 'inbox', path: 'e.md', cause: 'add' }, 'bulk');
    await world.queue.queue.add({ source: 'inbox', path: 'a.md', cause: 'change' }, 'bulk');
    const ids = async (query: string) =>
      (await get(`/v1/documents${query}`)).body.documents.map((document: { doc_id: string }) => document.doc_id).sort();
    expect(await ids('?status=indexed')).toEqual(['other/d.md']);
    expect(await ids('?status=empty')).toEqual(['inbox/b.pdf']);
    expect(await ids('?status=failed')).toEqual(['inbox/c.pdf']);
    expect(await ids('?status=pending')).toEqual(['inbox/a.md', 'inbox/e.md']);
    expect(await ids('?status=skipped')).toEqual([]);
    expect(await ids('?source=other')).toEqual(['other/d.md']);
    expect(await ids('?source=inbox&status=pending')).toEqual(['inbox/a.md', 'inbox/e.md']);
    expect(await ids('?source=nowhere')).toEqual([]);
  });

  it('hides what is above the caller, queued and failed documents too', async () => {
    await world.put({ docId: 'inbox/secret.md', text: 'words', metadata: { security_level: 4 } });
    await world.put({ docId: 'inbox/group.md', text: 'words', metadata: { allowed_groups: ['staff'] } });
    // The source `notes` is level 3 by configuration.
    await world.queue.queue.add({ source: 'notes', path: 'n.md', cause: 'add' }, 'bulk');
    await world.put({ docId: 'inbox/open.md', text: 'words' });
    const list = async () =>
      (await get('/v1/documents')).body.documents.map((document: { doc_id: string }) => document.doc_id).sort();
    expect(await list()).toEqual(['inbox/open.md']);
    expect((await get(at('inbox/secret.md'))).status).toBe(404);
    expect((await get(at('notes/n.md'))).status).toBe(404);
    expect((await get(at('inbox/secret.md', '/text'))).status).toBe(404);
    expect((await get(at('inbox/group.md', '/chunks'))).status).toBe(404);
    world.as({ clearance: 4, groups: ['staff'] });
    expect(await list()).toEqual(['inbox/group.md', 'inbox/open.md', 'inbox/secret.md', 'notes/n.md']);
  });

  it('hides a queued file that is strict by its own metadata alone until it has a record', async () => {
    world.deps.accessOfNewFile = async (_source, path) => ({ security_level: path === 'strict.md' ? 4 : 1 });
    for (const path of ['open.md', 'strict.md']) await world.queue.queue.add({ source: 'inbox', path, cause: 'add' }, 'bulk');
    const list = async (query: string) =>
      (await get(`/v1/documents${query}`)).body.documents.map((document: { doc_id: string }) => document.doc_id).sort();
    for (const query of ['', '?status=pending']) expect(await list(query)).toEqual(['inbox/open.md']);
    expect((await get(at('inbox/open.md'))).status).toBe(200);
    expect((await get(at('inbox/strict.md'))).status).toBe(404);
    world.as({ clearance: 4 });
    expect(await list('')).toEqual(['inbox/open.md', 'inbox/strict.md']);
    expect((await get(at('inbox/strict.md'))).status).toBe(200);
  });

  it('asks clearance for what landed between a commit and its base too', async () => {
    const base = await world.put({ docId: 'inbox/a.md', text: 'old', fence: 1_000 });
    await world.put({ docId: 'inbox/a.md', text: 'stricter', fence: 2_000, metadata: { security_level: 3 }, base });
    await world.put({ docId: 'inbox/a.md', text: 'late', fence: 3_000, base });
    expect((await get(at('inbox/a.md'))).status).toBe(404);
    world.as({ clearance: 3 });
    expect((await get(at('inbox/a.md'))).status).toBe(200);
  });

  it('shows what is stored while Redis is away, and says so', async () => {
    await world.put({ docId: 'inbox/a.md', text: 'words' });
    world.queue.state.broken = true;
    const { status, body } = await get('/v1/documents');
    expect(status).toBe(200);
    expect(body.documents).toHaveLength(1);
    expect(body.degraded).toEqual(['queue_unavailable']);
    expect((await get(at('inbox/a.md'))).body.status).toBe('indexed');
  });

  it.each(['?status=nope', '?limit=0', '?limit=1001', '?limit=x', '?cursor=../..', '?nope=1', '?status=indexed&status=failed'])(
    'refuses %s',
    async (query) => {
      const { status, body } = await get(`/v1/documents${query}`);
      expect(status).toBe(400);
      expect(body.code).toBe('invalid_request');
    },
  );
});

describe('GET /v1/documents/{doc_id}', () => {
  it.each([
    'inbox/a.md',
    'inbox/with space/ü ñ 中文.md',
    'inbox/100% sure?.md',
    'inbox/#1 plan & more+.md',
    'inbox/%2F%25.md',
    'inbox/a"b\'c\\d.md',
    `inbox/${'long/'.repeat(400)}x.md`,
  ])('finds %s by its percent-encoded doc_id and by its id', async (docId) => {
    await world.put({ docId, text: 'words' });
    const byName = await get(at(docId));
    expect(byName.status).toBe(200);
    expect(byName.body).toMatchObject({ doc_id: docId, id: docUuid(docId), status: 'indexed', serving: true, chunks: 1 });
    expect((await get(`/v1/documents/${docUuid(docId)}`)).body).toEqual(byName.body);
    expect((await get(`/v1/documents/${docUuid(docId).toUpperCase()}`)).body).toEqual(byName.body);
  });

  it('tells a failed document that still serves its old revision', async () => {
    const base = await world.put({ docId: 'inbox/a.pdf', text: 'words' });
    const { id: _id, fence: _fence, attempt: _attempt, ...state } = base;
    await world.put({
      docId: 'inbox/a.pdf',
      base,
      record: {
        status: 'failed',
        reason: 'corrupt',
        message: 'a.pdf is damaged',
        live: state.live,
        chunks: state.chunks,
        pages: state.pages,
        revision: state.revision,
      },
    });
    expect((await get(at('inbox/a.pdf'))).body).toMatchObject({
      status: 'failed',
      reason: 'corrupt',
      message: 'a.pdf is damaged',
      serving: true,
      revision: base.revision,
    });
    expect((await get(at('inbox/a.pdf', '/text'))).body.text).toBe('words');
  });

  it('is pending while a job waits, with no reason of an earlier failure', async () => {
    await world.put({ docId: 'inbox/a.pdf', record: { status: 'failed', reason: 'corrupt' } });
    await world.queue.queue.add({ source: 'inbox', path: 'a.pdf', cause: 'retry' }, 'interactive');
    const { body } = await get(at('inbox/a.pdf'));
    expect(body.status).toBe('pending');
    expect(body.reason).toBeUndefined();
  });

  it('answers 404 for what is unknown or deleted', async () => {
    await world.put({ docId: 'inbox/gone.md', record: { status: 'deleted' } });
    for (const docId of ['inbox/gone.md', 'inbox/never.md', 'nothing', docUuid('inbox/never.md')]) {
      const { status, body } = await get(at(docId));
      expect(status).toBe(404);
      expect(body.code).toBe('not_found');
    }
  });
});

describe('GET /v1/documents/{doc_id}/chunks', () => {
  it('gives the chunks in order, each a slice of the text', async () => {
    const text = `${Array.from({ length: 25 }, (_, n) => `Paragraph ${n}.`).join('\n\n')}\n`;
    await world.put({ docId: 'inbox/a.md', text });
    const chunks: { text: string; start: number; end: number; index: number }[] = [];
    let cursor = '';
    do {
      const { body } = await get(at('inbox/a.md', `/chunks?limit=10${cursor}`));
      chunks.push(...body.chunks);
      cursor = body.next_cursor === undefined ? '' : `&cursor=${body.next_cursor}`;
    } while (cursor !== '');
    expect(chunks.map((chunk) => chunk.index)).toEqual(Array.from({ length: 25 }, (_, n) => n));
    for (const chunk of chunks) expect(text.slice(chunk.start, chunk.end)).toBe(chunk.text);
  });

  it('goes on within a revision, and says so when another one is served', async () => {
    const text = (word: string) => Array.from({ length: 5 }, (_, n) => `${word} ${n}.`).join('\n\n');
    const old = await world.put({ docId: 'inbox/a.md', text: text('Old') });
    const { body } = await get(at('inbox/a.md', '/chunks?limit=2'));
    const next = `/chunks?limit=2&cursor=${body.next_cursor}`;
    expect((await get(at('inbox/a.md', next))).status).toBe(200);
    await world.put({ docId: 'inbox/a.md', text: text('New'), base: old });
    const { revision } = (await get(at('inbox/a.md', '/chunks'))).body;
    expect(revision).not.toBe(body.revision);
    for (const query of [next, `${next}&revision=${revision}`])
      expect(await get(at('inbox/a.md', query))).toMatchObject({ status: 409, body: { code: 'revision_outdated', revision } });
  });

  it('lists dropped facts instead when asked', async () => {
    await world.put({ docId: 'inbox/a.md', text: 'words' });
    const { body } = await get(at('inbox/a.md', '/chunks?dropped=true'));
    expect(body.dropped).toEqual([]);
    expect(body.chunks).toBeUndefined();
  });

  it.each(['?limit=0', '?cursor=x', '?cursor=-1', '?dropped=maybe', '?nope=1'])('refuses %s', async (query) => {
    await world.put({ docId: 'inbox/a.md', text: 'words' });
    expect((await get(at('inbox/a.md', `/chunks${query}`))).status).toBe(400);
  });
});

describe('GET /v1/documents/{doc_id}/text', () => {
  const text = '\uFEFF  First 😀 line.\n\n\n\tSecond.\n\nThird\n';

  it('gives the text of any span, white space and all', async () => {
    await world.put({ docId: 'inbox/a.md', text });
    for (let start = 0; start <= text.length; start += 3) {
      for (let end = start; end <= text.length; end += 4) {
        const { body } = await get(at('inbox/a.md', `/text?start=${start}&end=${end}`));
        expect(body.text).toBe(text.slice(start, end));
      }
    }
    expect((await get(at('inbox/a.md', '/text'))).body).toMatchObject({ text, start: 0, end: text.length, length: text.length });
    expect((await get(at('inbox/a.md', '/text?start=5000'))).body.text).toBe('');
  });

  it('answers an old revision with 409 and the current one, never with other text', async () => {
    const old = await world.put({ docId: 'inbox/a.md', text: 'old text' });
    const now = await world.put({ docId: 'inbox/a.md', text: 'new text', base: old });
    expect((await get(at('inbox/a.md', `/text?revision=${now.revision}`))).body.text).toBe('new text');
    const { status, body } = await get(at('inbox/a.md', `/text?revision=${old.revision}&start=0&end=3`));
    expect(status).toBe(409);
    expect(body).toMatchObject({ code: 'revision_outdated', revision: now.revision });
  });

  it.each(['?start=-1', '?start=x', '?end=1.5', '?start=5&end=2', '?revision=', '?nope=1'])('refuses %s', async (query) => {
    await world.put({ docId: 'inbox/a.md', text });
    const { status, body } = await get(at('inbox/a.md', `/text${query}`));
    expect(status).toBe(400);
    expect(body.code).toBe('invalid_request');
  });
});
