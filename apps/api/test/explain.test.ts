import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '@sluice/config';
import { createNodeFiles, createSourceView } from '@sluice/sources';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createExplain, type ExplainDeps } from '../src/explain.js';

let base: string;
let root: string;
let explain: ReturnType<typeof createExplain>;

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'sluice-explain-')));
  root = join(base, 'inbox');
  await mkdir(join(root, 'sub'), { recursive: true });
  await mkdir(join(root, 'drafts'));
  await writeFile(join(root, 'a.md'), '---\ncategory: tea\n---\n# Kettle\n');
  await writeFile(join(root, 'sub', 'b.md'), 'words');
  await writeFile(join(base, 'outside.md'), 'words');
  await symlink('a.md', join(root, 'to-a.md'));
  await symlink('sub', join(root, 'to-sub'));
  await symlink('../outside.md', join(root, 'to-outside.md'));
  await symlink('..', join(root, 'to-above'));
  await symlink('.', join(root, 'to-root'));
  await symlink('nothing', join(root, 'to-nothing'));
  const config = loadConfig({ env: {}, cwd: base });
  const files = createNodeFiles();
  const settings = { exclude: ['drafts/**'] };
  const view = createSourceView({ name: 'inbox', root, stabilityMs: 0, settings, stateFolder: base, files });
  const policy = {
    of: () => ({ schema: config.schema, matchingRules: [], source: { fields: {}, metadata: {} } }),
  } as unknown as ExplainDeps['policy']; // what explain looks at of it
  explain = createExplain({ files, sources: config.sources, views: new Map([['inbox', view]]), policy });
});
afterEach(() => rm(base, { recursive: true }));

describe('why a path is, or is not, a document', () => {
  it('names for a file who said what', async () => {
    expect(await explain(join(root, 'a.md'))).toEqual({
      source: 'inbox',
      path: 'a.md',
      origins: expect.objectContaining({ category: 'front matter' }),
    });
  });

  it('reads what a file says of itself as an ingest does, and believes no link', async () => {
    const sidecar = join(root, 'sub', 'b.md.meta.yaml');
    await writeFile(sidecar, Buffer.from('\ufeffcategory: tea\n', 'utf16le'));
    await writeFile(join(root, 'c.md'), '---\rcategory: tea\r---\rwords');
    expect((await explain(join(root, 'sub', 'b.md'))).origins).toMatchObject({ category: 'sidecar' });
    expect((await explain(join(root, 'c.md'))).origins).toMatchObject({ category: 'front matter' });
    await rm(sidecar);
    await writeFile(join(base, 'elsewhere.yaml'), 'category: tea');
    await symlink(join(base, 'elsewhere.yaml'), sidecar);
    expect((await explain(join(root, 'sub', 'b.md'))).origins).toEqual({});
  });

  it('says of a path whose rules cannot be read that its folder is closed', async () => {
    const config = loadConfig({ env: {}, cwd: base });
    const denied = Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
    const views = new Map([['inbox', { explain: () => Promise.reject(denied) }]]);
    const policy = {} as unknown as ExplainDeps['policy']; // not asked for such a path
    const closed = createExplain({ files: createNodeFiles(), sources: config.sources, views, policy });
    expect(await closed(join(root, 'sub', 'b.md'))).toEqual({
      source: 'inbox',
      path: 'sub/b.md',
      origins: {},
      note: "its folder can't be read (EACCES): check its permissions",
    });
  });

  it.each([
    ['.', 'the folder of source "inbox"'],
    ['sub', 'a folder, not a file'],
    ['to-a.md', 'a link, which is never a document itself: what it leads to is looked at as inbox/a.md'],
    ['to-sub', 'a link, which is never a document itself: what it leads to is looked at as inbox/sub'],
    ['to-sub/b.md', 'lies behind the link inbox/to-sub: what it leads to is looked at as inbox/sub/b.md'],
    ['to-root', 'a link, which is never a document itself: what it leads to is looked at as inbox'],
    ['to-outside.md', 'a link, which is never a document itself: what it leads to lies outside the source'],
    ['to-above/outside.md', 'lies behind the link inbox/to-above: what it leads to lies outside the source'],
    ['to-nothing', 'a link, which is never a document itself: nothing is there'],
    ['../outside.md', 'lies in no source'],
  ])('%s can be none', async (path, note) => {
    const found = await explain(join(root, path));
    expect(found.note).toContain(note);
    expect(found.path).toBeUndefined();
    expect(found.ignored?.rule).toBe(note.includes('link') ? 'link' : undefined);
  });

  it('names the rule that ignores a file, or a whole folder', async () => {
    await writeFile(join(root, 'drafts', 'c.md'), 'words');
    expect((await explain(join(root, 'drafts/c.md'))).ignored).toMatchObject({ rule: 'exclude', pattern: 'drafts/**' });
    await mkdir(join(root, '.git'));
    expect((await explain(join(root, '.git'))).ignored).toMatchObject({ rule: 'builtin' });
  });

  it('says that nothing is there, or that the root is away', async () => {
    expect(await explain(join(root, 'nope.md'))).toMatchObject({ path: 'nope.md', note: 'no such file on disk' });
    await rm(root, { recursive: true });
    expect((await explain(root)).note).toContain('which is away');
  });
});
