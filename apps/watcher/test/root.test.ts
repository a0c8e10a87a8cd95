import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@sluice/core';
import { createNodeFiles } from '@sluice/sources';
import { createLogger } from '@sluice/telemetry';
import { until } from '@sluice/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSourceRunner } from '../src/source-runner.js';
import { type FakeInstance, makeFolder, makeInstance, source } from './fake-instance.js';

let instance: FakeInstance;
let root: string;
const write = (path: string, text: string) => writeFile(join(root, path), text);

beforeEach(async () => {
  instance = await makeInstance();
  root = await makeFolder();
});
afterEach(async () => {
  await instance.stopAll();
  await rm(root, { recursive: true, force: true });
  await rm(`${root}.away`, { recursive: true, force: true });
});

describe('W11: the root', () => {
  const twenty = async () => {
    for (let n = 0; n < 20; n++) await write(`${n}.md`, `text ${n}`);
  };

  it('renamed away and back loses nothing, says so, and is watched again', async () => {
    await twenty();
    await instance.start([source('s', root)]);
    await instance.scan('s');
    instance.requests.length = 0;
    await rename(root, `${root}.away`);
    await until(() => expect(instance.states.get('s')).toMatchObject({ reachable: false, deletes_suspended: true }));
    await instance.scan('s');
    expect(instance.requests).toEqual([]);
    expect(instance.indexed('s').length).toBe(20);
    await rename(`${root}.away`, root);
    await write('new.md', 'new');
    await until(() => expect(instance.indexed('s').length).toBe(21));
    await until(() => expect(instance.states.get('s')).toMatchObject({ reachable: true, deletes_suspended: false }));
    await write('later.md', 'later');
    await until(() => expect(instance.indexed('s').length).toBe(22));
    await rm(join(root, 'later.md'));
    await until(() => expect(instance.indexed('s').length).toBe(21));
    expect(new Set(instance.requests.map(({ path }) => path))).toEqual(new Set(['new.md', 'later.md']));
  });

  it('replaced by an empty folder keeps everything until an operator accepts it', async () => {
    await twenty();
    await instance.start([source('s', root)]);
    await instance.scan('s');
    await rename(root, `${root}.away`);
    await mkdir(root);
    await write('other.md', 'other');
    await until(() => expect(instance.states.get('s')).toMatchObject({ reachable: true, deletes_suspended: true }));
    await instance.scan('s');
    expect(instance.states.get('s')?.message).toContain('sluice reindex --source s');
    expect(instance.indexed('s').length).toBe(21);
    instance.accept('s');
    await instance.scan('s');
    await until(() => expect(instance.indexed('s')).toEqual(['other.md']));
    expect(instance.states.get('s')).toMatchObject({ deletes_suspended: false });
  });

  it('replaced by a folder of more files than were known keeps everything however often it is scanned', async () => {
    await twenty();
    await instance.start([source('s', root)]);
    await instance.scan('s');
    await rename(root, `${root}.away`);
    await mkdir(root);
    for (let n = 0; n < 30; n++) await write(`other${n}.md`, `other ${n}`);
    await until(() => expect(instance.indexed('s').length).toBe(50));
    for (let scan = 0; scan < 3; scan++) await instance.scan('s');
    expect(instance.states.get('s')).toMatchObject({ deletes_suspended: true });
    expect(instance.indexed('s').length).toBe(50);
    await rename(root, `${root}.other`);
    await rename(`${root}.away`, root);
    await until(() => expect(instance.indexed('s').length).toBe(20));
    await rm(`${root}.other`, { recursive: true });
  });

  it('replaced by a copy of itself is accepted by itself', async () => {
    await twenty();
    await instance.start([source('s', root)]);
    await instance.scan('s');
    await rename(root, `${root}.away`);
    await mkdir(root);
    for (let n = 1; n < 20; n++) await write(`${n}.md`, `text ${n}`);
    await until(() => expect(instance.indexed('s').length).toBe(19));
    // Told when the scan that accepted it has ended, or at the next look at the root.
    await until(() => expect(instance.states.get('s')).toMatchObject({ deletes_suspended: false }));
  });

  it('missing at the start keeps everything, and is found when it comes', async () => {
    await twenty();
    const first = await instance.start([source('s', root)]);
    await instance.scan('s');
    await first.stop();
    await rename(root, `${root}.away`);
    await instance.start([source('s', root)]);
    await instance.scan('s');
    expect(instance.indexed('s').length).toBe(20);
    expect(instance.states.get('s')).toMatchObject({ reachable: false, deletes_suspended: true });
    await rename(`${root}.away`, root);
    await write('new.md', 'new');
    await until(() => expect(instance.indexed('s').length).toBe(21));
  });

  it('really emptied loses all its documents, live and while off', async () => {
    await twenty();
    const first = await instance.start([source('s', root)]);
    await instance.scan('s');
    for (let n = 0; n < 10; n++) await rm(join(root, `${n}.md`));
    await until(() => expect(instance.indexed('s').length).toBe(10));
    await first.stop();
    for (let n = 10; n < 20; n++) await rm(join(root, `${n}.md`));
    await instance.start([source('s', root)]);
    await instance.scan('s');
    await until(() => expect(instance.indexed('s')).toEqual([]));
  });

  it.each(['EACCES', 'ESTALE', 'EIO'])('failing with %s, whole or in part, deletes nothing', async (code) => {
    await mkdir(join(root, 'sub'));
    for (let n = 0; n < 5; n++) await write(`sub/${n}.md`, `text ${n}`);
    await write('top.md', 'top');
    const files = createNodeFiles();
    let broken: string | undefined;
    const fail = (path: string) => {
      if (broken !== undefined && path.startsWith(broken)) throw Object.assign(new Error(`${code}: ${path}`), { code });
    };
    await instance.start([source('s', root)], {
      files: {
        ...files,
        async list(path) {
          fail(path);
          return files.list(path);
        },
      },
    });
    await instance.scan('s');
    expect(instance.indexed('s').length).toBe(6);
    broken = join(root, 'sub');
    await rm(join(root, 'top.md'));
    await instance.scan('s');
    await until(() => expect(instance.indexed('s').length).toBe(5));
    broken = root;
    await instance.scan('s');
    expect(instance.indexed('s').length).toBe(5);
    expect(instance.states.get('s')).toMatchObject({ deletes_suspended: true });
    broken = undefined;
    await write('new.md', 'new');
    await instance.scan('s');
    expect(instance.states.get('s')).toMatchObject({ deletes_suspended: false });
    expect(instance.indexed('s').length).toBe(6);
  });
});

it('a root that a scan found unreadable stays so, unwatched, until it can be listed', async () => {
  const files = createNodeFiles();
  let broken = false;
  const deps = instance.deps([source('s', root)], {
    files: {
      ...files,
      async list(path) {
        if (broken) throw Object.assign(new Error(`EACCES: ${path}`), { code: 'EACCES' });
        return files.list(path);
      },
    },
  });
  const needed: string[] = [];
  const runner = createSourceRunner(deps, source('s', root), (reason) => needed.push(reason));
  const scan = () =>
    runner.scan({ known: new Map(), retryTransient: false, acceptRoot: false, signal: new AbortController().signal });
  await runner.start();
  await scan();
  expect(runner.state()).toMatchObject({ reachable: true });
  broken = true;
  await scan();
  needed.length = 0;
  for (let n = 0; n < 3; n++) {
    await runner.tend();
    expect(runner.state()).toMatchObject({ reachable: false, deletes_suspended: true });
  }
  expect(needed).toEqual([]);
  broken = false;
  await runner.tend();
  expect(runner.state()).toMatchObject({ reachable: true, deletes_suspended: false });
  expect(needed).toEqual(['root']);
  await runner.stop();
});

it('a root that could not be watched is watched when it can be; so is what is in it', async () => {
  await mkdir(join(root, 'top/sub'), { recursive: true });
  const files = createNodeFiles();
  let broken: 'list' | 'stat' | undefined = 'list';
  let offset = 0;
  const deps = instance.deps([source('s', root)], {
    clock: { ...systemClock, monotonic: () => systemClock.monotonic() + offset },
    files: {
      ...files,
      async list(path) {
        if (broken === 'list' && path === root) throw Object.assign(new Error('EACCES'), { code: 'EACCES' });
        return files.list(path);
      },
      async stat(path) {
        if (broken === 'stat' && path.endsWith('sub')) throw Object.assign(new Error('EACCES'), { code: 'EACCES' });
        return files.stat(path);
      },
    },
  });
  let needed: string[] = [];
  const runner = createSourceRunner(deps, source('s', root), (reason) => needed.push(reason));
  await runner.start();
  expect(runner.state().watch_error).toContain('EACCES');
  needed = [];
  await runner.tend();
  expect(needed).toEqual([]);
  broken = 'stat';
  await runner.tend();
  expect(needed).toEqual(['watch', 'root']);
  expect(runner.state().watch_error).toBeUndefined();
  await write('top/a.md', 'a');
  await until(() => expect(instance.indexed('s')).toEqual(['top/a.md']));

  needed = [];
  offset += 10_000;
  await runner.tend();
  expect(needed).toEqual([]);
  broken = undefined;
  offset += 10_000;
  await runner.tend();
  expect(needed).toEqual(['watch']);
  await write('top/sub/b.md', 'b');
  await until(() => expect(instance.indexed('s')).toEqual(['top/a.md', 'top/sub/b.md']));
  await runner.stop();
});

it('a source that is no longer configured keeps its documents, and that is said', async () => {
  await write('a.md', 'a');
  const first = await instance.start([source('old', root), source('s', await makeFolder())]);
  await instance.scan('old');
  await first.stop();
  const lines: string[] = [];
  await instance.start([source('s', root)], {
    logger: createLogger({ role: 'watcher', destination: { write: (line) => lines.push(line) } }),
  });
  await instance.scan('s');
  expect(instance.indexed('old')).toEqual(['a.md']);
  expect(lines.filter((line) => line.includes('sluice source remove old')).length).toBe(1);
});
