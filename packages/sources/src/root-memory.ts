import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isAbsence } from '@sluice/core';
import { z } from 'zod';

const identitySchema = z.object({ root: z.string(), device: z.string(), inode: z.string(), birth: z.string() });
/** A folder, on this machine; `birth` is '0' where the file system keeps none. */
export type Identity = z.infer<typeof identitySchema>;
const sampleSchema = z.array(z.string());

export function sameFolder(before: Identity, now: Identity): boolean {
  return before.device === now.device && before.inode === now.inode && before.birth === now.birth;
}

/** What is kept of a source's root: which folder it was, and what a refused folder was asked for. */
export interface RootMemory {
  identity(): Promise<Identity | undefined>;
  /** Takes a folder for the root; ends all doubt. */
  remember(identity: Identity): Promise<void>;
  /** Paths that a refused folder was asked for. */
  doubted(): Promise<readonly string[]>;
  doubt(paths: readonly string[]): Promise<void>;
  endDoubt(): Promise<void>;
}

/** In `<folder>/<source>.json`, and in `<source>.doubt.json` while a root is refused. A damaged file is as good as none: the documents decide then. */
export function createRootMemory(folder: string, source: string): RootMemory {
  const stateFile = join(folder, `${source}.json`);
  const doubtFile = join(folder, `${source}.doubt.json`);
  const endDoubt = () => rm(doubtFile, { force: true });
  return {
    identity: () => readState(stateFile, identitySchema),
    async remember(identity) {
      await writeState(stateFile, identitySchema.parse(identity));
      await endDoubt();
    },
    doubted: async () => (await readState(doubtFile, sampleSchema)) ?? [],
    doubt: (paths) => writeState(doubtFile, paths),
    endDoubt,
  };
}

async function readState<T>(path: string, schema: z.ZodType<T>): Promise<T | undefined> {
  try {
    return schema.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    if (isAbsence(error) || error instanceof SyntaxError || error instanceof z.ZodError) return undefined;
    throw error;
  }
}

async function writeState(path: string, state: unknown): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}.${randomUUID()}.tmp`;
  await writeFile(draft, `${JSON.stringify(state)}\n`);
  await rename(draft, path);
}
