import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256 } from '@sluice/core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { downloadFile, downloadText } from './download.js';
import { freePorts } from './ports.js';
import { createWorkplace } from './workplace.js';

let server: Server;
let base: string;
let folder: string;
let requests = 0;

beforeAll(async () => {
  server = createServer((request, response) => {
    requests += 1;
    if (request.url === '/file') response.end('content');
    else if (request.url === '/half') {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('half', () => response.destroy());
    } else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-download-'));
  requests = 0;
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const online = createWorkplace({}, () => undefined);

describe('downloadFile', () => {
  it('keeps a file whose checksum is the expected one', async () => {
    const path = join(folder, 'deep', 'file');
    await downloadFile(`${base}/file`, path, { workplace: online, sha256: sha256('content'), label: 'File' });
    expect(await readFile(path, 'utf8')).toBe('content');
  });

  it.each([
    ['a checksum that differs', '/file', sha256('other'), /checksum .* differs/],
    ['a download that breaks off', '/half', undefined, /broke off/],
    ['an answer that is no file', '/none', undefined, /answered 404/],
  ])('leaves nothing behind after %s', async (_, path, expected, message) => {
    const options = { workplace: online, label: 'File', ...(expected === undefined ? {} : { sha256: expected }) };
    await expect(downloadFile(`${base}${path}`, join(folder, 'file'), options)).rejects.toThrow(message);
    expect(await readdir(folder)).toEqual([]);
  });

  it('names a host that does not answer', async () => {
    const [port = 0] = await freePorts(1);
    await expect(downloadText(`http://127.0.0.1:${port}/`, online)).rejects.toThrow(
      `127.0.0.1:${port} can't be reached (ECONNREFUSED)`,
    );
  });

  it('asks nobody when offline', async () => {
    const offline = createWorkplace({ SLUICE_OFFLINE: '1' }, () => undefined);
    await expect(downloadText(`${base}/file`, offline)).rejects.toThrow('SLUICE_OFFLINE=1');
    expect(requests).toBe(0);
  });
});
