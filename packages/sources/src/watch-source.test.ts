import { execFileSync } from 'node:child_process';
import { type FSWatcher, watch as watchFolder } from 'node:fs';
import { appendFile, mkdir, mkdtemp, realpath, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@sluice/core';
import { until } from '@sluice/testkit';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { Change } from './document-report.js';
import { createNodeFiles } from './node-files.js';
import { type SourceWatch, type WatchOptions, watchSource } from './watch-source.js';

const STABILITY_MS = 60;
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function makeRoot(): Promise<string> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'sluice-watch-')));
  closers.push(() => rm(root, { recursive: true, force: true }));
  return root;
}

interface Watched {
  watch: SourceWatch;
  changes: Change[];
  /** The last cause reported for each path. */
  last: Map<string, string>;
  errors: unknown[];
  rules: () => number;
}

async function startWatch(root: string, options: Partial<WatchOptions> = {}): Promise<Watched> {
  const changes: Change[] = [];
  const last = new Map<string, string>();
  const errors: unknown[] = [];
  let rules = 0;
  const watch = await watchSource({
    root,
    files: createNodeFiles(),
    clock: systemClock,
    settings: {},
    polling: false,
    stabilityMs: STABILITY_MS,
    onChanges(told) {
      changes.push(...told);
      for (const { path, cause } of told) last.set(path, cause);
    },
    onRules: () => {
      rules++;
    },
    onRootGone: () => {},
    onError: (error) => errors.push(error),
    ...options,
  });
  closers.push(() => watch.close());
  return { watch, changes, last, errors, rules: () => rules };
}

function present(last: Map<string, string>): string[] {
  return [...last]
    .filter(([, cause]) => cause !== 'unlink')
    .map(([path]) => path)
    .sort();
}

describe('watching a source', () => {
  it('reports files in folders made after the start, and of their folders going', async () => {
    const root = await makeRoot();
    const { watch, last, changes } = await startWatch(root);
    watch.seenAll();
    await mkdir(join(root, 'a/b/c'), { recursive: true });
    await writeFile(join(root, 'a/b/c/x.md'), 'x');
    await writeFile(join(root, 'y.md'), 'y');
    await until(() => expect(present(last)).toEqual(['a/b/c/x.md', 'y.md']));
    await rename(join(root, 'a'), join(root, 'z'));
    await until(() => expect(present(last)).toEqual(['y.md', 'z/b/c/x.md']));
    await appendFile(join(root, 'z/b/c/x.md'), 'more');
    await until(() => expect(last.get('z/b/c/x.md')).toBe('change'));
    await rm(join(root, 'z'), { recursive: true });
    await until(() => expect(present(last)).toEqual(['y.md']));
    expect(changes.filter(({ path }) => path.startsWith('z/')).length).toBeLessThan(10);
  });

  it('W01: reports a file only when it has been still', async () => {
    const root = await makeRoot();
    const { changes } = await startWatch(root, { stabilityMs: 2_000 });
    const file = join(root, 'big.csv');
    await writeFile(file, 'n,v\n');
    let told = 0;
    for (let k = 0; k < 20; k++) {
      await appendFile(file, `${k},${k * k}\n`);
      await systemClock.sleep(40);
      told += changes.length;
    }
    expect(told).toBe(0);
    await until(() => expect(changes).toEqual([{ path: 'big.csv', cause: 'add' }]));
  });

  it('W03: three ways to save, twice in a row and for three files, end in a told change and never name the helper files', async () => {
    const root = await makeRoot();
    const names = ['a.md', 'b.md', 'c.md'];
    const { watch, last, changes } = await startWatch(root);
    for (const name of names) await writeFile(join(root, name), 'Answer is 11');
    await until(() => expect(present(last)).toEqual(names));
    const byTemporary = async (name: string) => {
      await writeFile(join(root, `.${name}.tmp1`), 'Answer is 22');
      await rename(join(root, `.${name}.tmp1`), join(root, name));
    };
    const byBackup = async (name: string) => {
      await rename(join(root, name), join(root, `${name}~`));
      await writeFile(join(root, name), 'Answer is 22');
      await rm(join(root, `${name}~`));
    };
    const byUnlink = async (name: string) => {
      await rm(join(root, name));
      await until(() => expect(last.get(name)).toBe('unlink'));
      await writeFile(join(root, name), 'Answer is 22');
    };
    for (const save of [byTemporary, byTemporary, byBackup, byBackup, byUnlink, byUnlink]) {
      changes.length = 0;
      await Promise.all(names.map(save));
      await until(() => {
        const told = new Set(changes.filter(({ cause }) => cause !== 'unlink').map(({ path }) => path));
        expect([...told].sort()).toEqual(names);
      });
      await watch.idle();
      expect(present(last)).toEqual(names);
    }
    expect([...last.keys()].sort()).toEqual(names);
  });

  it('W04: a file created, deleted and created again is told, whatever it is called', async () => {
    const root = await makeRoot();
    const { last } = await startWatch(root);
    await writeFile(join(root, 'f.txt'), 'hello 7');
    await rm(join(root, 'f.txt'));
    await until(() => expect(last.get('f.txt') ?? 'unlink').toBe('unlink'));
    await writeFile(join(root, 'f.txt'), 'hello 7');
    await until(() => expect(present(last)).toEqual(['f.txt']));
  });

  it('W05: a folder renamed there and back ends with the present paths', async () => {
    const root = await makeRoot();
    await mkdir(join(root, 'old'));
    await writeFile(join(root, 'old/a.md'), 'alpha 1');
    await writeFile(join(root, 'old/b.md'), 'beta 2');
    const { watch, last } = await startWatch(root);
    for (const path of ['old/a.md', 'old/b.md']) watch.seen(path);
    let from = 'old';
    for (const to of ['new', 'old', 'x', 'old', 'x', 'new']) {
      await rename(join(root, from), join(root, to));
      await until(() => expect(present(last)).toEqual([`${to}/a.md`, `${to}/b.md`]));
      from = to;
    }
    // Without a pause between, so that the events of one rename meet the disk after the next.
    for (const to of ['p', 'q', 'r', 'q']) {
      await rename(join(root, from), join(root, to));
      from = to;
    }
    await until(() => expect(present(last)).toEqual(['q/a.md', 'q/b.md']));
  });

  it('W07: a case-only rename is one document, two spellings side by side are two', async () => {
    const root = await makeRoot();
    await writeFile(join(root, 'Ledger.md'), 'case 5');
    const { watch, last } = await startWatch(root);
    watch.seen('Ledger.md');
    await rename(join(root, 'Ledger.md'), join(root, 'ledger.md'));
    await until(() => expect(Object.fromEntries(last)).toEqual({ 'Ledger.md': 'unlink', 'ledger.md': 'add' }));
    await writeFile(join(root, 'Ledger.md'), 'another');
    await until(() => expect(present(last)).toEqual(['Ledger.md', 'ledger.md']));
    await rm(join(root, 'Ledger.md'));
    await until(() => expect(present(last)).toEqual(['ledger.md']));
  });

  it('W09: links are no documents, and cycles end', async () => {
    const root = await makeRoot();
    await mkdir(join(root, 's'));
    await symlink('..', join(root, 's/up'));
    const { watch, last, errors } = await startWatch(root);
    await writeFile(join(root, 's/a.md'), 'a');
    await symlink('a.md', join(root, 's/link.md'));
    await symlink('/etc', join(root, 'etc'));
    await writeFile(join(root, 'z.md'), 'z');
    await until(() => expect(present(last)).toEqual(['s/a.md', 'z.md']));
    await rm(join(root, 's/a.md'));
    await symlink('../z.md', join(root, 's/a.md'));
    await until(() => expect(present(last)).toEqual(['z.md']));
    await watch.idle();
    expect([...last.keys()].sort()).toEqual(['s/a.md', 'z.md']);
    expect(errors).toEqual([]);
  });

  it('a sidecar reports its file, an ignore file the rules', async () => {
    const root = await makeRoot();
    await writeFile(join(root, 'a.pdf'), 'a');
    const { watch, last, changes, rules } = await startWatch(root);
    watch.seen('a.pdf');
    const sidecar = join(root, 'a.pdf.meta.yaml');
    const writes = () => writeFile(sidecar, 'tags: [x]');
    const links = () => symlink(join(root, 'a.pdf'), sidecar);
    for (const step of [writes, () => rm(sidecar), links, () => rm(sidecar), () => mkdir(sidecar)]) {
      changes.length = 0;
      await step();
      await until(() => expect(changes).toContainEqual({ path: 'a.pdf', cause: 'change' }));
    }
    expect([...last.keys()]).toEqual(['a.pdf']);
    expect(rules()).toBe(0);
    await writeFile(join(root, '.sluiceignore'), '*.log');
    await until(() => expect(rules()).toBeGreaterThan(0));
    await writeFile(join(root, 'x.log'), 'x');
    await writeFile(join(root, 'y.md'), 'y');
    await until(() => expect(last.get('y.md')).toBe('add'));
    await watch.idle();
    expect(last.has('x.log')).toBe(false);
  });

  it('a swap with the same size and the mtime put back is told', async () => {
    const root = await makeRoot();
    const file = join(root, 'swap.md');
    await writeFile(file, 'first');
    const then = new Date(Date.now() - 1_000_000);
    await utimes(file, then, then);
    const { changes } = await startWatch(root);
    await writeFile(file, 'other');
    await utimes(file, then, then);
    await until(() => expect(changes).toContainEqual({ path: 'swap.md', cause: 'add' }));
  });

  it('a file that becomes a folder, and the way back', async () => {
    const root = await makeRoot();
    await writeFile(join(root, 'x'), 'file');
    const { watch, last } = await startWatch(root);
    watch.seen('x');
    await rm(join(root, 'x'));
    await mkdir(join(root, 'x'));
    await writeFile(join(root, 'x/in.md'), 'in');
    await until(() => expect(Object.fromEntries(last)).toEqual({ x: 'unlink', 'x/in.md': 'add' }));
    await rm(join(root, 'x'), { recursive: true });
    await writeFile(join(root, 'x'), 'file again');
    await until(() => expect(present(last)).toEqual(['x']));
  });

  it('what cannot be entered is reported once and tried again, and the rest is watched', async () => {
    const root = await makeRoot();
    for (const folder of ['others/in/deep', 'ruled/sub', 'closed/sub', 'open/sub']) {
      await mkdir(join(root, folder), { recursive: true });
    }
    await writeFile(join(root, 'ruled/.sluiceignore'), '*.log');
    const files = createNodeFiles();
    let broken = true;
    const fail = (path: string) => {
      if (broken) throw Object.assign(new Error(`EACCES: permission denied, '${path}'`), { code: 'EACCES' });
    };
    const { watch, last, errors } = await startWatch(root, {
      files: {
        ...files,
        // A folder that can be listed and not entered; rules, and a folder, that cannot be read.
        async stat(path) {
          if (path.startsWith(join(root, 'others/'))) fail(path);
          return files.stat(path);
        },
        async readHead(path, length) {
          if (path.endsWith('.sluiceignore')) fail(path);
          return files.readHead(path, length);
        },
        async list(path) {
          if (path === join(root, 'closed')) fail(path);
          return files.list(path);
        },
      },
    });
    const unreadable = ['others/in', 'ruled/.sluiceignore', 'closed'].map((path) => expect.stringContaining(join(root, path)));
    const messages = () => errors.map(String).sort();
    expect(messages()).toEqual([unreadable[2], unreadable[0], unreadable[1]]);
    await writeFile(join(root, 'open/sub/a.md'), 'a');
    await until(() => expect(present(last)).toEqual(['open/sub/a.md']));
    expect(await watch.tryAgain()).toBe(false);
    expect(errors.length).toBe(3);

    broken = false;
    expect(await watch.tryAgain()).toBe(true);
    expect(await watch.tryAgain()).toBe(false);
    const later = ['closed/b.md', 'closed/sub/c.md', 'others/in/d.md', 'others/in/deep/e.md', 'ruled/sub/f.md'];
    for (const path of [...later, 'ruled/sub/g.log']) await writeFile(join(root, path), path);
    await until(() => expect(present(last)).toEqual([...later, 'open/sub/a.md'].sort()));
    expect(errors.length).toBe(3);
  });

  it('what comes while it cannot be looked at is tried again too', async () => {
    const root = await makeRoot();
    const files = createNodeFiles();
    let broken = true;
    const { watch, last, errors } = await startWatch(root, {
      files: {
        ...files,
        async list(path) {
          if (broken && path.endsWith('new')) throw Object.assign(new Error('EACCES'), { code: 'EACCES' });
          return files.list(path);
        },
      },
    });
    await mkdir(join(root, 'new/sub'), { recursive: true });
    await until(() => expect(errors.length).toBe(1));
    broken = false;
    expect(await watch.tryAgain()).toBe(true);
    await writeFile(join(root, 'new/sub/a.md'), 'a');
    await until(() => expect(present(last)).toEqual(['new/sub/a.md']));
  });

  it('a root that cannot be read is refused, and nothing of it stays watched', async () => {
    const root = await makeRoot();
    const files = createNodeFiles();
    const open = new Set<FSWatcher>();
    const watching = watchSource({
      root,
      files: { ...files, list: () => Promise.reject(Object.assign(new Error('EACCES'), { code: 'EACCES' })) },
      clock: systemClock,
      settings: {},
      polling: false,
      stabilityMs: STABILITY_MS,
      onChanges: () => {},
      onRules: () => {},
      onRootGone: () => {},
      onError: () => {},
      watchFolder: ((...args: Parameters<typeof watchFolder>) => {
        const watcher = watchFolder(...args);
        open.add(watcher);
        watcher.on('close', () => open.delete(watcher));
        return watcher;
      }) as typeof watchFolder,
    });
    await expect(watching).rejects.toThrow('EACCES');
    await until(() => expect(open.size).toBe(0));
  });

  it('polls where asked', async () => {
    const root = await makeRoot();
    await mkdir(join(root, 'sub'));
    const { watch, last } = await startWatch(root, { polling: true });
    expect(watch.polling).toBe(true);
    await writeFile(join(root, 'sub/a.md'), 'a');
    await writeFile(join(root, 'b.md~'), 'junk');
    await until(() => expect(present(last)).toEqual(['sub/a.md']));
    await rm(join(root, 'sub'), { recursive: true });
    await until(() => expect(present(last)).toEqual([]));
  });

  it('after any history of folders and files the told state is that of the disk', async () => {
    const folder = fc.constantFrom('a', 'b', 'a/c', 'b/c', 'a/c/d');
    const file = fc.tuple(folder, fc.constantFrom('1.md', '2.md')).map(([where, name]) => `${where}/${name}`);
    const step = fc.oneof(
      fc.record({ act: fc.constant('write' as const), to: file }),
      fc.record({ act: fc.constant('write' as const), to: file }),
      fc.record({ act: fc.constant('mkdir' as const), to: folder }),
      fc.record({ act: fc.constant('rm' as const), to: fc.oneof(folder, file) }),
      fc.record({ act: fc.constant('mv' as const), from: folder, to: folder }),
      fc.record({ act: fc.constant('mv' as const), from: file, to: file }),
      fc.record({ act: fc.constant('pause' as const), ms: fc.integer({ min: 1, max: 30 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const root = await makeRoot();
        const { watch, last, errors } = await startWatch(root, { stabilityMs: 20 });
        for (const each of steps) {
          // Most steps fail on most trees: what the disk does then is what counts.
          if (each.act === 'pause') await systemClock.sleep(each.ms);
          else if (each.act === 'mv') await rename(join(root, each.from), join(root, each.to)).catch(() => undefined);
          else if (each.act === 'mkdir') await mkdir(join(root, each.to), { recursive: true }).catch(() => undefined);
          else if (each.act === 'rm') await rm(join(root, each.to), { recursive: true, force: true }).catch(() => undefined);
          else await writeFile(join(root, each.to), 'x').catch(() => undefined);
        }
        const onDisk = execFileSync('find', ['.', '-type', 'f', '-printf', '%P\n'], { cwd: root })
          .toString()
          .split('\n')
          .filter(Boolean)
          .sort();
        await until(() => expect(present(last)).toEqual(onDisk));
        await watch.idle();
        expect(present(last)).toEqual(onDisk);
        // The tree is still watched: every folder reports a new file.
        const folders = execFileSync('find', ['.', '-type', 'd', '-printf', '%P\n'], { cwd: root })
          .toString()
          .split('\n')
          .filter(Boolean);
        for (const each of folders) await writeFile(join(root, each, 'probe.md'), 'p');
        const probes = folders.map((each) => `${each}/probe.md`);
        await until(() => expect(present(last)).toEqual([...onDisk, ...probes].sort()));
        expect(errors).toEqual([]);
        await watch.close();
      }),
      // Shrinking would wait for what doesn't come again and again.
      { numRuns: 25, endOnFailure: true },
    );
  });
});
