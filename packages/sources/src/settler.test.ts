import type { Clock, FileStat, Files } from '@sluice/core';
import { describe, expect, it } from 'vitest';
import { createNodeFiles } from './node-files.js';
import { createSettler, type Settled } from './settler.js';

/** A clock that moves when somebody sleeps, and files whose stat a test writes. */
function makeWorld() {
  let now = 0;
  const stats = new Map<string, FileStat>();
  /** What happens at which time. */
  const events: { at: number; run(): void }[] = [];
  let looks = 0;
  const advance = (to: number) => {
    for (const event of events.filter(({ at }) => at <= to).sort((a, b) => a.at - b.at)) {
      events.splice(events.indexOf(event), 1);
      now = Math.max(now, event.at);
      event.run();
    }
    now = Math.max(now, to);
  };
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    async sleep(ms, signal) {
      const end = now + ms;
      while (now < end) {
        // Goes on in a later turn, and no further than the next event, which may wake the sleeper.
        await new Promise((resolve) => setImmediate(resolve));
        if (signal?.aborted) throw new Error('aborted');
        advance(Math.min(end, ...events.map(({ at }) => at)));
      }
    },
  };
  const files: Files = {
    ...createNodeFiles(),
    async stat(path) {
      looks++;
      const stat = stats.get(path);
      return stat === undefined ? undefined : { ...stat, kind: 'file' };
    },
  };
  const write = (path: string, size: number) => stats.set(path, { size, mtimeNs: String(now), ctimeNs: String(now), inode: '1' });
  return { clock, files, stats, events, write, advance, looks: () => looks, now: () => now };
}

describe('settler', () => {
  function makeSettler(world: ReturnType<typeof makeWorld>) {
    const settled: (Settled & { at: number })[] = [];
    const errors: string[] = [];
    const settler = createSettler({
      files: world.files,
      clock: world.clock,
      stabilityMs: 300,
      onSettled: (items) => settled.push(...items.map((item) => ({ ...item, at: world.now() }))),
      onError: (key) => errors.push(key),
    });
    return { settler, settled, errors };
  }

  it('settles each file by itself, however many wait', async () => {
    const world = makeWorld();
    const { settler, settled } = makeSettler(world);
    for (let n = 0; n < 300; n++) {
      world.write(`/${n}`, n);
      settler.watch(String(n), `/${n}`);
    }
    world.events.push({ at: 200, run: () => world.write('/7', 777) });
    await settler.idle();
    expect(settled.length).toBe(300);
    expect(settled.find(({ key }) => key === '7')).toMatchObject({ stat: { size: 777 } });
    expect(settled.find(({ key }) => key === '7')?.at).toBeGreaterThanOrEqual(500);
    expect(settled.find(({ key }) => key === '8')?.at).toBeLessThanOrEqual(310);
  });

  it.each(['mtimeNs', 'ctimeNs', 'inode'])('begins again at a change of %s alone', async (part) => {
    const world = makeWorld();
    const { settler, settled } = makeSettler(world);
    world.write('/a', 1);
    const changed: FileStat = { size: 1, mtimeNs: '0', ctimeNs: '0', inode: '1', [part]: '7' };
    world.events.push({ at: 290, run: () => world.stats.set('/a', changed) });
    settler.watch('a', '/a');
    await settler.idle();
    expect(settled).toMatchObject([{ stat: changed }]);
    expect(settled[0]?.at).toBeGreaterThanOrEqual(590);
  });

  it('reports a file that is gone at once', async () => {
    const world = makeWorld();
    const { settler, settled } = makeSettler(world);
    settler.watch('a', '/a');
    await settler.idle();
    expect(settled).toEqual([{ key: 'a', stat: undefined, at: 0 }]);
  });

  it('a touch during the last look is not lost', async () => {
    const world = makeWorld();
    const { settler, settled } = makeSettler(world);
    world.write('/a', 1);
    const stat = world.files.stat;
    world.files.stat = async (path) => {
      const found = await stat(path);
      // The change comes after the file was asked, and before the answer is in.
      if (world.now() >= 300 && found?.size === 1) {
        world.write(path, 2);
        settler.watch('a', '/a');
      }
      return found;
    };
    settler.watch('a', '/a');
    await settler.idle();
    expect(settled.map((item) => item.stat?.size)).toEqual([2]);
  });

  it('looks seldom at a file that is written without a pause', async () => {
    const world = makeWorld();
    const { settler, settled } = makeSettler(world);
    world.write('/a', 0);
    for (let at = 1; at <= 1000; at++) {
      world.events.push({
        at,
        run() {
          world.write('/a', at);
          settler.watch('a', '/a');
        },
      });
    }
    settler.watch('a', '/a');
    await settler.idle();
    expect(settled).toMatchObject([{ key: 'a', stat: { size: 1000 } }]);
    expect(world.looks()).toBeLessThan(70);
  });

  it('reports a file that cannot be asked, and stops when told to', async () => {
    const world = makeWorld();
    const { settler, settled, errors } = makeSettler(world);
    world.files.stat = async () => {
      throw new Error('EIO');
    };
    settler.watch('a', '/a');
    await settler.idle();
    expect(errors).toEqual(['a']);
    settler.stop();
    settler.watch('b', '/b');
    await settler.idle();
    expect(settled).toEqual([]);
    expect(settler.size).toBe(0);
  });
});
