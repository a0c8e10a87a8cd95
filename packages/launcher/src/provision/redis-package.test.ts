import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findProgram, runCommand } from '../system/commands.js';
import { createWorkplace } from '../system/workplace.js';
import { installRedisPackage } from './redis-package.js';

let cache: string;
beforeEach(async () => {
  cache = await mkdtemp(join(tmpdir(), 'sluice-cache-'));
});
afterEach(() => rm(cache, { recursive: true, force: true }));

describe('Redis from packages', () => {
  it('is unpacked once by two first starts at once, runs, and is found again without asking anybody', async () => {
    const said: string[] = [];
    const workplace = createWorkplace({ ...process.env, SLUICE_OFFLINE: '0', XDG_CACHE_HOME: cache }, (line) => said.push(line));
    if ((await findProgram('apt-get', process.env)) === undefined) {
      // Not Debian or Ubuntu: another package manager installs it for the whole system, which a test may not do.
      const none = createWorkplace({ PATH: cache, XDG_CACHE_HOME: cache }, () => undefined);
      await expect(installRedisPackage(none)).rejects.toThrow('no package manager');
      return;
    }
    const [first, second] = await Promise.all([installRedisPackage(workplace), installRedisPackage(workplace)]);
    expect(second).toEqual(first);
    expect(said.filter((line) => line.includes('fetching'))).toHaveLength(1);
    const version = await runCommand(first.program, ['--version'], { env: { ...process.env, ...first.env }, timeoutMs: 10_000 });
    expect(version.stdout).toMatch(/Redis server v=/);
    const offline = createWorkplace({ ...process.env, SLUICE_OFFLINE: '1', XDG_CACHE_HOME: cache }, () => undefined);
    expect(await installRedisPackage(offline)).toEqual(first);
  });

  it('asks nobody when offline', async () => {
    const offline = createWorkplace({ ...process.env, SLUICE_OFFLINE: '1', XDG_CACHE_HOME: cache }, () => undefined);
    await expect(installRedisPackage(offline)).rejects.toMatchObject({ code: 'not_ready' });
  });
});
