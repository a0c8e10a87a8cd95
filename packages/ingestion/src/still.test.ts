import type { FileStat } from '@sluice/core';
import { expect, it } from 'vitest';
import { createLookWhenStill, type LookWhenStill, type StillLook } from './still.js';

const policy = { configHash: '', fingerprint: () => '' };
const START_MS = 1_000_000;
const FINE = '1000000000123';

type Stamps = Pick<FileStat, 'mtimeNs' | 'ctimeNs'> & { size?: number };
const stamped = (ns: string): Stamps => ({ mtimeNs: ns, ctimeNs: ns });

/** What stands where, by path, at a time, ms. */
type Disk = (ms: number) => Record<string, Stamps | undefined>;

/** One look after the other at /in/notes/a.md, the first at a time after START_MS; tells what was seen and how long each look took, ms. */
async function look(disk: Disk, afterMs: number, looks: ((before: Awaited<ReturnType<LookWhenStill>>[]) => StillLook)[]) {
  let now = START_MS + afterMs;
  const clock = {
    now: () => now,
    monotonic: () => now,
    sleep: async (ms: number) => {
      now += ms;
    },
  };
  const files = {
    async stat(path: string): Promise<FileStat | undefined> {
      const stamps = disk(now - START_MS)[path];
      const kind = path.endsWith('.md') || path.endsWith('.yaml') ? 'file' : 'directory';
      return stamps && ({ kind, size: 1, inode: '1', device: '1', ...stamps } as FileStat); // the members that count
    },
    realpath: async (path: string) => path,
  };
  const source = { name: 'inbox', root: '/in', stabilityMs: 300, accepts: async () => true, mayDelete: async () => true };
  // Only what is looked at here is given.
  const deps = { files, clock, policy: { of: () => policy } } as unknown as Parameters<typeof createLookWhenStill>[0];
  const lookWhenStill = createLookWhenStill(deps, source, 'notes/a.md');
  const seen: Awaited<ReturnType<LookWhenStill>>[] = [];
  const tookMs: number[] = [];
  for (const options of looks) {
    const began = now;
    seen.push(await lookWhenStill(options(seen)));
    tookMs.push(now - began);
  }
  return { kinds: seen.map((state) => state.kind), tookMs };
}

const FILE = '/in/notes/a.md';
const SIDECAR = '/in/notes/a.md.meta.yaml';
const once = [() => ({})];
const twice = [() => ({}), ([before]: Awaited<ReturnType<LookWhenStill>>[]) => ({ before })];

it.each([
  ['the stability time where stamps are fine', { [FILE]: stamped(FINE) }, 200],
  ['until a second write would show where stamps are whole seconds', { [FILE]: stamped('1000000000000') }, 1900],
  [
    'no longer for a copy whose mtime alone is coarse, since it was set',
    { [FILE]: { ...stamped(FINE), mtimeNs: '5000000000' } },
    200,
  ],
  ['longer for a file that was just emptied', { [FILE]: { ...stamped(FINE), size: 0 } }, 2900],
  ['not for an old file', { [FILE]: stamped('1000000123') }, 0],
  ['for its sidecar too', { [FILE]: stamped('1000000123'), [SIDECAR]: stamped(FINE) }, 200],
  ['for a sidecar with coarse stamps', { [FILE]: stamped('1000000123'), [SIDECAR]: stamped('1000000000000') }, 1900],
])('waits %s', async (_, disk, expectedMs) => {
  expect(await look(() => disk, 100, once)).toEqual({ kinds: ['file'], tookMs: [expectedMs] });
});

it('waits again for a file that changed between two looks, and not for one that did not', async () => {
  let ns = FINE;
  const looks = (then: string) => [
    () => ({}),
    ([before]: Awaited<ReturnType<LookWhenStill>>[]) => {
      ns = then;
      return { before };
    },
  ];
  const disk: Disk = () => ({ [FILE]: stamped(ns) });
  expect(await look(disk, 1000, looks('1000900000123'))).toEqual({ kinds: ['file', 'file'], tookMs: [0, 200] });
  ns = FINE;
  expect(await look(disk, 1000, looks(FINE))).toEqual({ kinds: ['file', 'file'], tookMs: [0, 0] });
  // Nor for one with a stamp of another machine's clock, ahead of ours, which can't tell its age.
  ns = '9000000000123';
  expect(await look(disk, 1000, looks(ns))).toEqual({ kinds: ['file', 'file'], tookMs: [300, 0] });
});

it('takes a path for gone once its folder was still for a second', async () => {
  const folder =
    (ns: string): Disk =>
    () => ({ '/in/notes': stamped(ns), '/in': stamped('5000000123') });
  expect(await look(folder(FINE), 100, once)).toEqual({ kinds: ['gone'], tookMs: [900] });
  expect(await look(folder('5000000123'), 100, once)).toEqual({ kinds: ['gone'], tookMs: [0] });
  // Of a folder that went with it the one above tells.
  expect(await look(() => ({ '/in': stamped(FINE) }), 100, once)).toEqual({ kinds: ['gone'], tookMs: [900] });
  expect(await look(() => ({}), 100, once)).toEqual({ kinds: ['gone'], tookMs: [0] });
});

it('looks once more at what is gone, however busy its folder is', async () => {
  let n = 0;
  const busy: Disk = (ms) => ({ '/in/notes': stamped(`${START_MS + ms}00000${n++ % 10}`) });
  const { kinds, tookMs } = await look(busy, 100, once);
  expect(kinds).toEqual(['gone']);
  expect(tookMs[0]).toBeLessThanOrEqual(1000);
});

it('does not wait a second time for what was known to be gone', async () => {
  const disk: Disk = () => ({ '/in/notes': stamped(FINE) });
  expect(await look(disk, 100, [() => ({ knownGone: true })])).toEqual({ kinds: ['gone'], tookMs: [0] });
  expect(await look(disk, 100, twice)).toEqual({ kinds: ['gone', 'gone'], tookMs: [900, 0] });
});

it('sees the file that an editor puts back, once it is written', async () => {
  // Removed at 0 ms, written again from 700 to 800 ms.
  const disk: Disk = (ms) => ({
    '/in/notes': stamped(ms < 700 ? FINE : '1000700000123'),
    ...(ms < 700 ? {} : { [FILE]: stamped(ms < 800 ? '1000700000123' : '1000800000123') }),
  });
  const { kinds, tookMs } = await look(disk, 100, once);
  expect(kinds).toEqual(['file']);
  expect(tookMs[0]).toBeGreaterThanOrEqual(1000);
});

it('waits for one that goes while it is waited for to be still', async () => {
  const disk: Disk = (ms) => ({
    '/in/notes': stamped(ms < 200 ? FINE : '1000200000123'),
    [FILE]: ms < 200 ? stamped(FINE) : undefined,
  });
  expect(await look(disk, 100, once)).toEqual({ kinds: ['gone'], tookMs: [1100] });
});

it('allows for a folder that tells whole seconds', async () => {
  const disk: Disk = () => ({ '/in/notes': stamped('1000000000000') });
  expect(await look(disk, 1100, once)).toEqual({ kinds: ['gone'], tookMs: [1900] });
});

it('waits a second for a sidecar that it saw, whatever the folder says', async () => {
  const disk: Disk = (ms) => ({
    '/in/notes': stamped('5000000123'),
    [FILE]: stamped(FINE),
    [SIDECAR]: ms < 200 ? stamped('5000000123') : undefined,
  });
  expect(await look(disk, 100, once)).toEqual({ kinds: ['file'], tookMs: [1200] });
  const old: Disk = () => ({ '/in/notes': stamped('5000000123'), [FILE]: stamped('5000000123') });
  expect(await look(old, 100, [() => ({ hadSidecar: true })])).toEqual({ kinds: ['file'], tookMs: [1000] });
});

it('gives up on a file that never is still after a minute, for all looks together', async () => {
  const disk: Disk = (ms) => ({ [FILE]: stamped(`${START_MS + ms}000123`) });
  const { tookMs } = await look(disk, 0, twice);
  expect(tookMs[0]).toBeGreaterThanOrEqual(60_000);
  expect(tookMs[0]).toBeLessThan(61_000);
  expect(tookMs[1]).toBe(0);
  const missing = await look(disk, 0, [() => ({}), () => ({ hadSidecar: true })]);
  expect(missing.tookMs[1]).toBe(1000);
});
