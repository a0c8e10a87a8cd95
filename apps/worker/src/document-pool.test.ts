import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ChunkingSettings, ReadResult } from '@sluice/core';
import { createLlm } from '@sluice/llm';
import { silentLogger } from '@sluice/telemetry';
import { type ChatServer, createWordEmbedder, startChatServer, TELESCOPE, testServices, until } from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createDocumentPool, type DocumentPool, type DocumentPoolOptions } from './document-pool.js';

const limits = {
  fileBytes: 1e6,
  textUnits: 1e6,
  parseMs: 60_000,
  parseMemoryMb: 512,
  archiveRatio: 200,
  archiveEntries: 100,
  depth: 100,
};
const embedder = createWordEmbedder();

let folder: string;
let pool: DocumentPool;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-pool-'));
});
afterEach(async () => {
  await pool.close();
  await until(async () => expect(await childrenRunning('')).toEqual([]));
});
afterAll(() => rm(folder, { recursive: true }));

function open(options: Partial<DocumentPoolOptions> = {}): void {
  pool = createDocumentPool({
    tokenizer: { model: 'm', folder: testServices().model },
    embedder,
    logger: silentLogger(),
    processes: 1,
    largeBytes: 5e6,
    slowMs: 60_000,
    ...options,
  });
}

async function read(name: string, text: string, chunking: ChunkingSettings = { strategy: 'auto' }): Promise<ReadResult> {
  const path = join(folder, name);
  await writeFile(path, text);
  return pool.read({ docId: `docs/${name}`, path, limits, chunking });
}

async function after<T>(ms: number, then: () => Promise<T>): Promise<T> {
  await new Promise((resolve) => setTimeout(resolve, ms));
  return then();
}

/** Process ids of this process' children whose command line holds these words, `ps` itself left out. */
async function childrenRunning(words: string): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,args='], { maxBuffer: 1e8 });
  return stdout.split('\n').flatMap((line) => {
    const [, pid, parent, command = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return Number(parent) === process.pid && command.includes(words) && !command.startsWith('ps ') ? [Number(pid)] : [];
  });
}

async function killParser(): Promise<void> {
  const [pid, ...more] = await childrenRunning('document-process');
  if (pid === undefined || more.length > 0) throw new Error('expected one parsing process');
  process.kill(pid, 'SIGKILL');
  // Until it is reaped it stands there under another name.
  await until(async () => expect(await childrenRunning('')).not.toContain(pid));
}

describe('a parsing process', () => {
  it.each([
    ['asked the moment it is started', {}],
    ['started ahead', { warmMb: 512 }],
  ])('%s answers', async (_, options) => {
    open(options);
    for (const round of [1, 2, 3]) {
      const { chunks } = await read('a.md', `Kettle number ${round}.`);
      expect(chunks.map((chunk) => chunk.text)).toEqual([`Kettle number ${round}.`]);
    }
  });

  it('that ended between two documents is replaced', async () => {
    open();
    await read('a.md', 'Kettle.');
    await killParser();
    expect((await read('a.md', 'Lid.')).chunks).toMatchObject([{ text: 'Lid.' }]);
  });

  it('reads no other file than the one that was found, though a folder was exchanged for a link since', async () => {
    open();
    for (const name of ['inside', 'outside']) await mkdir(join(folder, name));
    const path = join(folder, 'inside', 'a.md');
    await writeFile(path, 'Kettle.');
    await writeFile(join(folder, 'outside', 'a.md'), 'Not for this source.');
    const { ino, dev } = await stat(path, { bigint: true });
    const request = { docId: 'docs/a.md', path, limits, chunking: { strategy: 'auto' } };
    const ask = () => pool.read({ ...request, found: { inode: String(ino), device: String(dev) } });
    expect((await ask()).chunks).toMatchObject([{ text: 'Kettle.' }]);
    await rename(join(folder, 'inside'), join(folder, 'away'));
    await symlink(join(folder, 'outside'), join(folder, 'inside'));
    await expect(ask()).rejects.toMatchObject({ code: 'unreadable', kind: 'transient' });
    // Nor through a link in the file's own place.
    await symlink(join(folder, 'outside', 'a.md'), join(folder, 'link.md'));
    await expect(pool.read({ ...request, path: join(folder, 'link.md') })).rejects.toMatchObject({ code: 'unreadable' });
  });

  // Only Linux shows the environment of another process.
  it.runIf(process.platform === 'linux')('gets no address, password or key of the worker', async () => {
    for (const name of ['REDIS_URL', 'WEAVIATE_API_KEY', 'SLUICE_API_KEY', 'SOME_PROVIDER_KEY']) vi.stubEnv(name, 'hidden-value');
    open();
    await read('a.md', 'Kettle.');
    const [pid] = await childrenRunning('document-process');
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8');
    vi.unstubAllEnvs();
    expect(environment).toContain('PATH=');
    expect(environment).not.toContain('hidden-value');
    const names = environment.split('\0').flatMap((pair) => (pair === '' ? [] : [pair.split('=')[0]]));
    expect(names.filter((name) => /KEY|PASS|SECRET|TOKEN|URL|SLUICE/.test(name ?? ''))).toEqual([]);
  });

  it('without its model tells every document why', async () => {
    open({ tokenizer: { model: 'm', folder: join(folder, 'none') } });
    for (const _ of [1, 2]) await expect(read('a.md', 'Kettle.')).rejects.toMatchObject({ code: 'model_unavailable' });
  });

  it('tells parents of equal text in two documents apart', async () => {
    open();
    const shared = 'Badge codes are rotated every Monday.';
    const settings = { strategy: 'parent-document' };
    const open_ = await read('public.md', shared, settings);
    const secret = await read('secret.md', shared, settings);
    expect(open_.chunks[0]?.text).toBe(secret.chunks[0]?.text);
    expect(open_.chunks[0]?.parentId).toMatch(/./);
    expect(open_.chunks[0]?.parentId).not.toBe(secret.chunks[0]?.parentId);
  });

  it('has sentences embedded by the worker, those of an edited document alone', async () => {
    open();
    const sentences = Array.from({ length: 12 }, (_, n) => `Kettle ${n} of the ${n}th kitchen boils.`);
    const before = embedder.embedded.length;
    await read('a.txt', sentences.join(' '), { strategy: 'semantic' });
    expect(embedder.embedded.slice(before)).toEqual(sentences);
    await read('a.txt', sentences.with(5, 'Something else stands here now.').join(' '), { strategy: 'semantic' });
    expect(embedder.embedded.slice(before + 12)).toEqual(['Something else stands here now.']);
  });
});

describe('documents that hang', () => {
  let settled: string[];
  beforeEach(() => {
    settled = [];
  });

  async function hang(
    name: string,
    { signal, parseMs = 600_000 }: { signal?: AbortSignal; parseMs?: number } = {},
  ): Promise<string> {
    const path = join(folder, name);
    // A pipe that nobody writes to is opened for ever.
    await promisify(execFile)('mkfifo', [path]);
    const request = {
      docId: `docs/${name}`,
      path,
      size: 1e6,
      limits: { ...limits, parseMs },
      chunking: { strategy: 'auto' },
    } as const;
    const end = await pool.read(request, signal).then(
      () => 'read',
      (cause: { code: string }) => cause.code,
    );
    settled.push(name);
    return end;
  }

  it('on every process make way for others, and can be stopped where they wait', async () => {
    const slow: string[] = [];
    open({
      processes: 2,
      // Longer than a small file takes in a process just started, on a busy machine.
      slowMs: 4000,
      onSlow: (docId) => slow.push(docId),
    });
    const stop = new AbortController();
    const names = Array.from({ length: 6 }, (_, n) => `hangs-${n}.txt`);
    const hanging = names.map((name) => `docs/${name}`);
    const ends = names.map((name) => hang(name, { signal: stop.signal }));
    await until(() => slow.length >= 2);
    for (const n of [1, 2, 3]) expect((await read(`small-${n}.md`, 'Kettle.')).chunks).toMatchObject([{ text: 'Kettle.' }]);
    expect(settled).toEqual([]);
    await until(() => hanging.every((docId) => slow.includes(docId)));
    expect((await read('small.md', 'Lid.')).chunks).toMatchObject([{ text: 'Lid.' }]);
    expect(settled).toEqual([]);
    stop.abort();
    expect(await Promise.all(ends)).toEqual(Array(6).fill('internal'));
    // Whoever tries them again knows them.
    expect(hanging.filter((docId) => !pool.isSlow(docId))).toEqual([]);
    expect(pool.isSlow('docs/small.md')).toBe(false);
  }, 180_000);

  it('end by their own time, each of them, whoever made way', async () => {
    open({ processes: 2, slowMs: 300 });
    const ends = Array.from({ length: 3 }, (_, n) => hang(`slow-${n}.txt`, { parseMs: 2000 }));
    expect(await Promise.all(ends)).toEqual(Array(3).fill('parse_timeout'));
    expect(pool.isSlow('docs/slow-0.txt')).toBe(false);
  });
});

describe('a document that waits for the model', () => {
  const SENTENCES = 2100;
  const text = Array.from({ length: SENTENCES }, (_, n) => `Kettle ${n} of the ${n}th kitchen boils.`).join(' ');

  it('is not slow by its waits', async () => {
    const slow: string[] = [];
    const late = { ...embedder, embed: (texts: readonly string[]) => after(3000, () => embedder.embed(texts)) };
    open({ embedder: late, slowMs: 2500, onSlow: (docId) => slow.push(docId) });
    await read('waits.txt', 'A kettle boils. A lid rattles. Something else stands here now.', { strategy: 'semantic' });
    expect(slow).toEqual([]);
  });

  it('is slow once it had a good deal of it', async () => {
    const slow: string[] = [];
    open({ onSlow: (docId) => slow.push(docId) });
    await read('asks.txt', text, { strategy: 'semantic' });
    expect(slow).toEqual(['docs/asks.txt']);
    expect(pool.isSlow('docs/asks.txt')).toBe(false);
  });
});

describe('propositions', () => {
  const { passage: PASSAGE, trueFacts: TRUE_FACTS, falseFact: FALSE_FACT } = TELESCOPE;
  let answer: (asked: string) => string | number | Promise<string>;
  let server: ChatServer;
  beforeEach(async () => {
    answer = () => JSON.stringify([...TRUE_FACTS, FALSE_FACT]);
    server = await startChatServer(({ asked }) => answer(asked));
  });
  afterEach(() => server.close());

  function openWithLlm(options: Partial<DocumentPoolOptions> = {}): void {
    open({
      llm: createLlm({ baseUrl: server.baseUrl, model: 'small', apiKey: 'hunter2', attempts: 2, backoffMs: 1 }),
      ...options,
    });
  }

  it('are written by the endpoint, with its key, which no command line shows', async () => {
    openWithLlm();
    const { chunks, dropped, usage, warnings } = await read('webb.md', `# Telescope\n\n${PASSAGE}\n`, {
      strategy: 'propositions',
    });
    expect(chunks.map((chunk) => [chunk.text, chunk.derived])).toEqual(TRUE_FACTS.map((fact) => [fact, true]));
    expect(dropped).toMatchObject([{ text: FALSE_FACT, reason: expect.stringMatching(/not_in_passage/) }]);
    expect(warnings.join()).toContain('1 fact of the language model was not borne out');
    expect(usage).toMatchObject({ calls: 1, cached: 0 });
    expect(usage?.prompt_tokens).toBeGreaterThan(0);
    expect(server.requests).toMatchObject([{ model: 'small', authorization: 'Bearer hunter2' }]);
    expect(await childrenRunning('document-process')).toHaveLength(1);
    expect(await childrenRunning('hunter2')).toEqual([]);
  });

  it('are asked for once a passage, whichever process reads the document, also after one was killed', async () => {
    openWithLlm();
    answer = () => '["Kettles boil."]';
    const passages = Array.from({ length: 6 }, (_, n) => `# Part ${n}\n\nKettles of kind ${n} boil.\n`);
    const settings = { strategy: 'propositions' };
    expect((await read('a.md', passages.join('\n'), settings)).usage).toMatchObject({ calls: 6, cached: 0 });
    await killParser();
    const edited = passages.with(3, '# Part 3\n\nKettles of another kind boil.\n').join('\n');
    expect((await read('a.md', edited, settings)).usage).toMatchObject({ calls: 1, cached: 5 });
    expect(server.requests).toHaveLength(7);
  });

  it('keep nobody waiting while the endpoint thinks, and count as large from the start', async () => {
    const slow: string[] = [];
    openWithLlm({ onSlow: (docId) => slow.push(docId) });
    let go = (): void => undefined;
    const thinks = new Promise<string>((resolve) => {
      go = () => resolve('["Kettles boil."]');
    });
    answer = () => thinks;
    const facts = read('thinks.md', 'Kettles boil.', { strategy: 'propositions' });
    await until(() => server.requests.length === 1);
    expect((await read('a.md', 'Kettle.')).chunks).toMatchObject([{ text: 'Kettle.' }]);
    expect(slow).toEqual(['docs/thinks.md']);
    go();
    expect((await facts).chunks).toMatchObject([{ text: 'Kettles boil.' }]);
  });

  it.each([
    [503, 'transient', 2],
    [401, 'permanent', 1],
  ])('that the endpoint answers with %i are a %s fault after %i calls', async (status, kind, calls) => {
    openWithLlm();
    answer = () => status;
    await expect(read('a.md', PASSAGE, { strategy: 'propositions' })).rejects.toMatchObject({ code: 'llm_failed', kind });
    expect(server.requests).toHaveLength(calls);
    answer = () => JSON.stringify(TRUE_FACTS);
    expect((await read('a.md', PASSAGE, { strategy: 'propositions' })).chunks).toHaveLength(5);
  });

  it('without an endpoint say what to set', async () => {
    open();
    await expect(read('a.md', PASSAGE, { strategy: 'propositions' })).rejects.toMatchObject({
      code: 'llm_not_configured',
      message: expect.stringContaining('llm.base_url'),
    });
  });
});
