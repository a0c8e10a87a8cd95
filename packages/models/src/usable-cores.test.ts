import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { usableCores } from './usable-cores.js';

const all = availableParallelism();

describe('usableCores', () => {
  it.each<[string, Record<string, string>, number]>([
    ['no limit is known', {}, all],
    ['there is no limit', { 'cpu.max': 'max 100000\n' }, all],
    ['the limit is half a core', { 'cpu.max': '50000 100000\n' }, 1],
    ['the limit is one core', { 'cpu.max': '100000 100000\n' }, 1],
    ['the limit is above the machine', { 'cpu.max': '99900000 100000\n' }, all],
    ['there is no limit (v1)', { 'cpu/cpu.cfs_quota_us': '-1\n', 'cpu/cpu.cfs_period_us': '100000\n' }, all],
    ['the limit is one core (v1)', { 'cpu/cpu.cfs_quota_us': '100000\n', 'cpu/cpu.cfs_period_us': '100000\n' }, 1],
    ['the file is malformed', { 'cpu.max': '' }, all],
  ])('where %s', async (_name, files, cores) => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-cgroup-'));
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    expect(usableCores(folder)).toBe(cores);
    await rm(folder, { recursive: true });
  });
});
