import { writeFileSync } from 'node:fs';
import { appendFile, rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CommitRecord, type Fence, objectUuid } from '@sluice/core';
import { describe, expect, it } from 'vitest';
import { type Harness, useArmedHarnesses } from './harness.js';

const harness = useArmedHarnesses();

describe('a file that is being saved while a job runs', () => {
  it.each([
    ['emptied and written again', '', 'base'],
    ['emptied after the commit and written again', '', 'commit'],
    ['removed and written again', undefined, 'base'],
    ['removed after the commit and written again', undefined, 'commit'],
  ])('%s is never taken for what it is for a moment', async (_, moment, step) => {
    const h = await harness({ stabilityMs: 100 });
    await h.write('a.md', 'one');
    await h.reconcile('a.md');
    h.deps.clock = { ...h.clock, sleep: (ms) => sleep(ms) };
    await h.write('a.md', 'two');
    h.at(step, async () => {
      if (moment === undefined) await h.remove('a.md');
      else await h.write('a.md', moment);
      setTimeout(() => writeFileSync(join(h.root, 'a.md'), 'three'), 20);
    });
    await h.reconcile('a.md');
    expect(await h.texts('a.md')).toEqual(['three']);
    expect((await h.recordsOf('a.md')).map((record) => record.status).filter((status) => status !== 'indexed')).toEqual([]);
  });

  it('keeps the level of a sidecar that a new document lost while it was waited for', async () => {
    const h = await harness({ stabilityMs: 200 });
    await h.write('a.md', 'one');
    await h.write('a.md.meta.yaml', 'security_level: 4\n');
    let isFirst = true;
    h.deps.clock = {
      ...h.clock,
      async sleep(ms) {
        if (isFirst) {
          isFirst = false;
          await h.remove('a.md.meta.yaml');
          setTimeout(() => writeFileSync(join(h.root, 'a.md.meta.yaml'), 'security_level: 4\n'), ms + 300);
        }
        await sleep(ms);
      },
    };
    await h.reconcile('a.md');
    expect((await h.recordsOf('a.md')).map((record) => record.security_level)).toEqual([4]);
  });

  it.each([
    ['emptied', '', 'fence'],
    ['emptied after the commit', '', 'commit'],
    ['removed before the job', undefined, undefined],
    ['removed', undefined, 'fence'],
    ['removed after the commit', undefined, 'commit'],
  ])('keeps the level of a sidecar that is %s and written again', async (_, moment, step) => {
    const h = await harness({ stabilityMs: 100 });
    await h.write('a.md', 'one');
    await h.write('a.md.meta.yaml', 'security_level: 4\n');
    await h.reconcile('a.md');
    h.deps.clock = { ...h.clock, sleep: (ms) => sleep(ms) };
    await h.write('a.md', 'two');
    const save = async () => {
      if (moment === undefined) await h.remove('a.md.meta.yaml');
      else await h.write('a.md.meta.yaml', moment);
      setTimeout(() => writeFileSync(join(h.root, 'a.md.meta.yaml'), 'security_level: 4\ncategory: mail\n'), 20);
    };
    if (step === undefined) await save();
    else h.at(step, save);
    await h.reconcile('a.md');
    expect(await h.top('a.md')).toMatchObject({ metadata: { category: 'mail' } });
    expect(new Set((await h.recordsOf('a.md')).map((record) => record.security_level))).toEqual(new Set([4]));
  });
});

describe('a failure is recorded of the bytes that failed', () => {
  it.each(['!corrupt', '!unsupported'])(
    'and a file fixed or removed while its failure is recorded is looked at again: %s',
    async (bad) => {
      for (const step of ['fence', 'base', 'commit', 'committed']) {
        for (const fixed of ['fixed', '', undefined]) {
          const h = await harness();
          await h.write('a.md', 'good');
          await h.reconcile('a.md');
          await h.write('a.md', bad);
          h.at('read', async () => {
            h.at(step, async () => {
              if (fixed === undefined) await h.remove('a.md');
              else await h.write('a.md', fixed);
            });
          });
          await h.reconcile('a.md');
          expect(await h.texts('a.md'), step).toEqual(fixed === 'fixed' ? ['fixed'] : []);
          expect(await h.top('a.md'), step).toMatchObject({
            status: fixed === undefined ? 'deleted' : fixed === '' ? 'empty' : 'indexed',
          });
        }
      }
    },
  );
});

describe('a commit that landed below the top', () => {
  /** The record of a writer whose fence and base are older than the top's, with the level it read from a newer disk. */
  async function landBelow(h: Harness, fence: Fence, base: CommitRecord | undefined, level: 1 | 4): Promise<void> {
    const top = await h.top('a.md');
    if (top === undefined) throw new Error('there is no top commit');
    const record: CommitRecord = {
      ...top,
      id: top.id.replace(/^(.{24}).*/, '$1000000000000'),
      fence: fence.value,
      attempt: fence.attempt,
      base_fence: base?.fence ?? 0,
      security_level: level,
    };
    await h.store.insertRecord(record);
  }

  it('is not swept before a later commit names the level that it raised', async () => {
    const h = await harness();
    await h.write('a.md', 'old');
    await h.reconcile('a.md');
    const base = await h.top('a.md');
    await h.write('a.md', 'new');
    const sleeper = await h.fences.take(base?.doc_uuid ?? '');
    await h.reconcile('a.md');
    await landBelow(h, sleeper, base, 4);
    const top = await h.top('a.md');
    expect(top?.base_fence).toBe(base?.fence);

    expect(await h.sweep('a.md')).toEqual({ result: 'recommitted' });
    expect(await h.top('a.md')).toMatchObject({ base_fence: top?.fence });
    await h.sweep('a.md');
    expect(await h.recordsOf('a.md')).toHaveLength(1);
    expect(await h.texts('a.md')).toEqual(['new']);
  });
});

it('a PDF that was emptied keeps its text, and one that never had any is empty', async () => {
  const h = await harness();
  await h.write('a.pdf', 'one');
  await h.reconcile('a.pdf');
  await h.write('a.pdf', '');
  expect(await h.reconcile('a.pdf')).toMatchObject({ outcome: 'failed', reason: 'corrupt', serving: true });
  expect(await h.texts('a.pdf')).toEqual(['one']);
  await h.write('a.pdf', 'two');
  await h.reconcile('a.pdf');
  expect(await h.texts('a.pdf')).toEqual(['two']);
  await h.write('b.pdf', '');
  expect((await h.reconcile('b.pdf')).outcome).toBe('empty');
});

describe('a document whose root is away for a moment', () => {
  it('is not deleted when the root is back before the commit', async () => {
    const h = await harness();
    await h.write('a.md', 'one');
    await h.reconcile('a.md');
    const aside = join(h.root, '..', `${basename(h.root)}.md`);
    await rename(join(h.root, 'a.md'), aside);
    h.at('commit', () => rename(aside, join(h.root, 'a.md')));
    await h.reconcile('a.md');
    expect((await h.recordsOf('a.md')).map((record) => record.status)).not.toContain('deleted');
    expect(await h.texts('a.md')).toEqual(['one']);
  });

  it('is not deleted when the root goes before the commit', async () => {
    const h = await harness();
    await h.write('a.md', 'one');
    await h.reconcile('a.md');
    await h.remove('a.md');
    h.at('commit', async () => h.loseRoot(true));
    expect((await h.reconcile('a.md')).outcome).toBe('suspended');
    expect(await h.texts('a.md')).toEqual(['one']);
    h.loseRoot(false);
    expect((await h.reconcile('a.md')).outcome).toBe('deleted');
  });
});

it('a file that went before it was ever committed is not brought up by an attempt that slept', async () => {
  const h = await harness();
  await h.write('a.md', 'text');
  h.at('commit', async () => {
    await h.remove('a.md');
    // Its job finds nothing to delete.
    expect(await h.reconcile('a.md', 'unlink')).toMatchObject({ outcome: 'unchanged' });
  });
  expect(await h.reconcile('a.md', 'add')).toMatchObject({ outcome: 'deleted' });
  expect((await h.recordsOf('a.md')).map(({ status }) => status)).toEqual(['deleted']);
  await h.sweep('a.md');
  expect((await h.objects('a.md')).filter(({ collection }) => collection !== 'commits')).toEqual([]);
});

it('a file that went while it was committed does not stay though the job was given away meanwhile', async () => {
  const h = await harness();
  await h.write('a.md', 'text');
  const given = new AbortController();
  h.at('committed', async () => {
    await h.remove('a.md');
    given.abort(new Error('the job was given to another worker'));
  });
  await h.reconcile('a.md', 'add', { signal: given.signal });
  expect(await h.top('a.md')).toMatchObject({ status: 'deleted' });
});

it('sweeps what was born above the top’s fence before the fences went back', async () => {
  const h = await harness();
  await h.write('a.md', 'one');
  await h.reconcile('a.md');
  const top = await h.top('a.md');
  const [chunk] = await h.store.readChunks(
    (await h.chunks('a.md')).map((one) => one.id),
    { vectors: true },
  );
  if (top === undefined || chunk?.vector === undefined) throw new Error('nothing was stored');
  const orphan = '00000000-0000-4000-8000-000000000000';
  await h.store.insertChunks([{ ...chunk, vector: chunk.vector, id: orphan, rev: orphan, fence: top.fence + 1e9 }]);
  for (let n = 0; n < 3; n += 1) await h.sweep('a.md');
  expect((await h.objects('a.md')).filter((object) => object.collection === 'chunks')).toHaveLength(1);
  expect(await h.texts('a.md')).toEqual(['one']);
});

it.each([
  ['deleted', []],
  ['replaced', ['new']],
])('sweeps what an attempt that died left of a %s document, also when its source is no longer configured', async (how, texts) => {
  const h = await harness();
  await h.write('a.md', 'old');
  await h.reconcile('a.md');
  if (how === 'deleted') await h.remove('a.md');
  else await h.write('a.md', 'new');
  await h.reconcile('a.md');
  const before = await h.top('a.md');
  await h.fences.take(before?.doc_uuid ?? '');
  h.deps.source = () => undefined;
  expect((await h.objects('a.md')).length).toBeGreaterThan(1 + 2 * texts.length);
  for (let n = 0; n < 3; n += 1) await h.sweep('a.md');
  expect((await h.objects('a.md')).map(({ collection }) => collection).sort()).toEqual(
    how === 'deleted' ? ['commits'] : ['chunks', 'commits', 'pages'],
  );
  expect(await h.texts('a.md')).toEqual(texts);
  const after = await h.top('a.md');
  expect(after?.fence).toBeGreaterThan(before?.fence ?? 0);
  expect(after).toMatchObject({ status: before?.status, revision: before?.revision, stat: before?.stat, source: before?.source });
});

it('what is of no commit at all is swept as well when its source is no longer configured', async () => {
  const h = await harness();
  await h.write('a.md', 'old');
  await h.reconcile('a.md');
  await h.store.deleteObjects((await h.objects('a.md')).filter(({ collection }) => collection === 'commits'));
  h.deps.source = () => undefined;
  await h.reconcile('a.md', 'scan', { recommit: true });
  await h.sweep('a.md');
  expect((await h.objects('a.md')).map(({ collection }) => collection)).toEqual(['commits']);
});

describe('a raise of the level over a base that cannot be copied', () => {
  const raised = '---\nsecurity_level: 3\n---\n\none\n\ntwo';

  it.each(['chunks', 'pages'] as const)('is written again where %s of the base are lost', async (collection) => {
    const h = await harness();
    await h.write('a.md', 'one\n\ntwo');
    await h.reconcile('a.md');
    await h.store.deleteObjects((await h.objects('a.md')).filter((object) => object.collection === collection).slice(0, 1));
    await h.write('a.md', raised);
    expect(await h.reconcile('a.md')).toMatchObject({ outcome: 'indexed', chunks: 2 });
    expect(await h.top('a.md')).toMatchObject({ security_level: 3, chunks: 2 });
    expect(await h.texts('a.md')).toEqual(['one', 'two']);
  });

  it.each(['one', '!corrupt'])('is no failure where another attempt replaced and swept the base meanwhile: %s', async (text) => {
    const h = await harness();
    await h.write('a.md', 'one\n\ntwo');
    await h.reconcile('a.md');
    await h.write('a.md', raised);
    h.at('base', async () => {
      await h.write('a.md', text);
      await h.reconcile('a.md');
      await h.write('a.md', raised);
      await h.reconcile('a.md');
      await h.sweep('a.md');
    });
    await h.reconcile('a.md');
    expect(await h.top('a.md')).toMatchObject({ status: 'indexed', security_level: 3 });
    expect(await h.texts('a.md')).toEqual(['one', 'two']);
  });
});

describe('a file that changes whenever it is read', () => {
  /** Has the file changed by the writer whenever the reader has read it. */
  async function writtenMeanwhile(change: (h: Harness, n: number) => Promise<void>) {
    const h = await harness();
    await h.write('a.log', 'line 0');
    const { reader } = h.deps;
    let n = 0;
    h.deps.reader = {
      ...reader,
      async read(...args) {
        const result = await reader.read(...args);
        n += 1;
        await change(h, n);
        return result;
      },
    };
    return { h, stop: () => (h.deps.reader = reader) };
  }
  const lines = (n: number) => Array.from({ length: n + 1 }, (_, i) => `line ${i}`);

  it('is indexed as far as it was read if it only grows, and waits its turn again', async () => {
    const { h, stop } = await writtenMeanwhile((one, n) => appendFile(join(one.root, 'a.log'), `\n\nline ${n}`));
    // What was read is compared as a stream: a log of gigabytes would fill the worker's memory.
    h.deps.files = { ...h.deps.files, readHead: () => Promise.reject(new Error('held in memory')) };
    await expect(h.reconcile('a.log')).rejects.toMatchObject({ code: 'not_stable', kind: 'transient' });
    expect(h.reader.reads).toHaveLength(2);
    expect(await h.texts('a.log')).toEqual(lines(1));
    await expect(h.reconcile('a.log')).rejects.toMatchObject({ code: 'not_stable' });
    expect(await h.texts('a.log')).toEqual(lines(3));
    stop();
    expect(await h.reconcile('a.log')).toMatchObject({ outcome: 'indexed' });
    expect(await h.texts('a.log')).toEqual(lines(4));
  });

  it('is not indexed if it is written again, and waits its turn', async () => {
    const { h, stop } = await writtenMeanwhile((one, n) => one.write('a.log', String(n).repeat(40 + n)));
    await expect(h.reconcile('a.log')).rejects.toMatchObject({ code: 'not_stable', kind: 'transient' });
    expect(h.reader.reads).toHaveLength(2);
    expect(await h.top('a.log')).toBeUndefined();
    stop();
    expect(await h.reconcile('a.log')).toMatchObject({ outcome: 'indexed' });
  });
});

it('a status record without a commit goes when its file goes', async () => {
  const h = await harness();
  await h.write('a.md', '!corrupt');
  await h.reconcile('a.md');
  const [record] = await h.recordsOf('a.md');
  if (record === undefined) throw new Error('no record');
  await h.store.deleteObjects([{ collection: 'commits', id: record.id }]);
  const { value: fence, attempt } = await h.fences.take(record.doc_uuid);
  const id = objectUuid(record.doc_uuid, 'status', attempt);
  await h.store.insertRecord({ ...record, kind: 'status', fence, attempt, id });
  await h.remove('a.md');
  expect(await h.reconcile('a.md', 'unlink')).toMatchObject({ outcome: 'deleted' });
  for (let n = 0; n < 3; n += 1) await h.sweep('a.md');
  expect((await h.recordsOf('a.md')).map(({ status }) => status)).toEqual(['deleted']);
});
