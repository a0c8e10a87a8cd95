import { readFile } from 'node:fs/promises';

/** The file's JSON; undefined when it is missing or malformed, which the callers' schemas then refuse. */
export async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch {
    return undefined;
  }
}
