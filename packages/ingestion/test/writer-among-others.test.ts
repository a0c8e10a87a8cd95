import { STEPS } from '@sluice/ingestion';
import { describe, expect, it } from 'vitest';
import { useHarnesses } from './harness.js';

const harness = useHarnesses();

describe('the writer among others', () => {
  it('ends with the newest text when two writers of one document interleave at any step', async () => {
    for (const step of ['fence', 'base', 'read', 'parsed', 'embed', 'insert', 'manifest', 'commit', 'committed', 'recheck']) {
      let meanwhile: (() => Promise<void>) | undefined;
      const h = await harness({
        onStep: async (reached) => {
          if (reached !== step || meanwhile === undefined) return;
          const run = meanwhile;
          meanwhile = undefined;
          await run();
        },
      });
      await h.write('a.md', 'old one\n\nshared');
      await h.reconcile('a.md');
      await h.write('a.md', 'middle\n\nshared');
      meanwhile = async () => {
        await h.write('a.md', 'newest\n\nshared');
        await h.reconcile('a.md');
        await h.sweep('a.md');
      };
      await h.reconcile('a.md');
      expect(await h.texts('a.md'), step).toEqual(['newest', 'shared']);
      await h.sweep('a.md');
      expect(await h.texts('a.md'), step).toEqual(['newest', 'shared']);
    }
  });

  it('leaves a whole revision and no leftovers when it dies at any step and runs again', async () => {
    for (const step of STEPS.slice(0, STEPS.indexOf('sweep'))) {
      for (const then of ['same', 'changed', 'deleted'] as const) {
        const h = await harness();
        await h.write('a.md', 'old one\n\nold two');
        await h.reconcile('a.md');
        await h.write('a.md', 'new one\n\nold two');
        h.failAt(step);
        await h.reconcile('a.md', 'change', { lastAttempt: false }).catch(() => {});
        const visible = await h.texts('a.md');
        expect(
          [
            ['old one', 'old two'],
            ['new one', 'old two'],
          ],
          step,
        ).toContainEqual(visible);
        if (then === 'changed') await h.write('a.md', 'third');
        if (then === 'deleted') await h.remove('a.md');
        await h.reconcile('a.md', 'scan');
        const expected = { same: ['new one', 'old two'], changed: ['third'], deleted: [] }[then];
        expect(await h.texts('a.md'), `${step} ${then}`).toEqual(expected);
        for (let n = 0; n < 3; n += 1) await h.sweep('a.md');
        const stored = await h.objects('a.md');
        expect(
          stored.filter((object) => object.collection === 'chunks'),
          `${step} ${then}`,
        ).toHaveLength(expected.length);
        expect(
          stored.filter((object) => object.collection === 'commits'),
          `${step} ${then}`,
        ).toHaveLength(1);
      }
    }
  });

  it('deletes nothing for a sleeping writer, and nothing is lost when fences are flushed', async () => {
    const h = await harness();
    await h.write('a.md', 'one\n\ntwo');
    await h.reconcile('a.md');
    await h.write('a.md', 'one\n\nthree');
    await h.reconcile('a.md');
    h.fences.flush();
    expect(await h.sweep('a.md')).toMatchObject({ result: 'recommitted' });
    expect(await h.texts('a.md')).toEqual(['one', 'three']);
    await h.sweep('a.md');
    expect(await h.texts('a.md')).toEqual(['one', 'three']);
    expect((await h.objects('a.md')).filter((object) => object.collection === 'chunks')).toHaveLength(2);
  });

  it('writes everything again when a kept chunk was lost', async () => {
    const h = await harness();
    await h.write('a.md', 'one\n\ntwo');
    await h.reconcile('a.md');
    const [first] = await h.chunks('a.md');
    await h.store.deleteObjects([{ collection: 'chunks', id: first?.id ?? '' }]);
    await h.write('a.md', 'one\n\nthree');
    expect(await h.reconcile('a.md')).toMatchObject({ outcome: 'indexed' });
    expect(await h.texts('a.md')).toEqual(['one', 'three']);
  });

  it('copies many attempts under one in the background', async () => {
    const h = await harness({ settings: { maxLiveAttempts: 3 } });
    const lines = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (let n = 0; n < 6; n += 1) {
      lines[n] = `${lines[n]} changed`;
      await h.write('a.md', lines.join('\n\n'));
      await h.reconcile('a.md');
    }
    expect((await h.top('a.md'))?.live.length).toBeGreaterThan(3);
    await h.sweep('a.md');
    expect(await h.top('a.md')).toMatchObject({ live: [expect.any(String)], superseded: [] });
    expect(await h.texts('a.md')).toEqual(lines);
  });
});
