import { mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createNodeFiles } from './node-files.js';
import { createRootGuard, type RootGuard } from './root-guard.js';

const files = createNodeFiles();
let base: string;
let root: string;
let guard: RootGuard;
const known = Array.from({ length: 100 }, (_, n) => `${n}.md`);

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'sluice-guard-'));
  root = join(base, 'm');
  await mkdir(root);
  for (const path of known) await writeFile(join(root, path), path);
  guard = makeGuard();
});
afterEach(() => rm(base, { recursive: true, force: true }));

function makeGuard(overrides: Partial<Parameters<typeof createRootGuard>[0]> = {}): RootGuard {
  return createRootGuard({ source: 's', root, stateFolder: join(base, 'data/sources'), files, ...overrides });
}

describe('root guard', () => {
  it('takes the first root it sees with its documents, and remembers it across processes', async () => {
    expect(await guard.look()).toMatchObject({ state: 'replaced' });
    expect(await guard.check([])).toEqual({ state: 'ok' });
    expect(await makeGuard().look()).toEqual({ state: 'ok' });
    for (const path of known) await rm(join(root, path));
    expect(await guard.look()).toEqual({ state: 'ok' });
    expect(await readdir(join(base, 'data/sources'))).toEqual(['s.json']);
  });

  it('knows a missing, an unreadable and a replaced root', async () => {
    await guard.check(known);
    await rename(root, `${root}2`);
    expect(await guard.look()).toMatchObject({ state: 'missing' });
    await writeFile(root, 'a file');
    expect(await guard.look()).toMatchObject({ state: 'missing', message: expect.stringContaining('not a folder') });
    await rm(root);
    await mkdir(root);
    expect(await guard.check(known)).toMatchObject({ state: 'replaced', message: expect.stringContaining('sluice reindex') });
    await rm(root, { recursive: true });
    await rename(`${root}2`, root);
    expect(await guard.check(known)).toEqual({ state: 'ok' });
    const unreadable = {
      ...files,
      list: async () => {
        throw Object.assign(new Error('EACCES'), { code: 'EACCES' });
      },
    };
    expect(await makeGuard({ files: unreadable }).check(known)).toMatchObject({
      state: 'unreadable',
      message: expect.stringContaining('EACCES'),
    });
  });

  it('is not deceived by a new folder that was given the inode of the old one', async () => {
    await guard.check(known);
    // Many file systems give the number again at once.
    await rm(root, { recursive: true });
    await mkdir(root);
    expect(await guard.check(known)).toMatchObject({ state: 'replaced' });
  });

  it('accepts another folder that evidently holds the source, and no other', async () => {
    await guard.check(known);
    const copy = async (share: number) => {
      await rm(root, { recursive: true });
      await mkdir(root);
      for (const [n, path] of known.entries()) if (n % 10 < share * 10) await writeFile(join(root, path), 'copy');
    };
    await copy(0.3);
    expect(await guard.check(known)).toMatchObject({ state: 'replaced' });
    expect(await guard.look()).toMatchObject({ state: 'replaced' });
    await copy(0.8);
    expect(await guard.look()).toMatchObject({ state: 'replaced' });
    expect(await guard.check(known)).toEqual({ state: 'ok' });
    expect(await guard.look()).toEqual({ state: 'ok' });
  });

  it('a refused folder is not accepted for what was indexed from it, nor kept out for that when the right files come', async () => {
    await guard.check(known);
    await rename(root, `${root}2`);
    await mkdir(root);
    const foreign = Array.from({ length: 500 }, (_, n) => `other${n}.md`);
    for (const path of foreign) await writeFile(join(root, path), path);
    expect(await guard.check(known)).toMatchObject({ state: 'replaced' });
    const all = [...known, ...foreign];
    expect(await guard.check(all)).toMatchObject({ state: 'replaced' });
    expect(await makeGuard().check(all)).toMatchObject({ state: 'replaced' });
    for (const path of known) await writeFile(join(root, path), 'copy');
    expect(await makeGuard().check(all)).toEqual({ state: 'ok' });
    // The next folder is asked for all that is known by then.
    await rename(root, `${root}3`);
    await mkdir(root);
    for (const path of known) await writeFile(join(root, path), 'copy');
    expect(await guard.check(all)).toMatchObject({ state: 'replaced' });
    await rm(root, { recursive: true });
    await rename(`${root}3`, root);
    expect(await guard.check(all)).toEqual({ state: 'ok' });
    expect(await readdir(join(base, 'data/sources'))).toEqual(['s.json']);
  });

  it('neither does a process that decides for itself', async () => {
    let stored = known;
    let now = 0;
    const own = makeGuard({
      stateFolder: join(base, 'own/sources'),
      known: async (among) => among ?? stored,
      clock: { monotonic: () => now },
    });
    expect(await own.look()).toEqual({ state: 'ok' });
    await rename(root, `${root}2`);
    await mkdir(root);
    const foreign = Array.from({ length: 500 }, (_, n) => `other${n}.md`);
    for (const path of foreign) await writeFile(join(root, path), path);
    for (let minute = 0; minute < 3; minute++) {
      expect(await own.look()).toMatchObject({ state: 'replaced' });
      stored = [...known, ...foreign];
      now += 61_000;
    }
    for (const path of known) await writeFile(join(root, path), 'copy');
    expect(await own.look()).toEqual({ state: 'ok' });
  });

  it('takes an operator at his word, but not for a root that is not there', async () => {
    await guard.check(known);
    await rm(root, { recursive: true });
    expect(await guard.accept()).toMatchObject({ state: 'missing' });
    await mkdir(root);
    expect(await guard.accept()).toEqual({ state: 'ok' });
    expect(await guard.check(known)).toEqual({ state: 'ok' });
  });

  it('asks the documents when its state is lost or damaged', async () => {
    await guard.check(known);
    await writeFile(join(base, 'data/sources/s.json'), '{"root":');
    expect(await guard.look()).toMatchObject({ state: 'replaced' });
    expect(await guard.check(known)).toEqual({ state: 'ok' });
    await rm(join(base, 'data'), { recursive: true });
    for (const path of known) await rm(join(root, path));
    expect(await guard.check(known)).toMatchObject({ state: 'replaced', message: expect.stringContaining('holds none') });
  });

  it('a link to the root is the folder it leads to', async () => {
    const link = join(base, 'link');
    await symlink(root, link);
    const linked = makeGuard({ root: link, source: 'linked' });
    expect(await linked.check(known)).toEqual({ state: 'ok' });
    await rm(link);
    await mkdir(join(base, 'other'));
    await symlink(join(base, 'other'), link);
    expect(await linked.check(known)).toMatchObject({ state: 'replaced' });
  });
});
