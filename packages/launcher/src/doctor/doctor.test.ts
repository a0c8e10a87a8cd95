import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '@sluice/config';
import { testServices } from '@sluice/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePorts } from '../system/ports.js';
import { diagnose } from './diagnose.js';
import { checkRoot, countFolders } from './folders.js';
import { checkDisk, checkNode, checkPort, checkWatches } from './machine.js';
import { checkRedis } from './services.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-doctor-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('checks of the machine', () => {
  it.each([
    ['20.18.3', 'problem'],
    ['20.19.0', 'ok'],
    ['21.7.0', 'problem'],
    ['22.11.0', 'problem'],
    ['22.12.0', 'ok'],
    ['23.9.0', 'problem'],
    ['24.0.0', 'ok'],
    ['26.1.0', 'ok'],
  ])('Node %s: %s', (version, status) => {
    expect(checkNode(version)).toMatchObject({ status, detail: expect.stringContaining(version) });
  });

  it('a taken port is a problem where it was set, else a warning; our own instance is neither', async () => {
    const [port = 0] = await freePorts(1);
    expect(await checkPort(port, true, undefined)).toMatchObject({ status: 'ok' });
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    expect(await checkPort(port, true, undefined)).toMatchObject({ status: 'problem', fix: expect.any(String) });
    expect(await checkPort(port, false, undefined)).toMatchObject({ status: 'warning' });
    expect(await checkPort(port, true, `http://127.0.0.1:${port}`)).toMatchObject({ status: 'ok' });
    server.close();
  });

  it('the disk is that of the nearest folder that exists', async () => {
    expect((await checkDisk(join(folder, 'not', 'there'))).detail).toMatch(/GB free/);
  });

  it('too few watches for the folders, and room for others, are a problem with the command that fixes it', async () => {
    const limit = join(folder, 'limit');
    await writeFile(limit, '8192\n');
    expect(await checkWatches(7_000, limit)).toMatchObject({ status: 'ok' });
    expect(await checkWatches(8_000, limit)).toMatchObject({
      status: 'problem',
      fix: expect.stringContaining('max_user_watches=524288'),
    });
    expect(await checkWatches(900_000, limit)).toMatchObject({ fix: expect.stringContaining('max_user_watches=2097152') });
    expect(await checkWatches(8_000, join(folder, 'none'))).toMatchObject({ status: 'ok' });
  });
});

describe('checks of a source', () => {
  it('tell a missing folder, a file and a folder that is there apart', async () => {
    await writeFile(join(folder, 'file'), '');
    expect(await checkRoot('docs', folder)).toMatchObject({ name: 'source docs', status: 'ok' });
    expect(await checkRoot('docs', join(folder, 'none'))).toMatchObject({
      status: 'problem',
      fix: expect.stringContaining('mkdir'),
    });
    expect(await checkRoot('docs', join(folder, 'file'))).toMatchObject({ status: 'problem' });
  });

  it('count folders, their root included, and pass over what they cannot read', async () => {
    await mkdir(join(folder, 'a', 'b'), { recursive: true });
    await mkdir(join(folder, 'c'));
    await writeFile(join(folder, 'c', 'file'), '');
    await chmod(join(folder, 'c'), 0o000);
    expect(await countFolders(folder)).toBe(4);
    await chmod(join(folder, 'c'), 0o700);
  });
});

describe('diagnose', () => {
  it('looks at everything, without a running instance', async () => {
    const { redis, weaviate, model } = testServices();
    await mkdir(join(folder, 'docs'));
    const env = { REDIS_URL: redis, WEAVIATE_URL: weaviate, SLUICE_MODEL: model, SLUICE_DATA: join(folder, 'data') };
    const config = loadConfig({ flags: { sources: ['docs=docs'] }, env, cwd: folder });
    const checks = await diagnose({ config, env });
    expect(checks.map(({ name }) => name)).toEqual([
      'node',
      'instance',
      'port',
      'disk',
      'redis',
      'weaviate',
      'model',
      'api',
      'watches',
      'source docs',
    ]);
    const byName = new Map(checks.map((check) => [check.name, check]));
    for (const name of ['node', 'redis', 'weaviate', 'model', 'source docs'])
      expect(byName.get(name)).toMatchObject({ status: 'ok' });
  });

  it('shows no password', async () => {
    const [port = 0] = await freePorts(1);
    const check = await checkRedis(`redis://user:secret@127.0.0.1:${port}`, true);
    expect(check.status).toBe('problem');
    expect(JSON.stringify(check)).not.toContain('secret');
  });
});
