import type { FileStat } from '@sluice/core';
import { expect, it } from 'vitest';
import type { DiskState } from './observe.js';
import { waitUntilStill } from './observe.js';

const policy = { configHash: '', fingerprint: () => '' };

interface Stamps {
  mtimeNs: string;
  ctimeNs: string;
}

/** Waits for a file with these stamps, and its sidecar, to be still, 0.1 s after they were written; tells how long that took, ms. */
async function wait(ns: Stamps, writtenMs: number, sidecarNs?: Stamps): Promise<number> {
  let now = writtenMs + 100;
  const began = now;
  const clock = {
    now: () => now,
    monotonic: () => now,
    sleep: async (ms: number) => {
      now += ms;
    },
  };
  const stat: FileStat = { kind: 'file', size: 1, inode: '1', device: '1', ...ns } as FileStat; // the members that count
  const sidecar = sidecarNs && { ...stat, ...sidecarNs };
  const files = {
    stat: async (path: string) => (path.endsWith('a.md') ? stat : sidecar),
    realpath: async (path: string) => path,
  };
  const source = { name: 'inbox', root: '/in', stabilityMs: 300, accepts: async () => true, mayDelete: async () => true };
  const seen = { kind: 'file', path: '/in/a.md', stat, statKey: '', sidecarPath: '', sidecar, sidecarStat: '', policy };
  // Only what is looked at here is given.
  await waitUntilStill(
    { files, clock, policy: { of: () => policy } } as unknown as Parameters<typeof waitUntilStill>[0],
    source,
    'a.md',
    seen as unknown as DiskState,
  );
  return now - began;
}

it('waits for the stability time where stamps are fine', async () => {
  expect(await wait({ mtimeNs: '1000000000123', ctimeNs: '1000000000123' }, 1_000_000)).toBe(200);
});

it('waits until a second write would show where stamps are whole seconds', async () => {
  expect(await wait({ mtimeNs: '1000000000000', ctimeNs: '1000000000000' }, 1_000_000)).toBe(1900);
});

it('takes no file for coarse whose mtime alone was set, as copies keep it', async () => {
  expect(await wait({ mtimeNs: '5000000000', ctimeNs: '1000000000123' }, 1_000_000)).toBe(200);
});

it('waits for the sidecar too', async () => {
  const old = { mtimeNs: '1000000123', ctimeNs: '1000000123' };
  expect(await wait(old, 1_000_000)).toBe(0);
  expect(await wait(old, 1_000_000, { mtimeNs: '1000000000123', ctimeNs: '1000000000123' })).toBe(200);
  expect(await wait(old, 1_000_000, { mtimeNs: '1000000000000', ctimeNs: '1000000000000' })).toBe(1900);
});
