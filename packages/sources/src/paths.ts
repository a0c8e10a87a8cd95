import { join } from 'node:path';

/** Absolute path of a path relative to a source's root. */
export function absolutePath(root: string, relPath: string): string {
  return relPath === '' ? root : join(root, ...relPath.split('/'));
}

/** `a` and `b` as `a/b`; `''` is the root. */
export function childPath(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}
