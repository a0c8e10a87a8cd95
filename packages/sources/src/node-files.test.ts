import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNodeFiles } from './node-files.js';

it.each([10, 3_000_000])('hashes a file of %d bytes, or its beginning', async (size) => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-node-files-'));
  const content = randomBytes(size);
  await writeFile(join(folder, 'a.bin'), content);
  const { hash } = createNodeFiles();
  const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
  expect(await hash(join(folder, 'a.bin'))).toBe(sha256(content));
  for (const length of [0, 1, size - 1, size, size + 1]) {
    expect(await hash(join(folder, 'a.bin'), length), String(length)).toBe(sha256(content.subarray(0, length)));
  }
  await rm(folder, { recursive: true });
});

describe('stat of what was seen a moment ago', () => {
  const files = createNodeFiles();
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-node-files-'));
    await writeFile(join(folder, 'a.txt'), 'a');
    await writeFile(join(folder, 'parent'), '');
    await symlink('a.txt', join(folder, 'link'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('says what a first one says: of a file, a folder, a link, and where nothing is', async () => {
    for (const name of ['a.txt', '.', 'link', 'nothing', 'parent/below']) {
      const path = join(folder, name);
      const known = await files.stat(join(folder, 'a.txt'));
      // The first time the device is asked for, then it is known.
      for (let time = 0; time < 2; time += 1) expect(await files.stat(path, known), name).toEqual(await files.stat(path));
    }
  });

  it.runIf(process.platform === 'linux')('is taken at once on a disk of this machine', async () => {
    const path = join(folder, 'moved.txt');
    await writeFile(path, 'a');
    const known = await files.stat(path, await files.stat(path));
    const again = files.stat(path, known);
    await rename(path, `${path}.away`);
    expect(await again).toEqual(known);
  });
});
