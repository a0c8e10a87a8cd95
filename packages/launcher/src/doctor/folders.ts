import { access, constants, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Check, ok, problem } from './check.js';

/** A source's folder: there, a folder, readable. */
export async function checkRoot(name: string, path: string): Promise<Check> {
  const title = `source ${name}`;
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) {
    const missing = found.code === 'ENOENT';
    return problem(
      title,
      missing ? `${path} does not exist: nothing is read, nothing is deleted` : `${path} can't be looked at (${found.code})`,
      missing ? `mkdir -p '${path}'    (or mount it again)` : `ls -ld '${path}'`,
    );
  }
  if (!found.isDirectory()) return problem(title, `${path} is no folder`, 'name a folder in sluice.yaml, or NAME=FOLDER');
  try {
    await access(path, constants.R_OK | constants.X_OK);
    return ok(title, path);
  } catch {
    return problem(title, `${path} can't be read by this user`, `chmod u+rx '${path}'    (or run as its owner)`);
  }
}

/** Counting stops here: a tree this large is over any usual limit anyway. */
const MOST_FOLDERS = 2_000_000;

/** Number of folders below a root, itself included; unreadable ones count as empty. Links are not followed. */
export async function countFolders(root: string): Promise<number> {
  let count = 0;
  const waiting = [root];
  for (let folder = waiting.pop(); folder !== undefined && count < MOST_FOLDERS; folder = waiting.pop()) {
    count += 1;
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      if (entry.isDirectory()) waiting.push(join(folder, entry.name));
    }
  }
  return count;
}
