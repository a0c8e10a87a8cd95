import { randomUUID } from 'node:crypto';
import { appendFile, mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createReconcileQueue, createReconcileWorker, createRedis } from '@sluice/queues';
import { createMetrics } from '@sluice/telemetry';
import { testServices, until } from '@sluice/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type FakeInstance, makeFolder, makeInstance, recordOf, source } from './fake-instance.js';

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

describe('scans', () => {
  it('W13: at a restart finds what changed while nothing ran, and only that', async () => {
    for (const name of ['keep.md', 'edit.md', 'del.md', 'swap.md', 'fail.md']) await write(name, `${name} one`);
    const then = new Date(Date.now() - 1_000_000);
    await utimes(join(root, 'swap.md'), then, then);
    instance.failing.set('fail.md', 'embed_failed');
    const first = await instance.start([source('s', root)]);
    await instance.scan('s');
    expect(instance.indexed('s')).toEqual(['del.md', 'edit.md', 'keep.md', 'swap.md']);
    await first.stop();

    await write('edit.md', 'edit.md two');
    await rm(join(root, 'del.md'));
    await write('swap.md', 'swap.md two');
    await utimes(join(root, 'swap.md'), then, then);
    await write('new.md', 'new');
    instance.requests.length = 0;
    await instance.start([source('s', root)]);
    await instance.scan('s');
    expect(instance.indexed('s')).toEqual(['edit.md', 'fail.md', 'keep.md', 'new.md', 'swap.md']);
    const causes = new Map(instance.requests.map(({ path, cause, urgency }) => [path, [cause, urgency]]));
    expect(Object.fromEntries(causes)).toEqual({
      'edit.md': ['scan', 'bulk'],
      'swap.md': ['scan', 'bulk'],
      'new.md': ['scan', 'bulk'],
      'del.md': ['scan', 'bulk'],
      'fail.md': ['retry', 'bulk'],
    });
    expect(instance.writes('s', 'keep.md')).toBe(1);
    const order = instance.requests.map(({ path }) => path);
    expect(instance.requests.find(({ path }) => path === 'del.md')?.delayMs).toBeGreaterThanOrEqual(1000);
    expect(order).toContain('del.md');
  });

  it('an unchanged rescan sees every file and puts nothing into the queue', async () => {
    for (let n = 0; n < 40; n++) await write(`${n}.md`, `text ${n}`);
    await instance.start([source('s', root)]);
    await instance.scan('s');
    expect(instance.requests.length).toBe(40);
    const before = await instance.filesScanned();
    await instance.scan('s');
    expect(await instance.filesScanned()).toBe(before + 40);
    expect(instance.requests.length).toBe(40);
  });

  // 20,000 files in 200 folders and 2,000 more with SLUICE_TEST_FULL=1; a tenth of that without.
  const folders = process.env.SLUICE_TEST_FULL === '1' ? 200 : 20;
  it(`W14: every file of a large tree (${folders * 100}) and of a burst during the first scan is told`, async () => {
    for (let folder = 0; folder < folders; folder++) {
      await mkdir(join(root, `d${folder}`));
      for (let n = 0; n < 100; n++) await write(`d${folder}/f${n}.txt`, `line ${n}`);
    }
    const started = instance.start([source('s', root)]);
    for (let n = 0; n < folders * 10; n++) await write(`d${n % folders}/late${n}.txt`, `late ${n}`);
    await started;
    const all = folders * 110;
    await until(() => expect(instance.indexed('s').length).toBe(all));
    await instance.scan('s');
    const counts = new Map<string, number>();
    for (const path of instance.indexed('s')) counts.set(path, instance.writes('s', path));
    expect([...counts.values()].every((count) => count === 1)).toBe(true);
    expect(instance.states.get('s')).toMatchObject({ reachable: true, files: all });
    expect(process.memoryUsage().rss).toBeLessThan(1024 ** 3);
  });

  it('W15: equal names and equal contents in other folders are other documents', async () => {
    for (const folder of ['a', 'b', 'c']) await mkdir(join(root, folder));
    await write('a/readme.md', 'red 1');
    await write('b/readme.md', 'blue 2');
    await write('c/readme.md', 'red 1');
    await instance.start([source('s', root)]);
    await instance.scan('s');
    expect(instance.indexed('s')).toEqual(['a/readme.md', 'b/readme.md', 'c/readme.md']);
    instance.requests.length = 0;
    await write('b/readme.md', 'blue 3');
    await rm(join(root, 'c'), { recursive: true });
    await until(() => expect(instance.indexed('s')).toEqual(['a/readme.md', 'b/readme.md']));
    await instance.scan('s');
    expect(new Set(instance.requests.map(({ path }) => path))).toEqual(new Set(['b/readme.md', 'c/readme.md']));
  });

  it('a change made before the request is queued when the scan is answered, though it was still being written', async () => {
    await instance.start([source('s', root, { stabilityMs: 2_000 })]);
    await instance.scan('s');
    await write('slow.md', 'one');
    let done = false;
    const scan = instance.scan('s').then(() => {
      done = true;
    });
    for (let n = 0; n < 6; n++) {
      await appendFile(join(root, 'slow.md'), `part ${n}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(done).toBe(false);
    }
    await scan;
    expect(instance.indexed('s')).toEqual(['slow.md']);
    expect(instance.writes('s', 'slow.md')).toBe(1);
  });

  it('a file that is written without end holds up its own request only', async () => {
    await write('a.md', 'a');
    await instance.start([source('s', root, { stabilityMs: 2_000 })]);
    await instance.scan('s');
    let writing = true;
    const log = (async () => {
      while (writing) {
        await appendFile(join(root, 'endless.log'), 'line\n');
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
    })();
    await until(() => expect(instance.states.get('s')).toBeDefined());
    const waiting = instance.scan('s');
    await write('b.md', 'b');
    await until(() => expect(instance.indexed('s')).toContain('b.md'));
    writing = false;
    await log;
    await waiting;
    expect(instance.indexed('s')).toEqual(['a.md', 'b.md', 'endless.log']);
  });

  it('a file that is written without end keeps no later scan back, also after one that failed', async () => {
    await write('a.md', 'a');
    let writing = true;
    const log = (async () => {
      while (writing) {
        await appendFile(join(root, 'endless.log'), 'line\n');
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
    })();
    let failed = 0;
    const app = await instance.start([source('s', root, { stabilityMs: 2_000 })], {
      async *walkRecords() {
        if (failed++ < 2) throw new Error('the store is away');
        for (const record of [...instance.records.values()]) yield [record];
      },
    });
    await until(() => expect(app.scans).toBe(1));
    await until(() => expect(instance.indexed('s')).toEqual(['a.md']));
    instance.records.delete('s/a.md');
    instance.flush();
    await until(() => expect(app.scans).toBe(2));
    await until(() => expect(instance.indexed('s')).toEqual(['a.md']));
    writing = false;
    await log;
  });

  it('settings, rules and sidecars: a change of any re-processes the documents it touches', async () => {
    await mkdir(join(root, 'drafts'));
    for (const name of ['a.md', 'b.log', 'drafts/c.md']) await write(name, name);
    const first = await instance.start([source('s', root)]);
    await instance.scan('s');
    expect(instance.indexed('s')).toEqual(['a.md', 'b.log', 'drafts/c.md']);
    await write('.sluiceignore', '*.log\n');
    await until(() => expect(instance.indexed('s')).toEqual(['a.md', 'drafts/c.md']));
    await rm(join(root, '.sluiceignore'));
    await until(() => expect(instance.indexed('s')).toEqual(['a.md', 'b.log', 'drafts/c.md']));
    instance.requests.length = 0;
    await write('a.md.meta.yaml', 'tags: [x]');
    await until(() => expect(instance.requests.map(({ path }) => path)).toContain('a.md'));
    await instance.scan('s');
    expect(instance.requests.filter(({ path }) => path !== 'a.md')).toEqual([]);
    await first.stop();

    instance.policy = { fingerprint: 'f2', configHash: 'c1' };
    instance.requests.length = 0;
    const second = await instance.start([source('s', root, { exclude: ['drafts/**'] })]);
    await instance.scan('s');
    await until(() => expect(instance.indexed('s')).toEqual(['a.md', 'b.log']));
    expect(new Set(instance.requests.map(({ cause }) => cause))).toEqual(new Set(['config']));
    await second.stop();
  });
});

describe('the queue', () => {
  it('Q08 (a): away while files come and go, all is made up for when it is back', async () => {
    await write('gone.md', 'gone');
    await instance.start([source('s', root)]);
    await instance.scan('s');
    instance.queueAway = true;
    for (let n = 0; n < 10; n++) await write(`${n}.md`, `text ${n}`);
    await rm(join(root, 'gone.md'));
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(instance.indexed('s')).toEqual(['gone.md']);
    instance.queueAway = false;
    await until(() => expect(instance.indexed('s').length).toBe(10));
  });

  it('Q08 (b): flushed, everything is compared again and failures that may have passed are tried again', async () => {
    for (const name of ['a.md', 'b.md', 'c.md']) await write(name, name);
    instance.failing.set('b.md', 'store_unavailable');
    instance.failing.set('c.md', 'corrupt');
    await instance.start([source('s', root)]);
    await instance.scan('s');
    // A job that is lost with the queue: its record is never written.
    instance.records.delete('s/a.md');
    instance.requests.length = 0;
    instance.flush();
    await until(() => expect(instance.indexed('s')).toEqual(['a.md', 'b.md']));
    expect(instance.requests.map(({ path, cause }) => `${path} ${cause}`).sort()).toEqual(['a.md scan', 'b.md retry']);
  });

  it('a mass of new files is queued in bulk, an edit beside it is not', async () => {
    await mkdir(`${root}.away`);
    for (let n = 0; n < 150; n++) await writeFile(join(`${root}.away`, `${n}.md`), `text ${n}`);
    await write('edit.md', 'one');
    await instance.start([source('s', root)]);
    await instance.scan('s');
    instance.requests.length = 0;
    await rename(`${root}.away`, join(root, 'many'));
    await write('edit.md', 'two');
    await until(() => expect(instance.indexed('s')).toHaveLength(151));
    await until(() => expect(instance.writes('s', 'edit.md')).toBe(2));
    const mass = instance.requests.filter(({ path }) => path.startsWith('many/'));
    expect(new Set(mass.map(({ path }) => path)).size).toBe(150);
    // They come as they have been still; what comes after the first hundred or so is a mass.
    expect(mass.filter(({ urgency }) => urgency === 'interactive').length).toBeLessThan(150);
    const edits = instance.requests.filter(({ path }) => path === 'edit.md');
    expect(new Set(edits.map(({ urgency }) => urgency))).toEqual(new Set(['interactive']));
  });

  it('what a scan finds gone waits for room in the queue as what it finds new does', async () => {
    const url = testServices().redis;
    const namespace = `test-${randomUUID()}`;
    const redis = createRedis({ url, role: 'producer' });
    const queue = createReconcileQueue({ redis, namespace, maxWaiting: 100 });
    const first = await instance.start([source('s', root)]);
    await instance.scan('s');
    await first.stop();
    const gone = Array.from({ length: 2000 }, (_, n) => `${n}.md`);
    for (const path of gone) instance.records.set(`s/${path}`, recordOf(`s/${path}`, { source: 's', path }, 1, {}));

    const app = await instance.start([source('s', root)], { queue });
    const handled = new Set<string>();
    let most = 0;
    const worker = createReconcileWorker({
      url,
      namespace,
      concurrency: 8,
      async handle({ path }) {
        const { waiting, delayed } = await queue.counts();
        most = Math.max(most, waiting + delayed);
        handled.add(path);
      },
    });
    await worker.start();
    await until(() => expect(handled.size).toBe(2000));
    expect(most).toBeLessThan(1000);
    await app.stop();
    await worker.stop({ deadlineMs: 0 });
    await queue.removeAll();
    await queue.close();
    redis.disconnect();
  });

  it('a store that is away holds up scans, not events', async () => {
    let away = true;
    await instance.start([source('s', root)], {
      async *walkRecords() {
        if (away) throw new Error('the store is away');
        for (const record of [...instance.records.values()]) yield [record];
      },
    });
    await write('a.md', 'a');
    await until(() => expect(instance.indexed('s')).toEqual(['a.md']));
    away = false;
    await instance.scan('s');
    expect(instance.requests.every(({ path }) => path === 'a.md')).toBe(true);
  });
});

describe('no watches left', () => {
  it.each(['ENOSPC', 'EMFILE'])('%s is said, and scans find what events do not tell', async (code) => {
    await mkdir(join(root, 'sub'));
    await instance.start([source('s', root)], {
      watchFolder: () => {
        throw Object.assign(new Error(`${code}: no watches`), { code });
      },
    });
    await instance.scan('s');
    await until(() => expect(instance.states.get('s')?.watch_error).toContain(code));
    await write('sub/a.md', 'a');
    await until(() => expect(instance.indexed('s')).toEqual(['sub/a.md']));
  });
});

describe('two watchers and more sources', () => {
  it('two watchers on one source end in the same state', async () => {
    await instance.start([source('s', root)]);
    await instance.start([source('s', root)]);
    await mkdir(join(root, 'a'));
    await write('a/x.md', 'x');
    await until(() => expect(instance.indexed('s')).toEqual(['a/x.md']));
    await rename(join(root, 'a'), join(root, 'b'));
    await until(() => expect(instance.indexed('s')).toEqual(['b/x.md']));
    await instance.scan('s');
    expect(instance.indexed('s')).toEqual(['b/x.md']);
  });

  it('a source that is missing does not stop another', async () => {
    await instance.start([source('gone', join(root, 'nowhere')), source('s', root)]);
    await write('a.md', 'a');
    await until(() => expect(instance.indexed('s')).toEqual(['a.md']));
    await until(() => expect(instance.states.get('gone')).toMatchObject({ reachable: false }));
  });

  it('a disk too full for metrics fails no scan', async () => {
    await write('a.md', 'a');
    const full = () => Promise.reject(Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' }));
    await instance.start([source('s', root)], { metrics: { ...createMetrics({ role: 'watcher-test' }), flush: full } });
    await instance.scan('s');
    expect(instance.indexed('s')).toEqual(['a.md']);
  });

  it('a source whose scan fails does not keep others from being scanned', async () => {
    const other = await makeFolder();
    await write('a.md', 'a');
    await writeFile(join(other, 'b.md'), 'b');
    let broken = true;
    await instance.start([source('bad', other), source('s', root)], {
      policyFor(name) {
        if (broken && name === 'bad') throw new Error('broken settings');
        return instance.policy;
      },
    });
    await instance.scan('s');
    await until(() => expect(instance.indexed('bad')).toEqual(['b.md']));
    const answered = instance.scan('bad');
    await instance.scan('s');
    expect(instance.indexed('s')).toEqual(['a.md']);
    broken = false;
    await answered;
  });

  it('W09: links inside and outside of the root are no documents of their own', async () => {
    await mkdir(join(root, 's'));
    await write('s/a.md', 'a');
    await symlink('..', join(root, 's/up'));
    await symlink('a.md', join(root, 's/b.md'));
    await symlink('/etc', join(root, 'etc'));
    await instance.start([source('s', root)]);
    await instance.scan('s');
    expect(instance.indexed('s')).toEqual(['s/a.md']);
    expect(instance.requests.length).toBe(1);
  });
});
