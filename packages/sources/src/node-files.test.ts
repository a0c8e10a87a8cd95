import { mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNodeFiles } from './node-files.js';

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
