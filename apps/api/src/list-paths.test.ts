import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createNodeFiles } from '@sluice/sources';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { listPaths } from './list-paths.js';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'sluice-list-'));
  for (const folder of ['open', 'shut']) {
    await mkdir(join(root, folder));
    await writeFile(join(root, folder, 'a.md'), 'a');
  }
});
afterEach(() => rm(root, { recursive: true }));

async function list(unreadable: string): Promise<{ paths: string[]; untold: number }> {
  const files = createNodeFiles();
  const broken = {
    ...files,
    async list(path: string) {
      if (path === unreadable) throw Object.assign(new Error('EACCES'), { code: 'EACCES' });
      return files.list(path);
    },
  };
  let untold = 0;
  const paths: string[] = [];
  for await (const path of listPaths(broken, { name: 's', root }, [{ name: 's' }], () => untold++)) paths.push(path);
  return { paths, untold };
}

it('goes on past a folder that cannot be read, and reports it', async () => {
  expect(await list(join(root, 'shut'))).toEqual({ paths: ['open/a.md'], untold: 1 });
});

it('fails where the root cannot be read', async () => {
  await expect(list(root)).rejects.toThrow('EACCES');
});
