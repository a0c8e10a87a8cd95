import { canonicalPath, pathKind, pathWithin } from './paths.js';

/** A folder that is to be watched, whatever else of its source may be faulty. */
export interface SourceFolder {
  name: string;
  /** Absolute. */
  path: string;
  refuse(message: string): void;
}

/**
 * Sources may not be files, share files, or hold the data folder: a file would be two documents, or the product would index its own logs.
 *
 * @param warn told what a user should know and may intend
 */
export function checkFolders(sources: readonly SourceFolder[], dataFolder: string, warn: (message: string) => void): void {
  const roots = sources.map(({ path }) => canonicalPath(path));
  const data = canonicalPath(dataFolder);
  sources.forEach((source, at) => {
    const root = roots[at] ?? source.path;
    const kind = pathKind(root);
    if (kind === 'file') source.refuse(`${source.path} is a file; a source is a folder`);
    if (kind === 'missing') warn(`source "${source.name}": ${source.path} does not exist yet; it is watched once it does`);

    const inside = pathWithin(root, data);
    // A hidden folder is ignored as such.
    if (inside !== undefined && !inside.split('/').some((part) => part.startsWith('.'))) {
      source.refuse(`${source.path} holds the data folder ${dataFolder}: choose another for one of them`);
    } else if (pathWithin(data, root) !== undefined) {
      source.refuse(`${source.path} lies in the data folder ${dataFolder}`);
    }
    sources.slice(0, at).forEach((other, index) => {
      const otherRoot = roots[index] ?? other.path;
      if (root === otherRoot) source.refuse(`${source.path} is the folder of source "${other.name}" already`);
      else if (pathWithin(otherRoot, root) !== undefined)
        source.refuse(`${source.path} lies in the folder of source "${other.name}" (${other.path})`);
      else if (pathWithin(root, otherRoot) !== undefined)
        source.refuse(`${source.path} holds the folder of source "${other.name}" (${other.path})`);
    });
  });
}
