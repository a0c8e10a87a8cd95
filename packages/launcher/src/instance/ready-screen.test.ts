import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '@sluice/config';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Instance } from './instance.js';
import { formatBytes, readyScreen, shortPath } from './ready-screen.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-screen-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('the ready screen', () => {
  it('tells what is watched, what to try, and where things are', async () => {
    const counts = { indexed: 0, pending: 0, empty: 0, failed: 0, skipped: 0 };
    const sources = [
      { name: 'inbox', documents: counts },
      { name: 'old', documents: { ...counts, indexed: 3 } },
    ];
    const server = createServer((_, response) => response.end(JSON.stringify({ sources })));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const api = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await mkdir(join(folder, 'inbox'));
    await mkdir(join(folder, '.sluice'));
    await writeFile(join(folder, '.sluice', 'data'), Buffer.alloc(12_000_000, 1));
    const env = { HOME: '/home/ada', XDG_CACHE_HOME: '' };
    const config = loadConfig({ env, cwd: folder });
    const instance: Instance = {
      addresses: { api, redis: '', weaviate: '', modelFolder: '' },
      startedInSeconds: 41.2,
      services: () => {
        throw new Error('not asked for');
      },
      processes: () => [],
      stop: async () => undefined,
      forceStop: async () => undefined,
    };
    const screen = await readyScreen({ config, instance, env, cwd: folder });
    expect(screen.split('\n')).toEqual([
      'Sluice is ready (41 s)',
      '  watching   ./inbox -> source "inbox" (0 documents)     readers: level 1, no key needed on this machine',
      '  try        cp README.md inbox/  &&  npx sluice search "what is sluice"',
      `  API        ${api}/docs      queues ${api}/ops/queues`,
      '  data       .sluice (12 MB)   cache ~/.cache/sluice   log .sluice/log/*.ndjson     stop: Ctrl-C',
      '  note       source "old" is no longer named; its 3 documents stay until: npx sluice source remove old',
    ]);
    server.close();
  });
});

describe('shortPath', () => {
  it.each([
    ['/work/inbox', './inbox'],
    ['/work', '.'],
    ['/home/ada/notes', '~/notes'],
    ['/srv/docs', '/srv/docs'],
    ['/work..d/x', '/work..d/x'],
  ])('%s is written %s', (path, expected) => {
    expect(shortPath(path, '/work', '/home/ada')).toBe(expected);
  });
});

describe('formatBytes', () => {
  it.each([
    [0, '0 KB'],
    [1, '1 KB'],
    [12_400_000, '12 MB'],
    [2_340_000_000, '2.3 GB'],
  ])('%i is %s', (bytes, expected) => {
    expect(formatBytes(bytes)).toBe(expected);
  });
});
