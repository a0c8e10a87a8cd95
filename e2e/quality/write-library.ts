import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { blocksOf } from './blocks.js';
import { WRITERS } from './write-formats.js';

const LIBRARY = fileURLToPath(new URL('./library/', import.meta.url));

/** Questions about the library, in the form that `sluice eval` reads. */
export const QUESTIONS = fileURLToPath(new URL('./questions.jsonl', import.meta.url));

/** Writes the library as a folder of files: the papers of a company that does not exist. Their paths. */
export async function writeLibrary(folder: string): Promise<string[]> {
  const written: string[] = [];
  for (const name of (await readdir(LIBRARY)).sort()) {
    const text = await readFile(join(LIBRARY, name), 'utf8');
    // Each document begins with a line "=== path".
    const [, ...parts] = text.split(/^=== (.+)\n/m);
    for (let at = 0; at < parts.length; at += 2) {
      const [path = '', content = ''] = parts.slice(at, at + 2);
      const write = WRITERS[extname(path).slice(1)];
      await mkdir(join(folder, dirname(path)), { recursive: true });
      await writeFile(join(folder, path), write === undefined ? content : await write(blocksOf(content)));
      written.push(path);
    }
  }
  return written;
}
