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

const counts = { indexed: 0, pending: 0, empty: 0, failed: 0, skipped: 0 };
const sources = [
  { name: 'inbox', documents: { ...counts, indexed: 1, failed: 1 } },
  { name: 'old', documents: { ...counts, indexed: 3 } },
];

/** The screen over an API that answers so; `wants` is the key without which it says 401. */
async function screenOf(
  yaml: string | undefined,
  more: { wants?: string; key?: string } = {},
): Promise<{ api: string; lines: string[] }> {
  const server = createServer(({ headers }, response) => {
    const isLetIn = more.wants === undefined || headers.authorization === `Bearer ${more.wants}`;
    response.writeHead(isLetIn ? 200 : 401);
    response.end(JSON.stringify(isLetIn ? { sources } : { code: 'unauthorized' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const api = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  if (yaml !== undefined) await writeFile(join(folder, 'sluice.yaml'), yaml);
  const env = { HOME: '/home/ada', XDG_CACHE_HOME: '', ...(more.key === undefined ? {} : { SLUICE_API_KEY: more.key }) };
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
  server.close();
  return { api, lines: screen.split('\n') };
}

describe('the ready screen', () => {
  beforeEach(() => mkdir(join(folder, 'inbox')));

  it('tells what is watched, what to try, and where things are', async () => {
    await mkdir(join(folder, '.sluice'));
    await writeFile(join(folder, '.sluice', 'data'), Buffer.alloc(12_000_000, 1));
    const { api, lines } = await screenOf(undefined);
    expect(lines).toEqual([
      'Sluice is ready (41 s)',
      '  watching   ./inbox -> source "inbox" (2 documents)     readers: level 1, no key needed on this machine',
      '  try        cp README.md inbox/  &&  npx sluice search "what is sluice"',
      `  API        ${api}/docs      queues ${api}/ops/queues`,
      '  data       .sluice (12 MB)   cache ~/.cache/sluice   log .sluice/log/*.ndjson     stop: Ctrl-C',
      '  note       source "old" is no longer named; its 3 documents stay until: npx sluice source remove old',
    ]);
  });

  it.each([
    ['keys exist, none is given', undefined, { wants: 'k' }, '"inbox"     readers: level 1, with a key of that clearance'],
    ['another key is given', undefined, { wants: 'k', key: 'x' }, '"inbox"     readers: level 1, with a key of that clearance'],
    [
      'the key is given',
      undefined,
      { wants: 'k', key: 'k' },
      '"inbox" (2 documents)     readers: level 1, with a key of that clearance',
    ],
    [
      'keys exist, and strangers are let in',
      'sources: [{ name: inbox, path: inbox, metadata: { security_level: 2 } }]\napi: { anonymous: true, anonymous_clearance: 2 }\n',
      { key: 'k' },
      '"inbox" (2 documents)     readers: level 2, no key needed on this machine',
    ],
    [
      'the source is stricter than strangers may see',
      'sources: [{ name: inbox, path: inbox, metadata: { security_level: 2 } }]\n',
      {},
      '"inbox" (2 documents)     readers: level 2, hidden without a key of that clearance',
    ],
  ])('says no number that nobody told, and who reads, when %s', async (_when, yaml, more, line) => {
    const { lines } = await screenOf(yaml, more);
    expect(lines[1]).toBe(`  watching   ./inbox -> source ${line}`);
  });
});

describe('shortPath', () => {
  it.each([
    ['/sluice/inbox', './inbox'],
    ['/sluice', '.'],
    ['/home/ada/notes', '~/notes'],
    ['/srv/docs', '/srv/docs'],
    ['/sluice..d/x', '/sluice..d/x'],
  ])('%s is written %s', (path, expected) => {
    expect(shortPath(path, '/sluice', '/home/ada')).toBe(expected);
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
