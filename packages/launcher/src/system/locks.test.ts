import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tryLock, withLock } from './locks.js';
import { processRef } from './processes.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-locks-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function endedPid(): Promise<number> {
  const child = spawn(process.execPath, ['-e', '0']);
  await once(child, 'exit');
  return child.pid ?? 0;
}

describe('lock files', () => {
  it('name the running process that holds them', async () => {
    const path = join(folder, 'lock');
    await tryLock(path);
    const second = await tryLock(path);
    expect(second).toMatchObject({ holder: { pid: process.pid } });
  });

  it.each([
    ['a process that has ended', async () => JSON.stringify({ pid: await endedPid() })],
    ['an earlier process of the same pid', async () => JSON.stringify({ pid: process.pid, born: 'long ago' })],
    ['nobody, being empty', async () => ''],
    ['nobody, being broken', async () => '{"pid": '],
  ])('of %s are taken over', async (_, content) => {
    const path = join(folder, 'lock');
    await writeFile(path, await content());
    expect(await tryLock(path)).toHaveProperty('release');
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(processRef(process.pid));
  });

  it('of an ended process are taken over by one of many that try at once', async () => {
    const path = join(folder, 'lock');
    await writeFile(path, JSON.stringify({ pid: await endedPid() }));
    const results = await Promise.all(Array.from({ length: 20 }, () => tryLock(path)));
    expect(results.filter((result) => 'release' in result)).toHaveLength(1);
  });

  it('let one at a time work, and tell whom the others wait for', async () => {
    const path = join(folder, 'lock');
    let inside = 0;
    let most = 0;
    const waitedFor: number[] = [];
    // The first to hold the lock keeps it until both others have found it held.
    let bothWait = () => {};
    const gate = new Promise<void>((resolve) => {
      bothWait = resolve;
    });
    const work = async () => {
      inside += 1;
      most = Math.max(most, inside);
      await gate;
      inside -= 1;
    };
    const onWait = (holder: { pid: number }) => {
      if (waitedFor.push(holder.pid) === 2) bothWait();
    };
    await Promise.all([withLock(path, work, { onWait }), withLock(path, work, { onWait }), withLock(path, work, { onWait })]);
    expect(most).toBe(1);
    expect(waitedFor).toEqual([process.pid, process.pid]);
  });

  it('are released when the work throws', async () => {
    const path = join(folder, 'lock');
    await expect(withLock(path, () => Promise.reject(new RangeError('broken')))).rejects.toThrow('broken');
    expect(await tryLock(path)).toHaveProperty('release');
  });
});
