import { lstat, readdir } from 'node:fs/promises';
import { isAbsolute, join, relative } from 'node:path';
import type { Config, SourceConfig } from '@sluice/config';
import { resolveAccess } from '@sluice/metadata';
import { cacheFolder, type Environment } from '../system/workplace.js';
import type { Instance } from './instance.js';

export interface ReadyScreenOptions {
  config: Config;
  instance: Instance;
  env: Environment;
  cwd: string;
}

/** What a start prints once all is ready: what is watched, what to try, where things are. */
export async function readyScreen(options: ReadyScreenOptions): Promise<string> {
  const { config, instance, env, cwd } = options;
  const short = (path: string) => shortPath(path, cwd, env.HOME);
  const { api } = instance.addresses;
  const key = env.SLUICE_API_KEY === '' ? undefined : env.SLUICE_API_KEY;
  const told = await documentCounts(api, key);
  const counts = told ?? new Map<string, number>();
  // Whoever gives a key has made one, from when on calls without are served only where the configuration says so.
  const keyNeeded = told === undefined || (key !== undefined && !config.api.anonymous);
  const data = short(config.runtime.dataFolder);
  const lines = [
    `Sluice is ready (${Math.round(instance.startedInSeconds)} s)`,
    ...config.sources.map(
      (source) => `${watchingLine(source, short(source.path), told)}     readers: ${readersOf(source, config, keyNeeded)}`,
    ),
  ];
  const first = config.sources[0];
  if (first !== undefined) {
    const folder = short(first.path).replace(/^\.\//, '');
    lines.push(`  try        cp README.md ${folder}/  &&  npx sluice search "what is sluice"`);
  }
  lines.push(
    `  API        ${api}/docs      queues ${api}/ops/queues`,
    `  data       ${data.replace(/^\.\//, '')} (${formatBytes(await folderBytes(config.runtime.dataFolder))})   ` +
      `cache ${short(cacheFolder(env))}   log ${data.replace(/^\.\//, '')}/log/*.ndjson     stop: Ctrl-C`,
  );
  for (const [name, count] of counts) {
    if (config.sources.some((source) => source.name === name)) continue;
    lines.push(
      `  note       source "${name}" is no longer named; its ${count} documents stay until: npx sluice source remove ${name}`,
    );
  }
  return lines.join('\n');
}

/** Without a number where nobody knows how many there are. */
function watchingLine(source: SourceConfig, path: string, counts: ReadonlyMap<string, number> | undefined): string {
  const count = counts?.get(source.name) ?? 0;
  const documents = counts === undefined ? '' : count === 1 ? ' (1 document)' : ` (${count} documents)`;
  return `  watching   ${path} -> source "${source.name}"${documents}`;
}

function readersOf(source: SourceConfig, config: Config, keyNeeded: boolean): string {
  const { security_level: level } = resolveAccess({ schema: config.schema, sourceMetadata: source.metadata });
  if (keyNeeded) return `level ${level}, with a key of that clearance`;
  return level <= config.api.anonymousClearance
    ? `level ${level}, no key needed on this machine`
    : `level ${level}, hidden without a key of that clearance`;
}

/**
 * Documents by source, also of sources that are no longer configured. Undefined when the API wants a key that was not given; empty when
 * it does not tell for another reason.
 */
async function documentCounts(api: string, key: string | undefined): Promise<Map<string, number> | undefined> {
  const counts = new Map<string, number>();
  try {
    const response = await fetch(`${api}/v1/sources`, {
      headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(10_000),
    });
    if (response.status === 401) return undefined;
    // Shape of our own API's answer: INTERFACES 3.
    const answer = (await response.json()) as { sources?: { name: string; documents: Record<string, number> }[] };
    for (const { name, documents } of answer.sources ?? []) {
      counts.set(
        name,
        Object.values(documents).reduce((sum, count) => sum + count, 0),
      );
    }
  } catch {
    // The screen is about what to try next: a count that is missing does not hold it up.
  }
  return counts;
}

/** A path as a user would write it: from the current folder, or from home. */
export function shortPath(path: string, cwd: string, home: string | undefined): string {
  const within = relative(cwd, path);
  if (within === '') return '.';
  if (!within.startsWith('..') && !isAbsolute(within)) return `./${within}`;
  if (home !== undefined && path.startsWith(`${home}/`)) return `~${path.slice(home.length)}`;
  return path;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1_000_000) return `${Math.ceil(bytes / 1_000)} KB`;
  return bytes < 1_000_000_000 ? `${Math.round(bytes / 1_000_000)} MB` : `${(bytes / 1_000_000_000).toFixed(1)} GB`;
}

async function folderBytes(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => [])) {
    if (!entry.isFile()) continue;
    // Allocated, not apparent: Weaviate's files have holes.
    bytes += await lstat(join(entry.parentPath, entry.name)).then(
      (found) => found.blocks * 512,
      () => 0,
    );
  }
  return bytes;
}
