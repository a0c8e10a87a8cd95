import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { BenchServices } from './bench.js';

/** The command as it is installed. */
const SLUICE = fileURLToPath(new URL('../../apps/cli/bin/sluice.js', import.meta.url));

/** Default of `stability_ms`: how long a file must be unchanged before it is read. */
export const STABILITY_MS = 300;

/** How long a row may wait for anything. */
const LIMIT_MS = 3_600_000;

interface ListedDocument {
  doc_id: string;
  chunks: number;
  committed_at?: string;
  status: string;
}

interface StatusJson {
  processes: { role: string; pid: number }[];
}

/** An instance as a user has it: `sluice up --detach`, a folder and a data folder of its own. */
async function startInstance(services: BenchServices, files: Readonly<Record<string, string>>, more: Record<string, string>) {
  const base = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const [folder, data, staging] = [join(base, 'inbox'), join(base, 'data'), join(base, 'staging')];
  await mkdir(folder);
  await mkdir(staging);
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
    SLUICE_LOG_LEVEL: 'warn',
    ...more,
  };

  async function cli(...args: string[]): Promise<string> {
    return new Promise((resolve, reject) => {
      const options = { env, cwd: base, maxBuffer: 256 * 1024 * 1024 };
      execFile(process.execPath, [SLUICE, ...args], options, (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(new Error(`sluice ${args.join(' ')}: ${error.message}\n${stdout}${stderr}`));
      });
    });
  }

  const instance = {
    base,
    folder,
    data,
    url,
    env,
    cli,
    namespace: '',
    async json<T>(...args: string[]): Promise<T> {
      return JSON.parse(await cli(...args, '--json')) as T;
    },
    async post<T>(path: string, body: unknown): Promise<T> {
      return requestJson<T>(`${url}${path}`, body);
    },
    /** Writes a file as editors do: beside it, then renamed over it. */
    async write(path: string, text: string): Promise<void> {
      const staged = join(staging, 'file');
      await writeFile(staged, text);
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await rename(staged, join(folder, path));
    },
    /** Writes all texts beside the watched folder and moves them into it as one folder. Returns the time of the move. */
    async moveIn(name: string, texts: readonly string[]): Promise<number> {
      await mkdir(join(staging, name));
      for (const [n, text] of texts.entries()) await writeFile(join(staging, name, `${n}.txt`), text);
      await rename(join(staging, name), join(folder, name));
      return Date.now();
    },
    /** Documents below a folder. */
    async documents(below: string): Promise<ListedDocument[]> {
      const { documents } = await instance.json<{ documents: ListedDocument[] }>('documents');
      return documents.filter(({ doc_id }) => doc_id.startsWith(`inbox/${below}`));
    },
    /** Waits until nothing is left to do. */
    async settle(): Promise<void> {
      await cli('status', '--wait', '--timeout', String(LIMIT_MS / 1000));
    },
    /** Objects of the instance's collections whose name begins so after the namespace. */
    async countObjects(kind: 'Chunk' | 'Commit'): Promise<number> {
      const name = await instance.className(kind);
      const answer = await requestJson<{ data?: { Aggregate: Record<string, { meta: { count: number } }[]> } }>(
        `${services.weaviate}/v1/graphql`,
        { query: `{Aggregate{${name}{meta{count}}}}` },
      );
      return answer.data?.Aggregate[name]?.[0]?.meta.count ?? 0;
    },
    async className(kind: 'Chunk' | 'Commit'): Promise<string> {
      const prefix = `${instance.namespace}${kind}`.toLowerCase();
      const found = (await classNames(services)).find((name) => name.toLowerCase().startsWith(prefix));
      if (found === undefined) throw new Error(`no collection ${prefix}`);
      return found;
    },
    async status(): Promise<StatusJson> {
      return instance.json<StatusJson>('status');
    },
    /** Sum of a metric of all processes. They write their counters moments after their work, so it is read until it rests. */
    async metric(name: string): Promise<number> {
      let last = Number.NaN;
      for (;;) {
        const token = (await readFile(join(data, 'secrets', 'operator-token'), 'utf8')).trim();
        const text = await (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })).text();
        const lines = text.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
        const now = lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
        if (now === last) return now;
        last = now;
        await sleep(600);
      }
    },
    async close(): Promise<void> {
      await cli('down').catch(() => '');
      for (const name of await classNames(services)) {
        if (instance.namespace !== '' && name.toLowerCase().startsWith(instance.namespace.toLowerCase())) {
          await fetch(`${services.weaviate}/v1/schema/${name}`, { method: 'DELETE' });
        }
      }
      await rm(base, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  try {
    for (const [path, text] of Object.entries(files)) await instance.write(path, text);
    await cli('up', '--detach', `inbox=${folder}`);
    instance.namespace = (await readFile(join(data, 'namespace'), 'utf8')).trim();
    await instance.settle();
    return instance;
  } catch (error) {
    await instance.close();
    throw error;
  }
}

export type BenchInstance = Awaited<ReturnType<typeof startInstance>>;

/** Runs with an instance that is closed in the end. `more` is added to its environment. */
export async function withInstance<T>(
  services: BenchServices,
  work: (instance: BenchInstance) => Promise<T>,
  more: Record<string, string> = {},
): Promise<T> {
  // The first document pays for what is loaded once.
  const instance = await startInstance(services, { 'first.txt': 'A first document, so that everything is loaded.' }, more);
  try {
    return await work(instance);
  } finally {
    await instance.close();
  }
}

/** Waits until the check holds, asking again after `everyMs`. */
export async function until(holds: () => Promise<boolean>, everyMs: number): Promise<void> {
  const end = performance.now() + LIMIT_MS;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not so after ${LIMIT_MS / 1000} s: ${holds}`);
    await sleep(everyMs);
  }
}

/** JSON of a GET, or of a POST when there is a body. Errors: any answer but 2xx. */
export async function requestJson<T>(url: string, body?: unknown): Promise<T> {
  const response = await fetch(url, {
    ...(body === undefined
      ? {}
      : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
}

async function classNames(services: BenchServices): Promise<string[]> {
  const { classes } = await requestJson<{ classes: { class: string }[] }>(`${services.weaviate}/v1/schema`);
  return classes.map((one) => one.class);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}
