import { access, constants, mkdir, rename, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

export async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** Writes a file so that a reader sees the old or the new content, never half of one. */
export async function writeAtomically(path: string, content: string, mode = 0o644): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const partial = `${path}.${process.pid}.tmp`;
  await writeFile(partial, content, { mode });
  await rename(partial, path);
}
