import { execFileSync } from 'node:child_process';
import { cpus, loadavg, platform, release, totalmem } from 'node:os';
import type { Row } from './bench.js';
import { round } from './statistics.js';

/** What the figures depend on beside the code. */
export function environment() {
  return {
    at: new Date().toISOString(),
    cpu: cpus()[0]?.model ?? 'unknown CPU',
    cores: cpus().length,
    memoryMb: round(totalmem() / 2 ** 20),
    system: `${platform()} ${release()}`,
    node: process.versions.node,
    commit: commit(),
    load: loadavg().map((value) => round(value, 2)),
  };
}

/** The commit that is measured, with a `+` where files differ from it; 'unknown' outside of a clone. */
function commit(): string {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    return `${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain') === '' ? '' : '+'}`;
  } catch {
    return 'unknown';
  }
}

/** Rows as Markdown tables: rows with the same columns stand in one. */
export function table(rows: readonly Row[]): string {
  const byColumns = new Map<string, Row[]>();
  for (const row of rows) {
    const key = Object.keys(row).join(' | ');
    byColumns.set(key, [...(byColumns.get(key) ?? []), row]);
  }
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
  return [...byColumns.values()]
    .map((group) => {
      const columns = Object.keys(group[0] ?? {});
      const body = group.map((row) => line(columns.map((column) => row[column] ?? '')));
      return [line(columns), line(columns.map(() => '---')), ...body, ''].join('\n');
    })
    .join('\n');
}
