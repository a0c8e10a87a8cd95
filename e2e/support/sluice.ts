import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type TestServices, testServices } from '@sluice/testkit';
import { expect, vi } from 'vitest';

const BIN = fileURLToPath(new URL('../../apps/cli/bin/sluice.js', import.meta.url));

export interface CliResult {
  code: number;
  stdout: string;
  stderr: string;
}

export interface SearchResult {
  results: {
    score: number;
    doc_id: string;
    revision: string;
    text: string;
    citation: Record<string, unknown>;
    metadata: Record<string, unknown>;
  }[];
}

export interface StatusJson {
  state: string;
  processes: { role: string; pid: number; restarts: number }[];
  standing_workers?: { pid: number }[];
  sources: { name: string; reachable: boolean; deletes_suspended: boolean; documents: Record<string, number> }[];
  dead_letters: number;
}

export interface VerifyJson {
  differences: number;
  by_kind: Record<string, number>;
  failed_serving_old: number;
  in_grace: number;
  examples: unknown[];
}

export interface SluiceOptions {
  /** sluice.yaml, `FOLDER` standing for the watched folder. Default: a bare folder named `inbox`. */
  config?: string;
  env?: Record<string, string>;
  /** Default: those of the test run. */
  services?: TestServices;
  /** Called with the folders before anything runs in them. */
  prepare?: (made: { base: string; folder: string; data: string }) => Promise<void>;
  /** User and group that the command and all it starts run as. Default: those of this process. */
  user?: { uid: number; gid: number };
}

/** An instance as a user has it: the command, a data folder and a watched folder of its own, on the test run's Redis and Weaviate. */
export async function createSluice(options: SluiceOptions = {}) {
  const services = options.services ?? testServices();
  const base = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  const folder = join(base, 'inbox');
  const data = join(base, 'data');
  await mkdir(folder);
  if (options.config !== undefined) await writeFile(join(base, 'sluice.yaml'), options.config.replaceAll('FOLDER', folder));
  await options.prepare?.({ base, folder, data });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? base,
    SLUICE_DATA: data,
    SLUICE_PORT: String(port),
    SLUICE_MODEL: services.model,
    REDIS_URL: services.redis,
    WEAVIATE_URL: services.weaviate,
    SLUICE_LOG_LEVEL: 'info',
    ...(options.config === undefined ? {} : { SLUICE_CONFIG: join(base, 'sluice.yaml') }),
    ...options.env,
  };
  let supervisor: ChildProcess | undefined;
  let shown = '';

  function cli(...args: string[]): Promise<CliResult> {
    return new Promise((resolve) => {
      execFile(
        process.execPath,
        [BIN, ...args],
        { env, cwd: base, maxBuffer: 64 * 1024 * 1024, ...options.user },
        (error, stdout, stderr) => {
          resolve({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : 1, stdout, stderr });
        },
      );
    });
  }

  async function json<T>(...args: string[]): Promise<T> {
    const result = await cli(...args, '--json');
    try {
      return JSON.parse(result.stdout) as T;
    } catch {
      throw new Error(`sluice ${args.join(' ')} gave no JSON (exit ${result.code}): ${result.stdout}${result.stderr}`);
    }
  }

  async function search(body: Record<string, unknown>): Promise<SearchResult> {
    const response = await fetch(`${url}/v1/search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`search answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as SearchResult;
  }

  const instance = {
    base,
    folder,
    data,
    url,
    env,
    cli,
    json,
    search,
    shown: () => shown,
    async up() {
      const args = options.config === undefined ? ['up', `inbox=${folder}`] : ['up'];
      const child = spawn(process.execPath, [BIN, ...args], {
        env,
        cwd: base,
        stdio: ['ignore', 'pipe', 'pipe'],
        ...options.user,
      });
      supervisor = child;
      for (const stream of [child.stdout, child.stderr]) {
        stream?.on('data', (part: Buffer) => {
          shown += part.toString();
        });
      }
      await vi.waitUntil(
        () => {
          if (child.exitCode !== null) throw new Error(`sluice up ended with ${child.exitCode}: ${shown}`);
          return shown.includes('Sluice is ready');
        },
        { timeout: 120_000, interval: 50 },
      );
    },
    /** Ctrl-C, and waits for the end. */
    async down() {
      const child = supervisor;
      if (child === undefined) return;
      supervisor = undefined;
      shown = '';
      if (child.exitCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGINT');
      await ended;
    },
    async settle(seconds = 300) {
      const result = await cli('status', '--wait', '--timeout', String(seconds));
      expect(result, result.stderr).toMatchObject({ code: 0 });
    },
    async verify(): Promise<VerifyJson> {
      return json<VerifyJson>('verify');
    },
    status: () => json<StatusJson>('status'),
    async pidOf(role: string): Promise<number> {
      const found = (await instance.status()).processes.find((one) => one.role === role);
      if (found === undefined) throw new Error(`no process ${role}`);
      return found.pid;
    },
    async metric(name: string): Promise<number> {
      const token = (await readFile(join(data, 'secrets', 'operator-token'), 'utf8')).trim();
      const text = await (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })).text();
      const lines = text.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
      return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
    },
    async write(path: string, content: string | Uint8Array) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), content);
    },
    /** As editors save: a new file renamed over the old one. */
    async replace(path: string, content: string) {
      const temporary = join(folder, dirname(path), `.${path.split('/').at(-1)}.tmp`);
      await writeFile(temporary, content);
      await rename(temporary, join(folder, path));
    },
    move: (from: string, to: string) => rename(join(folder, from), join(folder, to)),
    remove: (path: string) => rm(join(folder, path), { recursive: true }),
    /** doc_ids of the results of a keyword search. */
    async find(query: string): Promise<string[]> {
      return (await search({ query, mode: 'keyword', limit: 20 })).results.map((result) => result.doc_id);
    },
    async close() {
      await instance.down();
      const namespace = (await readFile(join(data, 'namespace'), 'utf8').catch(() => '')).trim();
      if (namespace !== '') await dropCollections(services.weaviate, namespace);
      await rm(base, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  return instance;
}

export type Sluice = Awaited<ReturnType<typeof createSluice>>;

async function dropCollections(weaviate: string, namespace: string): Promise<void> {
  const { classes } = (await (await fetch(`${weaviate}/v1/schema`)).json()) as { classes: { class: string }[] };
  const prefix = namespace.toLowerCase();
  for (const { class: name } of classes) {
    if (name.toLowerCase().startsWith(prefix)) await fetch(`${weaviate}/v1/schema/${name}`, { method: 'DELETE' });
  }
}

export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
