import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Files } from '@sluice/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createIgnoreReader } from './ignore-reader.js';
import { IGNORE_FILE } from './ignore-rules.js';
import { type Listed, type ListOptions, listSource } from './list-source.js';
import { createNodeFiles } from './node-files.js';

const files = createNodeFiles();
let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'sluice-list-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function list(options: Partial<ListOptions> = {}): Promise<Listed[]> {
  const found: Listed[] = [];
  for await (const batch of listSource({ files, root, settings: {}, ...options })) found.push(...batch);
  return found;
}

async function paths(kind: Listed['kind'], options: Partial<ListOptions> = {}): Promise<string[]> {
  return (await list(options))
    .filter((item) => item.kind === kind)
    .map((item) => item.path)
    .sort();
}

async function make(...names: string[]): Promise<void> {
  for (const name of names) {
    await mkdir(join(root, name, '..'), { recursive: true });
    await writeFile(join(root, name), name);
  }
}

/** The file system with faults by path. */
function broken(fault: (path: string, call: 'stat' | 'list' | 'readHead') => string | undefined): Files {
  const check = (path: string, call: 'stat' | 'list' | 'readHead') => {
    const code = fault(path, call);
    if (code !== undefined) throw Object.assign(new Error(`${code}: ${path}`), { code });
  };
  return {
    ...files,
    async stat(path) {
      check(path, 'stat');
      return files.stat(path);
    },
    async list(path) {
      check(path, 'list');
      return files.list(path);
    },
    async readHead(path, length) {
      check(path, 'readHead');
      return files.readHead(path, length);
    },
  };
}

describe('listing a source', () => {
  it('reports a folder whose ignore file is too long, and lists none of its files', async () => {
    await make('a.md', 'sub/b.md');
    await writeFile(join(root, 'sub', IGNORE_FILE), '*.tmp\n'.repeat(20_000));
    const found = await list();
    expect(found.filter((item) => item.kind === 'file').map(({ path }) => path)).toEqual(['a.md']);
    expect(found.filter((item) => item.kind === 'error')).toMatchObject([{ path: 'sub' }]);
  });

  it('gives documents with their sidecars, and says what is ignored by which rule', async () => {
    await make('a.md', 'sub/b.pdf', 'sub/b.pdf.meta.yaml', 'sub/~$b.docx', '.hidden/x.md', 'c.md.meta.yaml');
    await mkdir(join(root, 'd.md.meta.yaml'));
    const found = await list();
    const documents = found.filter((item) => item.kind === 'file').map(({ path, sidecarStat }) => [path, sidecarStat]);
    const sidecar = await stat(join(root, 'sub/b.pdf.meta.yaml'), { bigint: true });
    expect(documents.sort()).toEqual([
      ['a.md', ''],
      ['sub/b.pdf', expect.stringContaining(`${sidecar.mtimeNs}`)],
    ]);
    const ignored = found.filter((item) => item.kind === 'ignored').map(({ path, verdict }) => `${path} ${verdict.rule}`);
    expect(ignored.sort()).toEqual([
      '.hidden builtin',
      'c.md.meta.yaml sidecar',
      'sub/b.pdf.meta.yaml sidecar',
      'sub/~$b.docx builtin',
    ]);
  });

  it('lists a root under a dotted folder', async () => {
    await make('.local/docs/a.md');
    expect(await paths('file', { root: join(root, '.local/docs') })).toEqual(['a.md']);
  });

  it('walks a folder that has more subfolders than a call may have arguments', async () => {
    const folders = Array.from({ length: 130_000 }, (_, n) => ({ name: `f${n}`, kind: 'folder' as const, validName: true }));
    const wide: Files = { ...files, list: async (path) => (path === root ? folders : []) };
    expect(await list({ files: wide })).toEqual([]);
  });

  it('W09: follows no link, so that a cycle ends and every file is found once', async () => {
    await make('s/a.md', 's/deep/b.md');
    await symlink('..', join(root, 's/up'));
    await symlink('a.md', join(root, 's/same.md'));
    await symlink('/etc', join(root, 'outside'));
    await symlink('nowhere', join(root, 'dangling'));
    expect(await paths('file')).toEqual(['s/a.md', 's/deep/b.md']);
    expect(await paths('ignored')).toEqual(['dangling', 'outside', 's/same.md', 's/up']);
  });

  it('reports names that are not UTF-8, and neither pipes nor sockets', async () => {
    await make('ok.md');
    execFileSync('sh', [
      '-c',
      `printf x > "$1/$(printf 'bad\\377.md')"; mkdir "$1/$(printf 'dir\\376')"; mkfifo "$1/pipe"`,
      'sh',
      root,
    ]);
    const found = await list();
    expect(found.filter((item) => item.kind === 'invalid_name').map(({ path, folder }) => [path, folder])).toEqual(
      expect.arrayContaining([
        ['bad\uFFFD.md', false],
        ['dir\uFFFD', true],
      ]),
    );
    expect(found.find((item) => item.path === 'pipe')).toMatchObject({ kind: 'ignored', verdict: { rule: 'not_a_file' } });
    expect(await paths('file')).toEqual(['ok.md']);
  });

  it('reads ignore files at any level, as the reader of single paths does', async () => {
    await make('a.log', 'keep/b.log', 'keep/c.md', 'tmp/d.md', 'sub/e.md', 'sub/f.md');
    await writeFile(join(root, IGNORE_FILE), '*.log\ntmp/\n');
    await writeFile(join(root, 'keep', IGNORE_FILE), '!b.log\n');
    await writeFile(join(root, 'sub', IGNORE_FILE), '\uFEFFf.md\r\n');
    expect(await paths('file')).toEqual(['keep/b.log', 'keep/c.md', 'sub/e.md']);
    const reader = createIgnoreReader({ files, root, settings: {} });
    const all = ['a.log', 'keep/b.log', 'keep/c.md', 'tmp/d.md', 'sub/e.md', 'sub/f.md'];
    const accepted: string[] = [];
    for (const path of all) if ((await reader.explain(path)) === undefined) accepted.push(path);
    expect(accepted).toEqual(['keep/b.log', 'keep/c.md', 'sub/e.md']);
    expect(await reader.explain('sub/f.md')).toMatchObject({ file: `sub/${IGNORE_FILE}`, line: 1 });
    await writeFile(join(root, 'sub', IGNORE_FILE), 'e.md\n');
    expect(await reader.explain('sub/f.md')).toBeUndefined();
    await rm(join(root, 'sub', IGNORE_FILE));
    expect(await reader.explain('sub/e.md')).toBeUndefined();
  });

  it.each(['EACCES', 'EIO', 'ESTALE'])(
    '%s of a folder, a file or an ignore file is an error there and nowhere else',
    async (code) => {
      await make('a/x.md', 'b/y.md', 'c/z.md', 'd/w.md');
      await writeFile(join(root, 'c', IGNORE_FILE), '*.log');
      const faulty = broken((path, call) => {
        if (path === join(root, 'a') && call === 'list') return code;
        if (path === join(root, 'b/y.md') && call === 'stat') return code;
        return path === join(root, 'c', IGNORE_FILE) && call === 'readHead' ? code : undefined;
      });
      expect(await paths('file', { files: faulty })).toEqual(['d/w.md']);
      expect(await paths('error', { files: faulty })).toEqual(['a', 'b/y.md', 'c']);
    },
  );

  it.each(['link', 'folder'])(
    'an ignore file that is no file but a %s closes its folder, rather than showing what it is meant to hide',
    async (kind) => {
      await make('a/secret.md', 'b.md', 'rules');
      await writeFile(join(root, 'rules'), 'secret.md');
      const path = join(root, 'a', IGNORE_FILE);
      await (kind === 'link' ? symlink(join(root, 'rules'), path) : mkdir(path));
      expect(await paths('file')).toEqual(['b.md', 'rules']);
      expect(await paths('error')).toEqual(['a']);
      const reader = createIgnoreReader({ files, root, settings: {} });
      await expect(reader.explain('a/secret.md')).rejects.toThrow(`is no file (${kind})`);
      expect(await reader.explain('b.md')).toBeUndefined();
    },
  );

  it('a folder that goes while the source is listed is no error, a root that goes is', async () => {
    await make('a/x.md', 'b.md');
    expect(await paths('error', { files: broken((path) => (path === join(root, 'a') ? 'ENOENT' : undefined)) })).toEqual([]);
    expect(await paths('error', { files: broken(() => 'ENOENT') })).toEqual(['']);
    expect(await paths('error', { root: join(root, 'nowhere') })).toEqual(['']);
  });

  it('yields small batches and stops when told to', async () => {
    for (let n = 0; n < 600; n++) await writeFile(join(root, `${n}.md`), 'x');
    const sizes: number[] = [];
    for await (const batch of listSource({ files, root, settings: {} })) sizes.push(batch.length);
    expect(sizes.reduce((sum, size) => sum + size)).toBe(600);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(256);
    const stop = new AbortController();
    const walk = listSource({ files, root, settings: {}, signal: stop.signal });
    await walk.next();
    stop.abort(new Error('enough'));
    await expect(walk.next()).rejects.toThrow('enough');
  });
});
