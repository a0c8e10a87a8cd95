import { mkdir, mkdtemp, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CommitRecord, docUuid, makeDocId } from '@sluice/core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createNodeFiles } from './node-files.js';
import { createRootGuard, type FolderMarks } from './root-guard.js';
import { createSourceView } from './source-view.js';

let base: string;
let root: string;
let stored: string[];
let walks: number;
let now: number;
const files = createNodeFiles();

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'sluice-view-'));
  root = join(base, 'm');
  stored = [];
  walks = 0;
  now = 0;
  await mkdir(root);
});
afterEach(() => rm(base, { recursive: true, force: true }));

/** Of each record what a decision reads of it. */
async function* walkRecords(): AsyncGenerator<CommitRecord[]> {
  walks += 1;
  for (const path of stored) {
    const record = { source: 's', source_path: path, fence: 1, attempt: 'a', status: 'indexed' };
    yield [{ ...record, source: 'other', source_path: `other/${path}` } as CommitRecord];
    yield [
      { ...record, source_path: `deleted/${path}` },
      { ...record, fence: 2, status: 'deleted' },
    ] as CommitRecord[];
    yield [record as CommitRecord];
  }
}

async function recordsOf(docUuids: readonly string[]): Promise<Map<string, CommitRecord[]>> {
  const records = new Map<string, CommitRecord[]>();
  for (const path of stored) {
    const record = { source: 's', source_path: path, fence: 1, attempt: 'a', status: 'indexed' } as CommitRecord;
    const uuid = docUuid(makeDocId('s', path));
    if (docUuids.includes(uuid)) records.set(uuid, [record]);
  }
  return records;
}

/** As a worker whose data folder has this name sees the source. */
function viewOf(data: string, told?: () => Promise<FolderMarks | 'none' | undefined>) {
  return createSourceView({
    name: 's',
    root,
    stabilityMs: 0,
    settings: {},
    stateFolder: join(base, data, 'sources'),
    files,
    store: { walkRecords, recordsOf },
    clock: { monotonic: () => now },
    ...(told && { told }),
  });
}

async function fill(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await writeFile(join(root, `${n}.md`), 'text');
  stored = Array.from({ length: count }, (_, n) => `${n}.md`);
}

async function replaceRoot(): Promise<void> {
  await rename(root, `${root}.away`);
  await mkdir(root);
}

describe("a process whose data folder is not the watcher's", () => {
  it('deletes as one that shares it does, and asks the store once', async () => {
    await fill(10);
    await createRootGuard({ source: 's', root, stateFolder: join(base, 'watcher/sources'), files }).check(stored);
    const [own, shared] = [viewOf('own'), viewOf('watcher')];
    expect(await Promise.all([own.mayDelete(), own.mayDelete(), shared.mayDelete()])).toEqual([true, true, true]);
    // Removed while it runs, all of them: the folder is the one that was decided on.
    for (const path of stored) await rm(join(root, path));
    expect([await own.mayDelete(), await shared.mayDelete()]).toEqual([true, true]);
    expect(walks).toBe(1);
  });

  it('takes the folder for the root that the watcher names, however little of it is left', async () => {
    await fill(10);
    const guard = createRootGuard({ source: 's', root, stateFolder: join(base, 'watcher/sources'), files });
    await guard.check(stored);
    for (const path of stored) await rm(join(root, path));
    const told = vi.fn<() => Promise<FolderMarks | 'none' | undefined>>(guard.remembered);
    // Started after most was removed.
    const view = viewOf('own', told);
    expect(await view.mayDelete()).toBe(true);
    told.mockResolvedValue('none');
    expect(await view.mayDelete()).toBe(false);
    told.mockRejectedValue(new Error('the queue is away'));
    expect(await view.mayDelete()).toBe(true);
    await replaceRoot();
    expect(await view.mayDelete()).toBe(false);
    expect(walks).toBe(1);
  });

  it.each([
    { there: 5, may: true },
    { there: 4, may: false },
  ])('decides by the documents known: $there of 10 are there', async ({ there, may }) => {
    await fill(10);
    for (const path of stored.slice(there)) await rm(join(root, path));
    expect(await viewOf('own').mayDelete()).toBe(may);
  });

  it('deletes nothing while an empty folder stands for the root, nor while none is there, and does when it is back', async () => {
    await fill(10);
    const view = viewOf('own');
    expect(await view.mayDelete()).toBe(true);
    await replaceRoot();
    expect(await view.mayDelete()).toBe(false);
    expect(await view.rootState()).toMatchObject({ state: 'replaced', message: expect.stringContaining('less than half') });
    await rm(root, { recursive: true });
    expect(await view.rootState()).toMatchObject({ state: 'missing' });
    await rename(`${root}.away`, root);
    expect(await view.mayDelete()).toBe(true);
  });

  it('deletes nothing in an empty folder that it found at its start, until it holds the source', async () => {
    await fill(10);
    await replaceRoot();
    const view = viewOf('own');
    expect(await view.mayDelete()).toBe(false);
    for (const path of stored) await writeFile(join(root, path), 'copy');
    expect(await view.mayDelete()).toBe(false);
    expect(walks).toBe(1);
    now += 60_000;
    expect(await view.mayDelete()).toBe(true);
    expect(walks).toBe(1);
  });

  it('a refused folder is taken at last when others have deleted all that it was asked for', async () => {
    await fill(10);
    await replaceRoot();
    const view = viewOf('own');
    expect(await view.mayDelete()).toBe(false);
    await fill(3);
    stored = ['0.md', '1.md', 'other.md'];
    now += 60_000;
    expect(await view.mayDelete()).toBe(true);
    await rm(root, { recursive: true });
    await mkdir(root);
    expect(await view.mayDelete()).toBe(false);
    stored = ['new.md'];
    await writeFile(join(root, 'new.md'), 'text');
    now += 60_000;
    expect(await view.mayDelete()).toBe(true);
  });

  it('decides again on another folder that holds the source', async () => {
    await fill(10);
    const view = viewOf('own');
    expect(await view.mayDelete()).toBe(true);
    await replaceRoot();
    for (const path of stored.slice(3)) await writeFile(join(root, path), 'copy');
    expect(await view.mayDelete()).toBe(true);
    expect(walks).toBe(2);
  });

  it('trusts no decision for which the root was another before than after', async () => {
    await fill(10);
    await replaceRoot();
    let swapped = false;
    const view = createSourceView({
      name: 's',
      root,
      stabilityMs: 0,
      settings: {},
      stateFolder: join(base, 'own/sources'),
      files,
      store: {
        async *walkRecords() {
          if (!swapped) {
            swapped = true;
            await rename(root, `${root}.empty`);
            await rename(`${root}.away`, root);
          }
          yield* walkRecords();
        },
        recordsOf,
      },
    });
    expect(await view.mayDelete()).toBe(false);
    expect(await view.mayDelete()).toBe(true);
    await rename(root, `${root}.away`);
    await rename(`${root}.empty`, root);
    expect(await view.mayDelete()).toBe(false);
  });

  it('deletes the first documents of a source that was empty when it began', async () => {
    const view = viewOf('own');
    expect(await view.mayDelete()).toBe(true);
    await fill(1);
    await rm(join(root, '0.md'));
    // The file system's own stamp may be too coarse to tell two changes within a tick.
    await utimes(root, 1, 1);
    expect(await view.mayDelete()).toBe(true);
  });

  it('does not take an empty folder for the root in which nothing ever changed while documents became known', async () => {
    const view = viewOf('own');
    expect(await view.mayDelete()).toBe(true);
    stored = ['0.md', '1.md'];
    expect(await view.mayDelete()).toBe(false);
    await utimes(root, 1, 1);
    expect(await view.mayDelete()).toBe(false);
  });

  it("leaves the word to the watcher's state where it names the root", async () => {
    await fill(10);
    await replaceRoot();
    const view = viewOf('watcher');
    expect(await view.mayDelete()).toBe(false);
    await createRootGuard({ source: 's', root, stateFolder: join(base, 'watcher/sources'), files }).accept();
    expect(await view.mayDelete()).toBe(true);
  });
});

it("tells a worker that shares the watcher's data folder whether it may delete, without a store", async () => {
  await fill(10);
  const stateFolder = join(base, 'watcher/sources');
  const view = createSourceView({ name: 's', root, stabilityMs: 300, settings: { exclude: ['x/**'] }, stateFolder, files });
  await createRootGuard({ source: 's', root, stateFolder, files }).check(stored);
  expect(await view.mayDelete()).toBe(true);
  await rename(root, `${root}2`);
  expect(await view.mayDelete()).toBe(false);
  expect(await view.rootState()).toMatchObject({ state: 'missing' });
  expect(await view.accepts('x/a.md')).toBe(false);
  expect(await view.explain('x/a.md')).toMatchObject({ rule: 'exclude' });
  expect(await view.accepts('a.md')).toBe(true);
});
