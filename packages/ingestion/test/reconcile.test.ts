import { mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type ChunkStore, type CommitRecord, SluiceError } from '@sluice/core';
import { audit, createSweeper } from '@sluice/ingestion';
import { createNodeFiles } from '@sluice/sources';
import { createMemoryStore, createWordEmbedder } from '@sluice/testkit';
import { describe, expect, it } from 'vitest';
import { useHarnesses } from './harness.js';

const harness = useHarnesses();

describe('reconcile', () => {
  it('indexes a new file, keeps equal chunks at an edit and embeds only what changed', async () => {
    const h = await harness();
    await h.write('a.md', 'one\n\ntwo\n\nthree');
    expect(await h.reconcile('a.md', 'add')).toMatchObject({ outcome: 'indexed', chunks: 3, computed: 3 });
    expect(await h.reconcile('a.md')).toMatchObject({ outcome: 'unchanged' });
    await h.write('a.md', 'one\n\nzwei\n\nthree');
    expect(await h.reconcile('a.md')).toMatchObject({ outcome: 'indexed', chunks: 3, computed: 1 });
    expect(await h.texts('a.md')).toEqual(['one', 'zwei', 'three']);
  });

  it('shrinks, stays, and is re-chunked without leftovers', async () => {
    const h = await harness();
    const paragraphs = (count: number) => Array.from({ length: count }, (_, n) => `paragraph ${n}`).join('\n\n');
    for (const count of [10, 3, 3, 7]) {
      await h.write('a.md', paragraphs(count));
      await h.reconcile('a.md');
      await h.sweep('a.md');
      const stored = (await h.objects('a.md')).filter((object) => object.collection === 'chunks');
      expect(stored).toHaveLength(count);
      expect(await h.texts('a.md')).toHaveLength(count);
    }
  });

  it('gives the same text twice no embedding and no new ids', async () => {
    const h = await harness();
    await h.write('a.md', 'one\n\ntwo');
    await h.reconcile('a.md');
    const ids = (await h.chunks('a.md')).map((chunk) => chunk.id);
    const embedded = h.embedder.embedded.length;
    await h.write('a.md', 'one\n\ntwo');
    await h.reconcile('a.md');
    expect((await h.chunks('a.md')).map((chunk) => chunk.id)).toEqual(ids);
    expect(h.embedder.embedded).toHaveLength(embedded);
  });

  it.each(['link', 'folder'])(
    'hides a document whose sidecar is no file but a %s, and shows it when one takes its place',
    async (kind) => {
      const h = await harness();
      await h.write('a.md', 'one');
      await h.write('elsewhere.yaml', 'security_level: 4');
      await h.reconcile('a.md');
      const sidecar = join(h.root, 'a.md.meta.yaml');
      if (kind === 'link') await symlink(join(h.root, 'elsewhere.yaml'), sidecar);
      else await mkdir(sidecar);
      expect(await h.reconcile('a.md')).toMatchObject({ outcome: 'failed', reason: 'invalid_metadata' });
      expect(await h.top('a.md')).toMatchObject({
        status: 'failed',
        security_level: 5,
        message: expect.stringContaining('is no file'),
      });
      expect((await h.chunks('a.md')).map((chunk) => chunk.metadata.security_level)).toEqual([5]);
      await rm(sidecar, { recursive: true });
      expect(await h.reconcile('a.md')).toMatchObject({ outcome: 'indexed' });
      expect((await h.chunks('a.md')).map((chunk) => chunk.metadata.security_level)).toEqual([1]);
    },
  );

  it('deletes by a tombstone and takes the path up again', async () => {
    const h = await harness();
    await h.write('a.md', 'one');
    await h.reconcile('a.md');
    await h.remove('a.md');
    expect(await h.reconcile('a.md', 'unlink')).toEqual({ outcome: 'deleted' });
    expect(await h.texts('a.md')).toEqual([]);
    expect(await h.reconcile('a.md', 'unlink')).toMatchObject({ outcome: 'unchanged' });
    await h.sweep('a.md');
    expect((await h.objects('a.md')).map((object) => object.collection)).toEqual(['commits']);
    await h.write('a.md', 'one again');
    expect(await h.reconcile('a.md', 'add')).toMatchObject({ outcome: 'indexed' });
    expect(await h.texts('a.md')).toEqual(['one again']);
  });

  it('deletes nothing while the root is lost', async () => {
    const h = await harness();
    await h.write('a.md', 'one');
    await h.reconcile('a.md');
    await h.remove('a.md');
    h.loseRoot(true);
    expect(await h.reconcile('a.md', 'unlink')).toEqual({ outcome: 'suspended' });
    expect(await h.texts('a.md')).toEqual(['one']);
    h.loseRoot(false);
    expect(await h.reconcile('a.md', 'unlink')).toEqual({ outcome: 'deleted' });
  });

  it('finds the vectors of a renamed file, whichever end comes first', async () => {
    for (const order of [
      ['b.md', 'a.md'],
      ['a.md', 'b.md'],
    ]) {
      const h = await harness();
      await h.write('a.md', 'alpha\n\nbeta');
      await h.reconcile('a.md');
      const before = h.embedder.embedded.length;
      await h.move('a.md', 'b.md');
      for (const path of order) await h.reconcile(path);
      expect(h.embedder.embedded).toHaveLength(before);
      expect(await h.texts('b.md')).toEqual(['alpha', 'beta']);
      expect(await h.texts('a.md')).toEqual([]);
    }
  });

  it('takes a folder in a file’s place, a link and a path outside for gone', async () => {
    const h = await harness();
    await h.write('a.md', 'one');
    await h.reconcile('a.md');
    await h.remove('a.md');
    await h.write('a.md/inner.md', 'two');
    expect(await h.reconcile('a.md')).toEqual({ outcome: 'deleted' });
    expect(await h.reconcile('a.md/inner.md')).toMatchObject({ outcome: 'indexed' });
    for (const path of ['../outside.md', '/etc/passwd', 'x/../../y'])
      expect(await h.reconcile(path)).toEqual({ outcome: 'unchanged' });
  });

  it('schedules garbage collection for commits that superseded another one, not for the first', async () => {
    let listings = 0;
    const store = createMemoryStore();
    const h = await harness({
      store: {
        ...store,
        listObjects(docUuid) {
          listings += 1;
          return store.listObjects(docUuid);
        },
      },
    });
    const collector = createSweeper(h.deps, h.reconciler);
    h.deps.onSuperseded = (record) => collector.note(record);
    await h.write('a.md', 'first');
    await h.reconcile('a.md', 'add');
    await h.write('bad.md', '!corrupt');
    await h.reconcile('bad.md', 'add');
    expect(collector.waiting()).toBe(0);
    expect(listings).toBe(0);
    for (const change of ['second', undefined, 'third', '!corrupt']) {
      const path = `${change}.md`;
      await h.write(path, 'first');
      await h.reconcile(path, 'add');
      const waiting = collector.waiting();
      if (change === undefined) await h.remove(path);
      else await h.write(path, change);
      await h.reconcile(path);
      expect(collector.waiting()).toBe(waiting + 1);
    }
  });

  it('deletes what a crashed first attempt left, through the audit', async () => {
    const h = await harness();
    await h.write('a.md', 'first');
    h.failAt('inserted');
    await expect(h.reconcile('a.md', 'add', { lastAttempt: false })).rejects.toThrow('killed');
    await h.reconcile('a.md', 'add');
    const chunks = async () => (await h.objects('a.md')).filter(({ collection }) => collection === 'chunks');
    expect(await chunks()).toHaveLength(2);
    expect(h.sweeper.waiting()).toBe(0);
    const pending = async () => new Set<string>();
    const deps = { ...h.deps, reconciler: h.reconciler, sweeper: h.sweeper, pending, freeStuckKeys: async () => 0 };
    expect(await audit(deps)).toMatchObject({ swept: 1, recommitted: 0 });
    await h.sweep('a.md');
    expect(await chunks()).toHaveLength(1);
    expect(await h.texts('a.md')).toEqual(['first']);
  });

  it('leaves what a killed writer left to no job that may wait for long', async () => {
    const h = await harness();
    await h.write('a.md', 'first');
    await h.reconcile('a.md');
    await h.write('a.md', 'second');
    h.failAt('inserted');
    await expect(h.reconcile('a.md', 'change', { lastAttempt: false })).rejects.toThrow('killed');
    await h.write('a.md', 'first');
    await h.reconcile('a.md');
    expect((await h.objects('a.md')).filter(({ collection }) => collection === 'chunks')).toHaveLength(2);
    // Another worker, which knows of no commit; every document has a job.
    const sweeper = createSweeper(h.deps, h.reconciler);
    const everything = async (uuids: readonly string[]) => new Set(uuids);
    const report = await audit({
      ...h.deps,
      reconciler: h.reconciler,
      sweeper,
      pending: everything,
      freeStuckKeys: async () => 0,
    });
    expect(report).toMatchObject({ swept: 1, recommitted: 0 });
    expect(sweeper.waiting()).toBe(1);
    // Committed again, since the dead writer's fence is the later one, and then swept.
    await h.sweep('a.md');
    await h.sweep('a.md');
    expect((await h.objects('a.md')).filter(({ collection }) => collection === 'chunks')).toHaveLength(1);
  });

  it('blames a crash on the file that workers died of, and on no later one', async () => {
    const h = await harness();
    await h.write('a.md', 'good');
    await h.reconcile('a.md');
    const poison = new SluiceError('internal', 'a.md: a worker died 3 times over this document', { kind: 'permanent' });
    const fail = (unlessChangedSinceMs: number) =>
      h.reconciler.fail({ source: 'inbox', path: 'a.md', cause: 'change' }, poison, { lastAttempt: true, unlessChangedSinceMs });
    await h.write('a.md', 'deadly');
    // The disk's clock and ours are one, but a file may be a tick of the kernel older than it is.
    expect(await fail(Date.now() + 1_000)).toMatchObject({ outcome: 'failed', reason: 'internal', serving: true });
    expect(await h.texts('a.md')).toEqual(['good']);
    await h.write('a.md', 'fixed');
    expect(await fail(Date.now() - 3_600_000)).toMatchObject({ outcome: 'indexed' });
    expect(await h.texts('a.md')).toEqual(['fixed']);
    await h.remove('a.md');
    expect(await fail(Date.now() + 1_000)).toEqual({ outcome: 'deleted' });
  });

  it('keeps the last good revision when the content fails, and heals with the next change', async () => {
    const h = await harness();
    await h.write('a.md', 'good');
    await h.reconcile('a.md');
    const good = await h.top('a.md');
    await h.write('a.md', '!corrupt');
    expect(await h.reconcile('a.md')).toMatchObject({ outcome: 'failed', reason: 'corrupt', serving: true });
    expect(await h.texts('a.md')).toEqual(['good']);
    expect(await h.top('a.md')).toMatchObject({ status: 'failed', reason: 'corrupt', revision: good?.revision });
    expect(await h.reconcile('a.md', 'scan')).toMatchObject({ outcome: 'unchanged' });
    await h.sweep('a.md');
    expect(await h.texts('a.md')).toEqual(['good']);
    await h.write('a.md', 'better');
    expect(await h.reconcile('a.md')).toMatchObject({ outcome: 'indexed' });
    expect(await h.texts('a.md')).toEqual(['better']);
  });

  it('throws a transient fault until the last attempt, then records it', async () => {
    const h = await harness();
    await h.write('a.md', '!flaky');
    await expect(h.reconcile('a.md', 'add', { lastAttempt: false })).rejects.toMatchObject({ code: 'embed_failed' });
    expect(await h.top('a.md')).toBeUndefined();
    expect(await h.reconcile('a.md', 'add')).toMatchObject({ outcome: 'failed', reason: 'embed_failed', serving: false });
    expect(await h.reconcile('a.md', 'scan')).toMatchObject({ outcome: 'failed' });
  });

  it('tries a document once more whose last try met the end of an outage', async () => {
    const embedder = createWordEmbedder();
    const fault = new SluiceError('embed_failed', 'the endpoint answered 503');
    let failing = 0;
    const embed: typeof embedder.embed = (...given) => {
      failing -= 1;
      return failing >= 0 ? Promise.reject(fault) : embedder.embed(...given);
    };
    const h = await harness({ embedder: { ...embedder, embed, checkReady: async () => {} } });
    await h.write('a.md', 'text');
    failing = 1;
    expect(await h.reconcile('a.md', 'add')).toMatchObject({ outcome: 'indexed' });
    await h.write('a.md', 'other text');
    failing = 2;
    expect(await h.reconcile('a.md')).toMatchObject({ outcome: 'failed', reason: 'embed_failed', serving: true });
    expect(await h.texts('a.md')).toEqual(['text']);
  });

  it('records that the store refused this document, which goes on answering as it was; and says what it could not record', async () => {
    const memory = createMemoryStore();
    const refusal = new SluiceError('store_unavailable', 'refused: not enough memory', { kind: 'permanent' });
    let refuses: 'nothing' | 'chunks' | 'everything' = 'nothing';
    const store: ChunkStore = {
      ...memory,
      insertChunks: (chunks) => (refuses === 'nothing' ? memory.insertChunks(chunks) : Promise.reject(refusal)),
      insertRecord: (record) => (refuses === 'everything' ? Promise.reject(refusal) : memory.insertRecord(record)),
    };
    const h = await harness({ store });
    await h.write('a.md', 'old');
    await h.reconcile('a.md', 'add');
    await h.write('a.md', 'new');
    refuses = 'chunks';
    const refused = { code: 'store_unavailable', kind: 'transient' };
    await expect(h.reconcile('a.md', 'change', { lastAttempt: false })).rejects.toMatchObject({ ...refused, details: undefined });
    expect(await h.top('a.md')).toMatchObject({ status: 'indexed' });
    refuses = 'everything';
    await expect(h.reconcile('a.md')).rejects.toMatchObject({ ...refused, details: { unrecorded: true } });
    refuses = 'chunks';
    expect(await h.reconcile('a.md')).toMatchObject({ outcome: 'failed', reason: 'store_unavailable', serving: true });
    expect(await h.texts('a.md')).toEqual(['old']);
    refuses = 'nothing';
    expect(await h.reconcile('a.md', 'retry')).toMatchObject({ outcome: 'indexed' });
    expect(await h.texts('a.md')).toEqual(['new']);
  });

  it('says that a permanent failure could not be recorded, whatever the store said of it', async () => {
    const memory = createMemoryStore();
    let refuses = true;
    const refusal = new SluiceError('store_rejected', 'no');
    const store = {
      ...memory,
      insertRecord: (record: CommitRecord) => (refuses ? Promise.reject(refusal) : memory.insertRecord(record)),
    };
    const h = await harness({ store });
    const unrecorded = { code: 'store_rejected', kind: 'transient', details: { unrecorded: true } };
    const poison = new SluiceError('internal', 'workers died', { kind: 'permanent' });
    const fail = (path: string) =>
      h.reconciler.fail({ source: 'inbox', path, cause: 'change' }, poison, { unlessChangedSinceMs: Date.now() + 60_000 });
    await h.write('a.md', '!corrupt');
    await h.write('b.md', '!unsupported');
    await expect(h.reconcile('a.md', 'add', { lastAttempt: false })).rejects.toMatchObject(unrecorded);
    await expect(h.reconcile('b.md', 'add', { lastAttempt: false })).rejects.toMatchObject(unrecorded);
    await expect(fail('a.md')).rejects.toMatchObject(unrecorded);
    refuses = false;
    expect(await h.reconcile('a.md')).toMatchObject({ outcome: 'failed', reason: 'corrupt' });
    expect(await fail('b.md')).toMatchObject({ outcome: 'failed', reason: 'internal' });
  });

  it('records a skipped type without a dead letter and serves nothing of it', async () => {
    const h = await harness();
    await h.write('a.md', 'text');
    await h.reconcile('a.md');
    await h.write('a.md', '!unsupported');
    expect(await h.reconcile('a.md')).toMatchObject({ outcome: 'skipped', reason: 'unsupported_type' });
    expect(await h.texts('a.md')).toEqual([]);
    expect(await h.top('a.md')).toMatchObject({ status: 'skipped' });
  });

  it('hides the old text at once when a level rises, also when the new content fails', async () => {
    const h = await harness();
    await h.write('a.md', '---\nsecurity_level: 1\n---\n\npublic text');
    await h.reconcile('a.md');
    await h.write('a.md', '---\nsecurity_level: 4\n---\n\n!corrupt');
    const before = h.embedder.embedded.length;
    expect(await h.reconcile('a.md')).toMatchObject({ outcome: 'failed', serving: true });
    expect(await h.top('a.md')).toMatchObject({ status: 'failed', security_level: 4 });
    expect((await h.chunks('a.md')).map((chunk) => [chunk.text, chunk.metadata.security_level])).toEqual([['public text', 4]]);
    expect(h.embedder.embedded).toHaveLength(before);
  });

  it('hides the last good revision from all but the highest clearance when the level is invalid', async () => {
    const h = await harness();
    await h.write('a.md', 'plain');
    await h.reconcile('a.md');
    await h.write('a.md', '---\nsecurity_level: everyone\n---\n\nplain');
    expect(await h.reconcile('a.md')).toMatchObject({ outcome: 'failed', reason: 'invalid_metadata' });
    expect((await h.chunks('a.md')).map((chunk) => chunk.metadata.security_level)).toEqual([5]);
  });

  it('names files as documents are named, never where they lie', async () => {
    const denied = new Set<string>();
    const files = createNodeFiles();
    const guarded = <T>(work: (path: string) => Promise<T>) => {
      return async (path: string): Promise<T> => {
        if ([...denied].some((name) => path.endsWith(name)))
          throw Object.assign(new Error(`EACCES: permission denied, open '${path}'`), { code: 'EACCES' });
        return work(path);
      };
    };
    const readHead = (path: string, length: number) => guarded((allowed) => files.readHead(allowed, length))(path);
    const h = await harness({ files: { readHead, stat: guarded(files.stat) }, fields: { year: 'int' } });
    const messageOf = async (path: string) => {
      const outcome = await h.reconcile(path);
      expect(outcome).toMatchObject({ outcome: 'failed' });
      const message = (await h.top(path))?.message ?? '';
      expect(message).toContain(`inbox/${path}`);
      expect([message, 'message' in outcome ? outcome.message : ''].join()).not.toContain(h.root);
    };
    await h.write('sub/a.txt', 'words');
    await h.write('sub/a.txt.meta.yaml', 'year: [');
    await messageOf('sub/a.txt');
    await h.write('sub/b.txt', 'words');
    await h.write('sub/b.txt.meta.yaml', 'year: 2024');
    denied.add('sub/b.txt.meta.yaml');
    await messageOf('sub/b.txt');
    await h.write('c.md', 'words');
    denied.add('c.md');
    await messageOf('c.md');
  });

  it('never widens access to an old text by a new state that fails', async () => {
    const h = await harness();
    await h.write('a.md', '---\nsecurity_level: 4\nallowed_groups: [hr]\n---\n\nsecret text');
    await h.reconcile('a.md');
    await h.write('a.md', '---\nsecurity_level: 1\n---\n\n!corrupt');
    await h.reconcile('a.md');
    expect((await h.chunks('a.md'))[0]?.metadata).toMatchObject({ security_level: 4, allowed_groups: ['hr'] });
    await h.write('a.md', '---\nsecurity_level: 5\nallowed_groups: [hr, it]\n---\n\n!corrupt');
    await h.reconcile('a.md');
    expect((await h.chunks('a.md'))[0]?.metadata).toMatchObject({ security_level: 5, allowed_groups: ['hr'] });
  });

  it('keeps the access of the last good revision when a field that is not access is invalid', async () => {
    const h = await harness({ fields: { year: 'int' } });
    await h.write('a.md', '---\nyear: 2024\n---\n\nplain');
    await h.reconcile('a.md');
    await h.write('a.md', '---\nyear: soon\n---\n\nplain');
    expect(await h.reconcile('a.md')).toMatchObject({ outcome: 'failed', reason: 'invalid_metadata', serving: true });
    expect((await h.chunks('a.md'))[0]?.metadata).toMatchObject({ security_level: 1, fields: { year: 2024 } });
  });

  it('keeps undeclared front matter with the document', async () => {
    const h = await harness();
    await h.write('a.md', '---\nreviewer: someone\n---\n\nplain');
    expect(await h.reconcile('a.md')).toMatchObject({ warnings: ['undeclared_field: reviewer'] });
    expect(await h.top('a.md')).toMatchObject({ extra: { reviewer: 'someone' } });
  });

  it('rewrites metadata under one commit without embedding', async () => {
    const h = await harness({ fields: { quarter: 'text' } });
    await h.write('a.md', 'one\n\ntwo');
    await h.reconcile('a.md');
    const before = h.embedder.embedded.length;
    await h.write('a.md.meta.yaml', 'quarter: Q3\ntags: [x]\nsecurity_level: 3\n');
    expect(await h.reconcile('a.md')).toMatchObject({ outcome: 'indexed' });
    for (const chunk of await h.chunks('a.md'))
      expect(chunk.metadata).toMatchObject({ fields: { quarter: 'Q3' }, tags: ['x'], security_level: 3 });
    await h.write('a.md.meta.yaml', 'tags: []\n');
    await h.reconcile('a.md');
    for (const chunk of await h.chunks('a.md')) expect(chunk.metadata).toMatchObject({ fields: {}, tags: [], security_level: 1 });
    expect(h.embedder.embedded).toHaveLength(before);
  });

  it('applies a change of the configuration without a change on disk', async () => {
    const h = await harness();
    await h.write('a.md', 'one');
    await h.reconcile('a.md');
    h.configure({ metadata: { category: 'general', security_level: 2 } });
    expect(await h.reconcile('a.md', 'config')).toMatchObject({ outcome: 'indexed', computed: 0 });
    expect((await h.chunks('a.md'))[0]?.metadata).toMatchObject({ category: 'general', security_level: 2 });
  });

  it('keeps documents of a source that is no longer configured', async () => {
    const h = await harness();
    expect(await h.reconciler.reconcile({ source: 'other', path: 'a.md', cause: 'scan' })).toEqual({ outcome: 'unknown_source' });
  });

  it('keeps the revision when the same state is committed again, and gives a new one for another', async () => {
    const h = await harness();
    await h.write('a.md', 'one');
    await h.reconcile('a.md');
    const first = await h.top('a.md');
    await h.reconcile('a.md', 'scan', { recommit: true });
    const second = await h.top('a.md');
    expect(second?.fence).toBeGreaterThan(first?.fence ?? 0);
    expect(second?.revision).toBe(first?.revision);
    await h.write('a.md', 'two');
    await h.reconcile('a.md');
    expect((await h.top('a.md'))?.revision).not.toBe(first?.revision);
  });
});
