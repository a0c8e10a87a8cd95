import { mkdir, open, readFile, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isRunning, type ProcessRef, processRef } from './processes.js';

export interface Lock {
  release(): Promise<void>;
}

/** Who holds a lock file, when a running process does. */
export interface Held {
  holder: ProcessRef;
}

/** A guard left behind by a crash in the few lines that hold it is taken away after this long. */
const GUARD_MAX_AGE_MS = 10_000;

async function readHolder(path: string): Promise<ProcessRef | 'unwritten' | undefined> {
  try {
    const text = await readFile(path, 'utf8');
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || !('pid' in value) || typeof value.pid !== 'number') return 'unwritten';
    const born = 'born' in value && typeof value.born === 'string' ? value.born : undefined;
    return { pid: value.pid, ...(born === undefined ? {} : { born }) };
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : 'unwritten';
  }
}

/** Runs `work` while this process alone may look at and change the lock file; false when another does so right now. */
async function guarded<T>(path: string, work: () => Promise<T>): Promise<T | 'busy'> {
  const guard = `${path}.guard`;
  const handle = await open(guard, 'wx').catch(() => undefined);
  if (handle === undefined) {
    const age = await stat(guard).then(
      (found) => Date.now() - found.mtimeMs,
      () => 0,
    );
    if (age > GUARD_MAX_AGE_MS) await rm(guard, { force: true });
    return 'busy';
  }
  try {
    return await work();
  } finally {
    await handle.close();
    await rm(guard, { force: true });
  }
}

/**
 * Takes a lock file for this process, or tells who holds it. The lock of a process that no longer runs is taken over.
 * Creation and takeover happen under a guard file, so that two processes never both take over.
 */
export async function tryLock(path: string): Promise<Lock | Held> {
  await mkdir(dirname(path), { recursive: true });
  const self: ProcessRef = processRef(process.pid) ?? { pid: process.pid };
  for (;;) {
    const result = await guarded(path, async () => {
      const holder = await readHolder(path);
      if (holder !== undefined && holder !== 'unwritten' && isRunning(holder)) return { holder };
      const handle = await open(path, 'w');
      await handle.writeFile(JSON.stringify(self));
      await handle.close();
      return undefined;
    });
    if (result === 'busy') await delay(5);
    else if (result !== undefined) return result;
    else return { release: () => rm(path, { force: true }) };
  }
}

export interface WaitOptions {
  /** Called once with the holder when the lock is not free at once. */
  onWait?(holder: ProcessRef): void;
  signal?: AbortSignal;
}

/** Runs `work` under the lock, after waiting for whoever holds it. */
export async function withLock<T>(path: string, work: () => Promise<T>, options: WaitOptions = {}): Promise<T> {
  let told = false;
  for (;;) {
    options.signal?.throwIfAborted();
    const taken = await tryLock(path);
    if ('release' in taken) {
      try {
        return await work();
      } finally {
        await taken.release();
      }
    }
    if (!told) options.onWait?.(taken.holder);
    told = true;
    await delay(200, undefined, { signal: options.signal });
  }
}
