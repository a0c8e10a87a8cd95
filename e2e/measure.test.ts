import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { testServices } from '@sluice/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';

/** The commands that measure, in their shortest form: whether they still work. Their figures mean nothing here. */

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const services = testServices();

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-measure-'));
  const tsc = join(createRequire(import.meta.url).resolve('typescript'), '../../bin/tsc');
  await run(process.execPath, [tsc, '-p', join(ROOT, 'benchmarks/tsconfig.build.json')]);
}, 300_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What a command prints. `mayFail`: also when it exits with 1. */
async function measure(args: readonly string[], { mayFail = false } = {}): Promise<string> {
  const [entry, ...more] = args;
  try {
    const { stdout } = await run(process.execPath, [join(ROOT, `benchmarks/dist/${entry}.js`), ...more], {
      cwd: folder,
      env: { ...process.env, REDIS_URL: services.redis, WEAVIATE_URL: services.weaviate, SLUICE_MODEL: services.model },
      maxBuffer: 16 * 1024 * 1024,
    });
    return stdout;
  } catch (error) {
    if (mayFail && error instanceof Error && 'code' in error && error.code === 1 && 'stdout' in error)
      return String(error.stdout);
    throw error;
  }
}

it('bench measures each row of ingest and search', async () => {
  const json = join(folder, 'bench.json');
  const names = ['raw', 'ingest', 'workers', 'latency', 'rescan', 'edit', 'growth', 'startup', 'search'];
  await measure(['run', ...names, '--tiny', '--json', json]);
  const { benches } = JSON.parse(await readFile(json, 'utf8')) as { benches: Record<string, Record<string, unknown>[]> };
  expect(Object.keys(benches)).toEqual(names);
  for (const [name, rows] of Object.entries(benches)) {
    expect(rows, name).not.toEqual([]);
    const figures = rows.flatMap((row) => Object.values(row).filter((value) => typeof value === 'number' || value === null));
    expect(figures, name).not.toEqual([]);
    // A figure that could not be taken is NaN, which JSON writes as null.
    expect(figures, name).not.toContain(null);
  }
}, 900_000);

it('soak follows searches and the memory of each role, and compares the store with the disk', async () => {
  // It exits with 1 when something grew, which a short run on a busy machine may show.
  const stdout = await measure(['soak', '--minutes', '0.2'], { mayFail: true });
  expect(stdout).toContain('differences: 0');
  for (const what of ['search, p95 ms', 'memory of worker', 'memory of watcher', 'memory of api']) expect(stdout).toContain(what);
}, 600_000);
