import { type ChunkStore, systemClock } from '@sluice/core';
import { audit, createSweeper, discardDocument } from '@sluice/ingestion';
import { createNodeFiles } from '@sluice/sources';
import { createMemoryStore, until } from '@sluice/testkit';
import { describe, expect, it } from 'vitest';
import { type Harness, useHarnesses } from './harness.js';
import { verifyHarness } from './verify-harness.js';

const harness = useHarnesses();

const repairAll = (h: Harness) => verifyHarness(h, { repair: true });

function auditOf(h: Harness) {
  const sweeper = createSweeper(h.deps, h.reconciler);
  return () =>
    audit({ ...h.deps, reconciler: h.reconciler, sweeper, pending: async () => new Set(), freeStuckKeys: async () => 0 });
}

describe('the audit', () => {
  it('has a document written again whose list of chunks was lost', async () => {
    const h = await harness();
    await h.write('a.md', 'one\n\ntwo');
    await h.reconcile('a.md');
    await h.store.deleteObjects((await h.objects('a.md')).filter(({ collection }) => collection === 'pages'));
    await expect(h.texts('a.md')).rejects.toMatchObject({ code: 'store_rejected' });
    const look = auditOf(h);
    expect(await look()).toMatchObject({ recommitted: 1 });
    expect(await h.texts('a.md')).toEqual(['one', 'two']);
    await h.sweep('a.md');
    expect(await look()).toMatchObject({ recommitted: 0, swept: 0 });
  });
});

describe('a walk that is no snapshot', () => {
  it('has nothing repaired that a second reading shows whole', async () => {
    const h = await harness();
    await h.write('a.md', 'one\n\ntwo');
    await h.reconcile('a.md');
    const before = await h.top('a.md');
    const { walkObjects } = h.store;
    h.deps.store = {
      ...h.store,
      async *walkObjects(...args) {
        for await (const group of walkObjects(...args)) yield { ...group, objects: group.objects.slice(1) };
      },
    };
    expect(await auditOf(h)()).toMatchObject({ documents: 1, recommitted: 0 });
    expect((await h.top('a.md'))?.fence).toBe(before?.fence);
  });
});

it('a sweep that takes long holds up no other', async () => {
  const h = await harness({ settings: { readerGraceMs: 0 } });
  for (const path of ['slow.md', 'other.md'])
    for (const text of ['old', 'new']) {
      await h.write(path, text);
      await h.reconcile(path);
    }
  const [slow, other] = [await h.top('slow.md'), await h.top('other.md')];
  if (slow === undefined || other === undefined) throw new Error('no commit');
  let release = () => {};
  const blocked = new Promise<void>((resolve) => {
    release = resolve;
  });
  let isListing = false;
  const store: ChunkStore = {
    ...h.store,
    async listObjects(uuid) {
      if (uuid === slow.doc_uuid) {
        isListing = true;
        await blocked;
      }
      return h.store.listObjects(uuid);
    },
  };
  const sweeper = createSweeper({ ...h.deps, store, clock: systemClock }, h.reconciler);
  sweeper.start();
  sweeper.note(slow);
  await until(() => expect(isListing).toBe(true));
  sweeper.note(other);
  const chunksOf = async (path: string) => (await h.objects(path)).filter(({ collection }) => collection === 'chunks').length;
  await until(async () => expect(await chunksOf('other.md')).toBe(1));
  release();
  await until(async () => expect(await chunksOf('slow.md')).toBe(1));
  await sweeper.stop();
});

describe('a commit that is listed, and that nobody is shown', () => {
  /** As Weaviate may have one once it was killed while it was written. */
  async function half(text: { before?: string; after: string }) {
    const memory = createMemoryStore();
    const unseen = new Set<string>();
    const recordsOf: ChunkStore['recordsOf'] = async (uuids) =>
      new Map([...(await memory.recordsOf(uuids))].map(([uuid, records]) => [uuid, records.filter(({ id }) => !unseen.has(id))]));
    const h = await harness({ store: { ...memory, recordsOf } });
    for (const version of [text.before, text.after]) {
      if (version === undefined) continue;
      await h.write('a.md', version);
      await h.reconcile('a.md');
    }
    const top = await h.top('a.md');
    if (top === undefined) throw new Error('nothing was committed');
    unseen.add(top.id);
    return { h, top };
  }

  it.each([
    ['of a new document', { after: 'one' }, 'missing_document'],
    ['of an edit', { before: 'zero', after: 'one' }, 'stale_document'],
    ['of an edit that ends the text', { before: 'zero', after: '' }, 'stale_document'],
  ])('%s is found by verify and repaired by the audit', async (_, text, kind) => {
    const { h, top } = await half(text);
    expect((await verifyHarness(h, { repair: false })).report.by_kind).toMatchObject({ [kind]: 1 });
    await auditOf(h)();
    expect(await h.texts('a.md')).toEqual(text.after === '' ? [] : [text.after]);
    expect((await h.top('a.md'))?.fence).toBeGreaterThan(top.fence);
    // It lies between the new commit and its base: a further one lets it go.
    for (const _ of [1, 2]) await h.sweep('a.md');
    expect((await h.objects('a.md')).map(({ id }) => id)).not.toContain(top.id);
    expect((await verifyHarness(h, { repair: false })).report.differences).toBe(0);
    expect(await auditOf(h)()).toMatchObject({ recommitted: 0, swept: 0 });
  });
});

describe('verify', () => {
  it('sees other bytes under the same stat, and has them read', async () => {
    const stopped = { mtimeNs: '1000000001', ctimeNs: '1000000001' };
    const files = createNodeFiles();
    const stat = async (path: string) => {
      const real = await files.stat(path);
      return real && { ...real, ...stopped };
    };
    const h = await harness({ files: { stat } });
    await h.write('a.md', 'old');
    await h.reconcile('a.md');
    await h.write('a.md', 'new');
    expect(await h.reconcile('a.md')).toMatchObject({ outcome: 'unchanged' });
    const { report, asked } = await repairAll(h);
    expect(report.by_kind).toMatchObject({ stale_document: 1 });
    expect(asked).toEqual(['rebuild']);
    expect(await h.texts('a.md')).toEqual(['new']);
    expect((await repairAll(h)).report.differences).toBe(0);
  });

  it('takes a failure that was discarded for what it should be, until its file changes', async () => {
    const h = await harness();
    await h.write('a.md', '!corrupt');
    await h.reconcile('a.md');
    expect(await discardDocument(h.deps, { source: 'inbox', path: 'a.md' })).toBe(true);
    h.configure({ metadata: { category: 'other' } });
    expect((await repairAll(h)).report.differences).toBe(0);
    await h.write('a.md', 'fixed');
    const { report, asked } = await repairAll(h);
    expect(report.by_kind).toMatchObject({ stale_document: 1 });
    expect(asked).toEqual(['recommit']);
    expect(await h.texts('a.md')).toEqual(['fixed']);
  });

  it('leaves documents as they are that a folder keeps from being looked at', async () => {
    const files = createNodeFiles();
    let shut = false;
    const stat = (path: string) =>
      shut && path.includes('/sub/') ? Promise.reject(Object.assign(new Error('EACCES'), { code: 'EACCES' })) : files.stat(path);
    const h = await harness({ files: { stat } });
    await h.write('sub/a.md', 'text');
    await h.reconcile('sub/a.md');
    shut = true;
    const { report, asked } = await repairAll(h);
    expect(report.differences).toBe(0);
    expect(asked).toEqual([]);
    expect(await h.texts('sub/a.md')).toEqual(['text']);
  });
});

it('a changed model file under the same name leaves no old vector: neither kept, nor found by its text', async () => {
  const h = await harness();
  await h.write('a.md', 'one\n\ntwo');
  await h.reconcile('a.md');
  h.changeModel('words@2');
  expect((await verifyHarness(h, { repair: true })).report.by_kind.stale_document).toBe(1);
  const texts = await h.chunks('a.md');
  expect(h.embedder.embedded).toHaveLength(4);
  expect((await verifyHarness(h, { repair: false })).report.differences).toBe(0);
  // A second file with the same text finds the new vectors, not the old ones.
  await h.write('b.md', 'one\n\ntwo');
  expect(await h.reconcile('b.md')).toMatchObject({ computed: 0, reused: 2 });
  expect(new Set(texts.map((chunk) => chunk.text_hash))).toEqual(
    new Set((await h.chunks('b.md')).map((chunk) => chunk.text_hash)),
  );
});

describe('a document of many attempts', () => {
  const edits = async (h: Harness) => {
    for (const last of ['two', 'three', 'four', 'five']) {
      await h.write('a.md', `one\n\n${last}`);
      await h.reconcile('a.md');
    }
    // The first chunk is of the first attempt, and each edit left one superseded id.
    expect((await h.top('a.md'))?.live.length).toBeGreaterThan(1);
  };
  const limited = () => harness({ settings: { maxLiveAttempts: 1 } });

  it('becomes one of one attempt without its file being read', async () => {
    const h = await limited();
    await edits(h);
    const reads = h.reader.reads.length;
    await h.sweep('a.md');
    expect((await h.top('a.md'))?.live).toHaveLength(1);
    expect(await h.texts('a.md')).toEqual(['one', 'five']);
    expect(h.reader.reads).toHaveLength(reads);
  });

  it('does so though its file fails, and is then left alone', async () => {
    const h = await limited();
    await edits(h);
    await h.write('a.md', '!corrupt');
    expect(await h.reconcile('a.md')).toMatchObject({ outcome: 'failed', serving: true });
    const reads = h.reader.reads.length;
    for (let n = 0; n < 3; n += 1) await h.sweep('a.md');
    expect(await h.top('a.md')).toMatchObject({ status: 'failed', reason: 'corrupt' });
    expect((await h.top('a.md'))?.live).toHaveLength(1);
    expect(await h.texts('a.md')).toEqual(['one', 'five']);
    expect(h.reader.reads).toHaveLength(reads);
    expect(await auditOf(h)()).toMatchObject({ recommitted: 0, swept: 0 });
  });

  it('does so though its source has left the configuration', async () => {
    const h = await limited();
    await edits(h);
    h.deps.source = () => undefined;
    for (let n = 0; n < 3; n += 1) await h.sweep('a.md');
    expect((await h.top('a.md'))?.live).toHaveLength(1);
    expect(await h.texts('a.md')).toEqual(['one', 'five']);
    expect(await auditOf(h)()).toMatchObject({ recommitted: 0, swept: 0 });
  });
});

describe('a document that lost a chunk is not served in part', () => {
  const lose = async (h: Harness) => {
    await h.write('a.md', 'one\n\ntwo');
    await h.reconcile('a.md');
    const [chunk] = await h.chunks('a.md');
    await h.store.deleteObjects([{ collection: 'chunks', id: chunk?.id ?? '' }]);
  };

  it('while its file fails', async () => {
    const h = await harness();
    await lose(h);
    await h.write('a.md', '!corrupt');
    expect(await h.reconcile('a.md')).toMatchObject({ outcome: 'failed', serving: false });
    expect(await h.top('a.md')).toMatchObject({ status: 'failed', chunks: 0, live: [] });
  });

  it('when its file had failed before, once the audit has seen it', async () => {
    const h = await harness();
    await h.write('a.md', 'one\n\ntwo');
    await h.reconcile('a.md');
    await h.write('a.md', '!corrupt');
    expect(await h.reconcile('a.md')).toMatchObject({ outcome: 'failed', serving: true });
    const [chunk] = await h.chunks('a.md');
    await h.store.deleteObjects([{ collection: 'chunks', id: chunk?.id ?? '' }]);
    const look = auditOf(h);
    expect(await look()).toMatchObject({ recommitted: 1 });
    expect(await h.top('a.md')).toMatchObject({ status: 'failed', chunks: 0 });
    expect(await look()).toMatchObject({ recommitted: 0 });
  });

  it('while its source is not configured, and is whole again once it is', async () => {
    const h = await harness();
    await lose(h);
    const { source } = h.deps;
    h.deps.source = () => undefined;
    await auditOf(h)();
    expect(await h.top('a.md')).toMatchObject({ status: 'failed', reason: 'internal', chunks: 0 });
    expect(await auditOf(h)()).toMatchObject({ recommitted: 0 });
    h.deps.source = source;
    await h.reconcile('a.md', 'scan');
    expect(await h.texts('a.md')).toEqual(['one', 'two']);
  });
});
