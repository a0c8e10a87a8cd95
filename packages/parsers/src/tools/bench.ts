import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath, stdout } from 'node:process';
import { promisify } from 'node:util';
import { compiledUrl } from '@sluice/core';
import { type BenchmarkResult, PARSER_BENCHMARKS } from '../bench/benchmarks.js';

const run = promisify(execFile);

/** Measures each format in a process of its own: throughput and peak memory. */
export async function benchParsers(only?: string): Promise<BenchmarkResult[]> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const child = compiledUrl(import.meta.url, './bench-child.js').pathname;
  const results: BenchmarkResult[] = [];
  try {
    for (const benchmark of PARSER_BENCHMARKS) {
      if (only !== undefined && !benchmark.name.includes(only)) continue;
      const path = join(folder, benchmark.name);
      await writeFile(path, benchmark.make());
      const { stdout: answer } = await run(execPath, [child, path, benchmark.name, benchmark.format, benchmark.about]);
      results.push(JSON.parse(answer) as BenchmarkResult);
      await rm(path);
    }
    return results;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs the benchmarks and prints a table. */
export async function main(args: readonly string[]): Promise<number> {
  stdout.write('| format | input | MB | MB/s | peak memory MB | elements |\n|---|---|---|---|---|---|\n');
  for (const result of await benchParsers(args[0])) {
    const { format, about, megabytes, megabytesPerSecond, peakMb, elements } = result;
    stdout.write(
      `| ${format} | ${about} | ${megabytes.toFixed(1)} | ${megabytesPerSecond.toFixed(1)} | ${Math.round(peakMb)} | ${elements} |\n`,
    );
  }
  return 0;
}
