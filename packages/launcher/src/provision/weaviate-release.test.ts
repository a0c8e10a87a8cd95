import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '@sluice/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isExecutable } from '../system/files.js';
import { createWorkplace, type Workplace } from '../system/workplace.js';
import { checksumOf, downloadWeaviate, releaseArchive } from './weaviate-release.js';

let folder: string;
let server: Server;
let releases: string;
let workplace: Workplace;
const published = new Map<string, Buffer | string>();
let requests = 0;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-release-'));
  workplace = createWorkplace({ ...process.env, SLUICE_OFFLINE: '0', XDG_CACHE_HOME: join(folder, 'cache') }, () => undefined);
  published.clear();
  requests = 0;
  server = createServer((request, response) => {
    requests += 1;
    const content = published.get((request.url ?? '').slice(1));
    if (content === undefined) response.writeHead(404).end();
    else response.end(content);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  releases = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.close();
  await rm(folder, { recursive: true, force: true });
});

/** An archive as a release has it, with a small program in it. */
async function makeArchive(): Promise<{ name: string; bytes: Buffer }> {
  const name = releaseArchive(process.platform, process.arch) ?? '';
  await writeFile(join(folder, 'weaviate'), '#!/bin/sh\necho weaviate\n');
  if (name.endsWith('.zip')) execFileSync('zip', ['-q', name, 'weaviate'], { cwd: folder });
  else execFileSync('tar', ['-czf', name, 'weaviate'], { cwd: folder });
  return { name, bytes: await readFile(join(folder, name)) };
}

describe('the release binary', () => {
  it.each([
    ['beside it', (name: string) => `${name}.sha256`],
    ['in the list of all', () => 'weaviate-v1.38.11-checksums.txt'],
  ])('is kept when it fits the checksum %s, and not fetched again', async (_, listName) => {
    const { name, bytes } = await makeArchive();
    published.set(name, bytes);
    published.set(listName(name), `${sha256('other')}  other.tar.gz\n${sha256(bytes)}  ${name}\n`);
    const path = await downloadWeaviate(workplace, releases);
    expect(execFileSync(path, { encoding: 'utf8' })).toBe('weaviate\n');
    requests = 0;
    expect(await downloadWeaviate(workplace, releases)).toBe(path);
    expect(requests).toBe(0);
  });

  it.each([
    ['its checksum differs', sha256('other'), /checksum .* differs/],
    ['no checksum is published', undefined, /answered 404|no sha256/],
  ])('is refused when %s', async (_, sum, message) => {
    const { name, bytes } = await makeArchive();
    published.set(name, bytes);
    if (sum !== undefined) published.set(`${name}.sha256`, sum);
    await expect(downloadWeaviate(workplace, releases)).rejects.toThrow(message);
    expect(await isExecutable(join(workplace.cacheFolder, 'bin', 'weaviate-1.38.11-release'))).toBe(false);
    expect((await readdir(workplace.cacheFolder)).filter((entry) => entry.startsWith('weaviate-'))).toEqual([]);
  });

  it('is one file a platform', () => {
    expect(releaseArchive('linux', 'x64')).toBe('weaviate-v1.38.11-linux-amd64.tar.gz');
    expect(releaseArchive('linux', 'arm64')).toBe('weaviate-v1.38.11-linux-arm64.tar.gz');
    expect(releaseArchive('darwin', 'arm64')).toBe('weaviate-v1.38.11-darwin-all.zip');
    expect(releaseArchive('linux', 'riscv64')).toBeUndefined();
  });
});

describe('checksumOf', () => {
  const sum = sha256('archive');
  it.each([
    [sum, sum],
    [`${sum.toUpperCase()}\n`, sum],
    [`${sum}  a.tar.gz`, sum],
    [`${sum} *a.tar.gz`, sum],
    [`${sum}  b.tar.gz`, undefined],
    ['not a sum', undefined],
    ['', undefined],
  ])('of %j', (text, expected) => {
    expect(checksumOf('a.tar.gz', text)).toBe(expected);
  });
});
