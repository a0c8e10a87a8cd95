import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isAbsence } from '@sluice/core';

/**
 * Remembers that a file with a stat other than its record's was hashed and found to have the record's content, so that the next
 * scan needs no hash. Kept in a file of the data folder; losing it costs hashing, nothing else.
 */
export interface VerifiedStats {
  /** Whether this stat was verified to stand for this content. */
  has(path: string, stat: string, contentHash: string): boolean;
  set(path: string, stat: string, contentHash: string): void;
  delete(path: string): void;
  /** Writes what changed since the last save. */
  save(): Promise<void>;
}

/** @param file where to keep it; an unreadable or damaged one counts as empty */
export async function loadVerifiedStats(file: string): Promise<VerifiedStats> {
  const verified = new Map<string, string>(await readEntries(file));
  let changed = false;
  const proofOf = (stat: string, contentHash: string) => `${stat} ${contentHash}`;
  return {
    has: (path, stat, contentHash) => verified.get(path) === proofOf(stat, contentHash),
    set(path, stat, contentHash) {
      verified.set(path, proofOf(stat, contentHash));
      changed = true;
    },
    delete(path) {
      if (verified.delete(path)) changed = true;
    },
    async save() {
      if (!changed) return;
      changed = false;
      await mkdir(dirname(file), { recursive: true });
      const draft = `${file}.${process.pid}.${randomUUID()}.tmp`;
      await writeFile(draft, [...verified].map((entry) => `${JSON.stringify(entry)}\n`).join(''));
      await rename(draft, file);
    },
  };
}

async function readEntries(file: string): Promise<[string, string][]> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (isAbsence(error)) return [];
    throw error;
  }
  const entries: [string, string][] = [];
  for (const line of text.split('\n')) {
    const entry = parseLine(line);
    if (entry !== undefined) entries.push(entry);
  }
  return entries;
}

function parseLine(line: string): [string, string] | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (!Array.isArray(value)) return undefined;
    const [path, verified]: unknown[] = value;
    return typeof path === 'string' && typeof verified === 'string' ? [path, verified] : undefined;
  } catch {
    // A line cut short by a crash, or the empty one at the end.
    return undefined;
  }
}
