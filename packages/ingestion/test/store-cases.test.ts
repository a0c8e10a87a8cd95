import { type Caller, docUuid, type SearchHit, SluiceError } from '@sluice/core';
import { audit, createReconciler, createSweeper } from '@sluice/ingestion';
import { accessFilter, compileFilter, fieldCatalog, mayAccess } from '@sluice/metadata';
import { describe, expect, it } from 'vitest';
import type { Harness } from './harness.js';
import { useRealStores } from './real-store.js';

/** Cases of replacing, on the real Weaviate with real fences: what other systems lose, double or mix. */

const { harness, declare } = useRealStores('Cases');

const reader = (clearance: Caller['clearance']): Caller => ({ role: 'reader', clearance, groups: [], name: 'test' });

async function search(
  h: Harness,
  query: string,
  options: { as?: Caller; filter?: unknown; limit?: number } = {},
): Promise<SearchHit[]> {
  const caller = options.as ?? reader(5);
  const own = options.filter === undefined ? [] : [compileFilter(options.filter, fieldCatalog({}))];
  return h.store.search({
    mode: 'keyword',
    query,
    alpha: 0,
    limit: options.limit ?? 1000,
    filter: { op: 'and', of: [accessFilter(caller), ...own] },
    mayAccess: (commit) => mayAccess(caller, commit),
  });
}

const paragraphs = (count: number, word: string) =>
  Array.from({ length: count }, (_, n) => `${word} paragraph number ${n}`).join('\n\n');
const chunksOf = async (h: Harness, path: string) =>
  (await h.objects(path)).filter((object) => object.collection === 'chunks').length;

describe('a replace that fails in the middle', () => {
  it.each([
    ['the embedder, at chunk 180', 'embed'],
    ['the store, at a later batch', 'insert'],
    ['the process, between insert and commit', 'commit'],
  ] as const)('keeps all of the old and shows none of the new: %s', async (_name, step) => {
    let reached = 0;
    let armed = false;
    const h = await harness({
      onStep: (at) => {
        if (!armed || at !== step) return;
        reached += 1;
        if (reached < (step === 'commit' ? 1 : 3)) return;
        armed = false;
        throw new SluiceError('internal', `stopped at ${step}`);
      },
    });
    await h.write('a.md', paragraphs(250, 'oldword'));
    await h.reconcile('a.md');
    expect(await search(h, 'oldword')).toHaveLength(250);
    await h.write('a.md', paragraphs(250, 'newword'));
    armed = true;
    await expect(h.reconcile('a.md', 'change', { lastAttempt: false })).rejects.toThrow(`stopped at ${step}`);
    expect(await search(h, 'oldword')).toHaveLength(250);
    expect(await search(h, 'newword')).toHaveLength(0);
    await h.reconcile('a.md');
    expect(await search(h, 'oldword')).toHaveLength(0);
    expect(await search(h, 'newword')).toHaveLength(250);
    while ((await h.sweep('a.md')).result !== 'clean');
    expect(await chunksOf(h, 'a.md')).toBe(250);
  });

  it('shows nothing of a first ingest that fails half-way', async () => {
    const h = await harness();
    await h.write('a.md', paragraphs(150, 'newword'));
    h.failAt('manifest');
    await h.reconcile('a.md', 'add', { lastAttempt: false }).catch(() => {});
    expect(await search(h, 'newword')).toHaveLength(0);
    await h.reconcile('a.md');
    expect(await search(h, 'newword')).toHaveLength(150);
  });
});

describe('documents larger than a batch', () => {
  it('keeps 250 of 250 whatever changes', async () => {
    const h = await harness();
    await h.write('a.md', paragraphs(250, 'word'));
    await h.reconcile('a.md');
    expect(await search(h, 'word')).toHaveLength(250);
    const embedded = h.embedder.embedded.length;
    await h.reconcile('a.md');
    await h.write('a.md', `changed first\n\n${paragraphs(250, 'word').split('\n\n').slice(1).join('\n\n')}`);
    await h.reconcile('a.md');
    expect(h.embedder.embedded.length - embedded).toBe(1);
    expect(await search(h, 'word')).toHaveLength(249);
    expect(await h.texts('a.md')).toHaveLength(250);
    while ((await h.sweep('a.md')).result !== 'clean');
    expect(await chunksOf(h, 'a.md')).toBe(250);
  });
});

describe('several writers on one document', () => {
  it('ends at each quiet point with exactly one version, and at last with that of the disk', async () => {
    const h = await harness();
    // Each writer is a process of its own would be: its own reconciler, only store, fences and disk are shared.
    const writers = Array.from({ length: 8 }, () => createReconciler(h.deps));
    const sweeper = createSweeper(h.deps, h.reconciler);
    const version = { 4: paragraphs(4, 'first'), 6: paragraphs(6, 'second') };
    for (let round = 0; round < 50; round += 1) {
      const count = round === 49 ? 6 : (round * 7) % 3 === 0 ? 4 : 6;
      await h.write('a.md', version[count]);
      await Promise.all(
        writers.map((writer) =>
          writer.reconcile({ source: 'inbox', path: 'a.md', cause: 'change' }, { lastAttempt: false }).catch((error: unknown) => {
            // A writer that is overtaken again and again goes back to the queue; that is no fault.
            if (!(error instanceof SluiceError) || error.code !== 'outdated_attempt') throw error;
          }),
        ),
      );
      await h.reconcile('a.md');
      const hits = await search(h, 'paragraph');
      expect(hits, `round ${round}`).toHaveLength(count);
      expect(new Set(hits.map((hit) => hit.chunk.text)).size).toBe(count);
    }
    h.clock.advance(20_000);
    const uuid = docUuid('inbox/a.md');
    await expect
      .poll(
        async () => {
          h.clock.advance(20_000);
          return (await sweeper.sweep(uuid)).result;
        },
        { timeout: 60_000 },
      )
      .toBe('clean');
    expect(await h.texts('a.md')).toEqual(version[6].split('\n\n'));
    expect(await chunksOf(h, 'a.md')).toBe(6);
  }, 300_000);
});

describe('equal content in two documents', () => {
  it('gives each its own result, level and tags, whatever becomes of the other', async () => {
    const h = await harness();
    const body = 'twinword in both';
    const write = async (path: string, level: number, tag: string) => {
      await h.write(path, body);
      await h.write(`${path}.meta.yaml`, `security_level: ${level}\ntags: [${tag}]\n`);
      await h.reconcile(path);
    };
    await write('x.md', 1, 'p');
    await write('y.md', 5, 'q');
    const found = async (as: Caller, filter?: unknown) =>
      (await search(h, 'twinword', { as, ...(filter === undefined ? {} : { filter }) }))
        .map((hit) => hit.chunk.source_path)
        .sort();
    expect(await found(reader(5))).toEqual(['x.md', 'y.md']);
    expect(await found(reader(1))).toEqual(['x.md']);
    expect(await found(reader(5), { tags: 'q' })).toEqual(['y.md']);
    await h.remove('x.md');
    await h.reconcile('x.md', 'unlink');
    while (!['clean'].includes((await h.sweep('x.md')).result));
    expect(await found(reader(5))).toEqual(['y.md']);
    expect(await found(reader(1))).toEqual([]);
    await write('x.md', 1, 'p');
    await h.remove('y.md');
    await h.reconcile('y.md', 'unlink');
    expect(await found(reader(5))).toEqual(['x.md']);
  });
});

describe('metadata that change without the content', () => {
  it('takes effect at once on every chunk, and embeds nothing', async () => {
    const h = await harness();
    await h.write('plan.md', paragraphs(5, 'planword'));
    await h.write('plan.md.meta.yaml', 'security_level: 1\ntags: [a, b]\n');
    await h.reconcile('plan.md');
    expect(await search(h, 'planword', { as: reader(1), filter: { tags: 'a' } })).toHaveLength(5);
    const embedded = h.embedder.embedded.length;
    await h.write('plan.md.meta.yaml', 'security_level: 5\ntags: []\n');
    await h.reconcile('plan.md');
    expect(await search(h, 'planword', { as: reader(1) })).toHaveLength(0);
    expect(await search(h, 'planword', { filter: { tags: 'a' } })).toHaveLength(0);
    expect(await search(h, 'planword', { filter: { tags: { $exists: false } } })).toHaveLength(5);
    await h.write('other/plan.md', paragraphs(5, 'planword'));
    await h.write('other/plan.md.meta.yaml', 'security_level: 5\ntags: []\n');
    await h.remove('plan.md');
    await h.remove('plan.md.meta.yaml');
    await h.reconcile('other/plan.md');
    await h.reconcile('plan.md');
    expect((await search(h, 'planword', { filter: { source_path: 'other/plan.md' } })).length).toBe(5);
    expect(await search(h, 'planword')).toHaveLength(5);
    expect(h.embedder.embedded).toHaveLength(embedded);
  });

  it('does not show a document of another path that ends alike', async () => {
    const h = await harness();
    for (const path of ['readme.md', 'a/readme.md', 'b/readme.md', 'readme.md.md', 'Readme.md']) {
      await h.write(path, `sameword ${path}`);
      await h.reconcile(path);
    }
    await h.write('a/readme.md', 'sameword changed');
    await h.reconcile('a/readme.md');
    await h.remove('readme.md');
    await h.reconcile('readme.md');
    expect((await search(h, 'sameword')).map((hit) => hit.chunk.source_path).sort()).toEqual([
      'Readme.md',
      'a/readme.md',
      'b/readme.md',
      'readme.md.md',
    ]);
  });
});

describe('a declared field that changes from int to number', () => {
  const filter = { year: { $gte: 2020 } };
  const found = async (h: Harness) => {
    const catalog = fieldCatalog({ year: 'number' });
    const where = { op: 'and' as const, of: [accessFilter(reader(5)), compileFilter(filter, catalog)] };
    const hits = await h.deps.store.search({
      mode: 'keyword',
      query: 'word',
      alpha: 0,
      limit: 10,
      filter: where,
      mayAccess: () => true,
    });
    return hits.map((hit) => hit.chunk.text).sort();
  };
  const indexed = async () => {
    const h = await harness({ fields: { year: 'int' } });
    await h.write('a.md', 'word one\n\nword two');
    await h.write('a.md.meta.yaml', 'year: 2021\n');
    await h.reconcile('a.md');
    await declare(h, { year: 'number' });
    return h;
  };

  it('leaves no kept chunk without the new property', async () => {
    const h = await indexed();
    expect(await found(h)).toEqual([]);
    expect(await h.reconcile('a.md', 'config')).toMatchObject({ outcome: 'indexed', computed: 0 });
    expect(await found(h)).toEqual(['word one', 'word two']);
  });

  it('leaves none where the file fails meanwhile', async () => {
    const h = await indexed();
    await h.write('a.md', '!corrupt');
    expect(await h.reconcile('a.md', 'config')).toMatchObject({ outcome: 'failed', serving: true });
    expect(await found(h)).toEqual(['word one', 'word two']);
  });

  it.each(['configured', 'not configured'])('is found and fixed by the audit; its source is %s', async (how) => {
    const h = await indexed();
    if (how !== 'configured') h.deps.source = () => undefined;
    const reconciler = createReconciler(h.deps);
    const look = () =>
      audit({
        ...h.deps,
        reconciler,
        sweeper: createSweeper(h.deps, reconciler),
        pending: async () => new Set(),
        freeStuckKeys: async () => 0,
      });
    expect(await look()).toMatchObject({ recommitted: 1 });
    expect(await found(h)).toEqual(['word one', 'word two']);
    expect(await look()).toMatchObject({ recommitted: 0 });
  });
});
