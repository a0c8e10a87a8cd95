import { mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CommitRecord, sha256, statKey } from '@sluice/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CompareOptions, type CompareSummary, compareSource, type Difference } from './compare-source.js';
import { collectKnown, type KnownDocument, type KnownDocuments } from './known-documents.js';
import { createNodeFiles } from './node-files.js';
import type { RootState } from './root-guard.js';
import { loadVerifiedStats } from './verified-stats.js';

const files = createNodeFiles();
const policy = { fingerprint: 'f', configHash: 'c' };
let base: string;
let root: string;
let known: KnownDocuments;
let hashed: string[];
let rootState: RootState;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'sluice-compare-'));
  root = join(base, 'root');
  await mkdir(root);
  known = new Map();
  hashed = [];
  rootState = { state: 'ok' };
});
afterEach(() => rm(base, { recursive: true, force: true }));

async function write(path: string, text: string): Promise<void> {
  await mkdir(join(root, path, '..'), { recursive: true });
  await writeFile(join(root, path), text);
}

/** Records a path's present state, as a worker would. */
async function record(path: string, state: Partial<KnownDocument> = {}): Promise<void> {
  const stat = await files.stat(join(root, path));
  if (stat === undefined) throw new Error(`no ${path}`);
  known.set(path, {
    status: 'indexed',
    reason: undefined,
    discarded: false,
    contentHash: await files.hash(join(root, path)),
    stat: statKey(stat),
    sidecarStat: '',
    ...policy,
    format: 'text',
    ...state,
  });
}

async function compare(
  options: Partial<CompareOptions> = {},
): Promise<{ differences: Difference[]; told: string[]; summary: CompareSummary }> {
  const differences: Difference[] = [];
  const comparison = compareSource({
    root,
    files: {
      ...files,
      async hash(path) {
        hashed.push(path.slice(root.length + 1));
        return files.hash(path);
      },
    },
    settings: {},
    known,
    policyFor: () => policy,
    guard: { check: async () => rootState },
    verified: await loadVerifiedStats(join(base, 'verified.ndjson')),
    retryTransient: false,
    ...options,
  });
  let step = await comparison.next();
  while (step.done !== true) {
    differences.push(...step.value);
    step = await comparison.next();
  }
  const told = differences.map(({ path, cause, gone }) => `${path} ${cause}${gone ? ' gone' : ''}`).sort();
  return { differences, told, summary: step.value };
}

describe('comparing disk and store', () => {
  it('tells what is new, changed and gone, what is there first', async () => {
    for (const path of ['same.md', 'edit.md', 'swap.md', 'back.md', 'gone.md']) {
      await write(path, 'version 1');
      await record(path);
    }
    const then = new Date(Date.now() - 5_000_000);
    await utimes(join(root, 'swap.md'), then, then);
    await record('swap.md');
    await write('edit.md', 'version 2, longer');
    await write('swap.md', 'version 2');
    await utimes(join(root, 'swap.md'), then, then);
    await rm(join(root, 'gone.md'));
    await record('back.md', { status: 'deleted', stat: '', contentHash: '' });
    await write('new.md', 'new');
    const { told, differences, summary } = await compare();
    expect(told).toEqual(['back.md scan', 'edit.md scan', 'gone.md scan gone', 'new.md scan', 'swap.md scan']);
    expect(differences.at(-1)?.path).toBe('gone.md');
    expect(summary).toMatchObject({ files: 5, errorCount: 0, root: { state: 'ok' } });
  });

  it('hashes a file whose stat changed once, and never again while it stays so', async () => {
    await write('a.md', 'same');
    await record('a.md');
    await utimes(join(root, 'a.md'), new Date(), new Date(12_345_678));
    expect((await compare()).told).toEqual([]);
    expect(hashed).toEqual(['a.md']);
    expect((await compare()).told).toEqual([]);
    expect(hashed).toEqual(['a.md']);
    // The proof speaks of one content only.
    await record('a.md', { contentHash: sha256('other'), stat: 'old' });
    expect((await compare()).told).toEqual(['a.md scan']);
    expect(hashed).toEqual(['a.md', 'a.md']);
  });

  it('a touched file is a change where created_at comes from mtime', async () => {
    await write('a.md', 'same');
    await record('a.md');
    await utimes(join(root, 'a.md'), new Date(), new Date(12_345_678));
    expect((await compare({ mtimeMatters: true })).told).toEqual(['a.md scan']);
    await record('a.md');
    expect((await compare({ mtimeMatters: true })).told).toEqual([]);
  });

  it('never takes a hash for a file that changed while it was read', async () => {
    await write('a.md', 'same');
    await record('a.md', { stat: 'old' });
    const changing = {
      ...files,
      async hash(path: string) {
        const hash = await files.hash(path);
        await utimes(path, new Date(), new Date(42_000));
        return hash;
      },
    };
    expect((await compare({ files: changing })).told).toEqual(['a.md scan']);
  });

  it('settings and sidecars', async () => {
    for (const path of ['a.md', 'b.md', 'c.md', 'd.md', 'e.md', 'f.md']) {
      await write(path, path);
      await record(path);
    }
    await record('a.md', { fingerprint: 'older' });
    await record('b.md', { configHash: 'older' });
    await write('c.md.meta.yaml', 'tags: [x]');
    await record('d.md', { sidecarStat: 'one that is gone' });
    await symlink(join(root, 'c.md.meta.yaml'), join(root, 'e.md.meta.yaml'));
    await mkdir(join(root, 'f.md.meta.yaml'));
    expect((await compare()).told).toEqual(['a.md config', 'b.md config', 'c.md scan', 'd.md scan', 'e.md scan', 'f.md scan']);
    await record('e.md', { sidecarStat: 'link' });
    await record('f.md', { sidecarStat: 'folder' });
    expect((await compare()).told).toEqual(['a.md config', 'b.md config', 'c.md scan', 'd.md scan']);
  });

  it('documents that rules ignore now are to go, even while the root is in doubt', async () => {
    await write('drafts/a.md', 'a');
    await write('b.log', 'b');
    await write('c.md', 'c');
    for (const path of ['drafts/a.md', 'b.log', 'c.md']) await record(path);
    await write('.sluiceignore', '*.log');
    const settings = { exclude: ['drafts/**'] };
    expect((await compare({ settings })).told).toEqual(['b.log config gone', 'drafts/a.md config gone']);
  });

  const failed = { status: 'failed' } as const;
  it.each<[string, Partial<KnownDocument>, { start: string[]; later: string[]; touched: string[]; edited: string[] }]>([
    ['embed_failed', { ...failed, reason: 'embed_failed' }, { start: ['retry'], later: [], touched: ['scan'], edited: ['scan'] }],
    [
      'store_rejected',
      { ...failed, reason: 'store_rejected' },
      { start: ['retry'], later: [], touched: ['scan'], edited: ['scan'] },
    ],
    [
      'store_unavailable',
      { ...failed, reason: 'store_unavailable' },
      { start: ['retry'], later: [], touched: ['scan'], edited: ['scan'] },
    ],
    ['llm_failed', { ...failed, reason: 'llm_failed' }, { start: ['retry'], later: [], touched: ['scan'], edited: ['scan'] }],
    ['internal', { ...failed, reason: 'internal' }, { start: ['retry'], later: [], touched: ['scan'], edited: ['scan'] }],
    ['corrupt', { ...failed, reason: 'corrupt' }, { start: [], later: [], touched: ['scan'], edited: ['scan'] }],
    [
      'other settings',
      { ...failed, reason: 'corrupt', fingerprint: 'x' },
      { start: ['config'], later: ['config'], touched: ['scan'], edited: ['scan'] },
    ],
    [
      'discarded',
      { ...failed, reason: 'internal', discarded: true, fingerprint: 'x' },
      { start: [], later: [], touched: [], edited: ['scan'] },
    ],
    ['skipped', { status: 'skipped', reason: 'unsupported_type' }, { start: [], later: [], touched: [], edited: ['scan'] }],
    ['empty', { status: 'empty' }, { start: [], later: [], touched: [], edited: ['scan'] }],
  ])('a document that is %s is tried again as its status says', async (_name, state, expected) => {
    await write('a.md', 'same');
    await record('a.md', state);
    const causes = async (options: Partial<CompareOptions>) => (await compare(options)).differences.map(({ cause }) => cause);
    expect(await causes({ retryTransient: true })).toEqual(expected.start);
    expect(await causes({})).toEqual(expected.later);
    await utimes(join(root, 'a.md'), new Date(), new Date(42_000));
    expect(await causes({})).toEqual(expected.touched);
    await write('a.md', 'edit');
    expect(await causes({})).toEqual(expected.edited);
  });

  it('names that are not UTF-8 are told once', async () => {
    const invalid = {
      ...files,
      list: async () => [{ name: 'bad\uFFFD.md', kind: 'file' as const, validName: false }],
    };
    expect((await compare({ files: invalid })).told).toEqual(['bad\uFFFD.md scan']);
    await write('a.md', 'a');
    await record('a.md', { status: 'failed', reason: 'invalid_path' });
    const before = known.get('a.md');
    known.clear();
    if (before !== undefined) known.set('bad\uFFFD.md', before);
    expect((await compare({ files: invalid })).told).toEqual([]);
  });

  it.each<RootState>([
    { state: 'missing', message: 'm' },
    { state: 'unreadable', message: 'm' },
    { state: 'replaced', message: 'm' },
  ])('takes nothing for gone while the root is $state', async (state) => {
    await write('gone.md', 'gone');
    await record('gone.md');
    await rm(join(root, 'gone.md'));
    rootState = state;
    const { told, summary } = await compare();
    expect(told).toEqual([]);
    expect(summary.root).toEqual(state);
  });

  it('takes nothing for gone when the root goes while it is listed', async () => {
    await write('gone.md', 'gone');
    await record('gone.md');
    await rm(join(root, 'gone.md'));
    const states: RootState[] = [{ state: 'ok' }, { state: 'missing', message: 'm' }];
    expect((await compare({ guard: { check: async () => states.shift() ?? rootState } })).told).toEqual([]);
  });

  it('takes nothing for gone below what could not be read, and says what that was', async () => {
    for (const path of ['a/x.md', 'a/b/y.md', 'ab/z.md']) {
      await write(path, path);
      await record(path);
    }
    await rm(join(root, 'ab/z.md'));
    const faulty = {
      ...files,
      async list(path: string) {
        if (path === join(root, 'a')) throw Object.assign(new Error('EIO'), { code: 'EIO' });
        return files.list(path);
      },
    };
    const { told, summary } = await compare({ files: faulty });
    expect(told).toEqual(['ab/z.md scan gone']);
    expect(summary.errors.map(({ path }) => path)).toEqual(['a']);
  });

  it('looks again before it takes a path for gone', async () => {
    await write('moved.md', 'moved');
    await record('moved.md');
    // Not in the listing, yet there: as a file that is moved to where the walk has been already.
    const racing = { ...files, list: async () => [] };
    expect((await compare({ files: racing })).told).toEqual([]);
  });
});

describe('known documents', () => {
  it('are the highest records of the wanted sources', async () => {
    async function* walk(): AsyncIterable<CommitRecord[]> {
      const base_ = { source: 's', source_path: 'a.md', status: 'indexed', attempt: '1' };
      // Only what is read of a record is made up.
      yield [
        { ...base_, fence: 2, stat: 'new' },
        { ...base_, fence: 1, stat: 'old' },
      ] as unknown as CommitRecord[];
      yield [{ ...base_, source: 'other', fence: 1 }] as unknown as CommitRecord[];
      yield [];
    }
    const { known: collected, others } = await collectKnown(walk(), ['s', 'empty']);
    expect(Object.fromEntries(others)).toEqual({ other: 1 });
    expect([...collected.keys()]).toEqual(['s', 'empty']);
    expect(collected.get('s')?.get('a.md')).toMatchObject({ stat: 'new' });
    expect(collected.get('empty')?.size).toBe(0);
  });
});
