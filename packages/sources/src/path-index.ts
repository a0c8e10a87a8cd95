import { parentOf } from './ignore-rules.js';

/** Document paths of a source that were seen, by folder: what tells which documents went with a folder. Paths only, so it stays small. */
export interface PathIndex {
  add(path: string): void;
  delete(path: string): void;
  has(path: string): boolean;
  /** Paths below a folder, at any depth. */
  below(folder: string): string[];
}

export function createPathIndex(): PathIndex {
  const folders = new Map<string, Set<string>>();
  return {
    add(path) {
      const folder = parentOf(path);
      const paths = folders.get(folder);
      if (paths === undefined) folders.set(folder, new Set([path]));
      else paths.add(path);
    },
    delete(path) {
      const folder = parentOf(path);
      const paths = folders.get(folder);
      if (paths?.delete(path) === true && paths.size === 0) folders.delete(folder);
    },
    has: (path) => folders.get(parentOf(path))?.has(path) === true,
    below(folder) {
      const found: string[] = [];
      for (const [other, paths] of folders) {
        if (folder === '' || other === folder || other.startsWith(`${folder}/`)) found.push(...paths);
      }
      return found;
    },
  };
}
