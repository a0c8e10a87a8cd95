/** Document paths of a source that were seen: what tells which documents went with a folder. */
export interface PathIndex {
  add(path: string): void;
  delete(path: string): void;
  has(path: string): boolean;
  /** Paths below a folder, at any depth. Asking about a path that is no folder costs no more than has(). */
  below(folder: string): string[];
}

interface Folder {
  files: Set<string>;
  folders: Map<string, Folder>;
}

export function createPathIndex(): PathIndex {
  const root = makeFolder();

  function find(names: readonly string[]): Folder | undefined {
    let folder: Folder | undefined = root;
    for (const name of names) folder = folder?.folders.get(name);
    return folder;
  }

  return {
    add(path) {
      const { names, last } = split(path);
      let folder = root;
      for (const name of names) {
        const next = folder.folders.get(name) ?? makeFolder();
        folder.folders.set(name, next);
        folder = next;
      }
      folder.files.add(last);
    },
    delete(path) {
      const { names, last } = split(path);
      find(names)?.files.delete(last);
      // Empty folders go too, so that the index does not grow with folders that come and go.
      for (let length = names.length; length > 0; length--) {
        const parent = find(names.slice(0, length - 1));
        const name = names[length - 1] ?? '';
        const folder = parent?.folders.get(name);
        if (folder === undefined || folder.files.size > 0 || folder.folders.size > 0) break;
        parent?.folders.delete(name);
      }
    },
    has(path) {
      const { names, last } = split(path);
      return find(names)?.files.has(last) === true;
    },
    below(path) {
      const found: string[] = [];
      const start = path === '' ? root : find(path.split('/'));
      if (start !== undefined) collect(start, path, found);
      return found;
    },
  };
}

function makeFolder(): Folder {
  return { files: new Set(), folders: new Map() };
}

function split(path: string): { names: string[]; last: string } {
  const names = path.split('/');
  return { last: names.pop() ?? '', names };
}

function collect(folder: Folder, path: string, found: string[]): void {
  const prefix = path === '' ? '' : `${path}/`;
  for (const file of folder.files) found.push(prefix + file);
  for (const [name, child] of folder.folders) collect(child, prefix + name, found);
}
