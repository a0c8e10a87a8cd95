import { basename } from 'node:path';
import type { Environment } from './config.js';
import { absolutePath } from './paths.js';
import type { Problem } from './problems.js';

export interface BareFolder {
  name: string;
  /** Absolute. */
  path: string;
}

const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/**
 * The folders named on the command line (`NAME=FOLDER` or `FOLDER`), else by SLUICE_SOURCES (a JSON list of the same texts or of
 * `{"name","path"}`, which is how the launcher tells its processes). Undefined when neither names any.
 */
export function readBareFolders(
  given: readonly string[] | undefined,
  env: Environment,
  cwd: string,
  problems: Problem[],
): BareFolder[] | undefined {
  if (given !== undefined && given.length > 0) {
    return given.flatMap((argument) => parseBareFolder(argument, 'command line', cwd, env, problems));
  }
  const listed = env.SLUICE_SOURCES;
  if (listed === undefined || listed === '') return undefined;
  const refuse = (message: string) => {
    problems.push({ origin: 'environment', path: 'SLUICE_SOURCES', message });
    return undefined;
  };
  let parsed: unknown;
  try {
    parsed = JSON.parse(listed);
  } catch {
    return refuse('is not JSON; expected a list as ["docs=/a/docs"] or [{"name": "docs", "path": "/a/docs"}]');
  }
  if (!Array.isArray(parsed)) return refuse('expected a list');
  return parsed.flatMap((entry: unknown) => {
    if (typeof entry === 'string') return parseBareFolder(entry, 'environment', cwd, env, problems);
    const { name, path } = (entry ?? {}) as { name?: unknown; path?: unknown }; // members are checked next
    if (typeof name !== 'string' || !NAME.test(name) || typeof path !== 'string' || path === '') {
      refuse('has an entry that is no {"name": [a-z0-9_-], "path": text}');
      return [];
    }
    return [{ name, path: absolutePath(cwd, path, env.HOME) }];
  });
}

function parseBareFolder(argument: string, origin: string, cwd: string, env: Environment, problems: Problem[]): BareFolder[] {
  const match = /^([^/\\=.]+)=(.+)$/s.exec(argument);
  const folder = match?.[2] ?? argument;
  const path = absolutePath(cwd, folder, env.HOME);
  const name = match?.[1] ?? nameOf(path);
  const refuse = (message: string) => {
    problems.push({ origin, path: argument, message });
    return [];
  };
  if (argument.trim() === '') return refuse('is an empty folder name');
  if (!NAME.test(name)) {
    const rule = 'a source is named 1-64 of a-z, 0-9, _ and -, beginning with a letter or digit';
    return refuse(match === null ? `gives no name for a source: write NAME=${argument}; ${rule}` : `${name}: ${rule}`);
  }
  return [{ name, path }];
}

/** The folder's base name in lower case, without accents; other signs become `-`. */
function nameOf(path: string): string {
  return basename(path)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^[_-]+|-+$/g, '')
    .slice(0, 64);
}
