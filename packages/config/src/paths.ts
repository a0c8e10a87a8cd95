import { realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';

/** An absolute path; `~/` is the user's home. */
export function absolutePath(base: string, path: string, home: string | undefined): string {
  const expanded = path === '~' || path.startsWith('~/') ? join(home ?? homedir(), path.slice(1)) : path;
  return resolve(base, expanded);
}

/** The path without links, as far as it exists: two spellings of one folder give one text. */
export function canonicalPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(canonicalPath(parent), basename(path));
  }
}

/** The path of `inner` relative to `outer`, with `/`; '' for the same folder, undefined when it is not within. */
export function pathWithin(outer: string, inner: string): string | undefined {
  const path = relative(outer, inner);
  if (path === '') return '';
  if (path === '..' || path.startsWith(`..${sep}`) || resolve(outer, path) !== inner) return undefined;
  return path.split(sep).join('/');
}

export function pathKind(path: string): 'missing' | 'folder' | 'file' {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return 'missing';
  return stat.isDirectory() ? 'folder' : 'file';
}
