import { closeSync, fstatSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { open, rename, rm, stat, truncate } from 'node:fs/promises';
import { dirname } from 'node:path';

export interface RotationOptions {
  /** A file that has grown to this many bytes is put aside. Default 10 MB. */
  maxBytes?: number;
  /** How many files that were put aside are kept: `worker.ndjson.1` is the newest. Default 4. */
  keep?: number;
}

const DEFAULTS = { maxBytes: 10_000_000, keep: 4 };

export interface RotatingLog {
  write(line: string): void;
  close(): void;
}

/**
 * A log file that the supervisor writes for a process. Writes are synchronous: a line that was taken is on its way to the disk
 * even when the supervisor is killed, and an order is kept.
 */
export function createRotatingLog(path: string, options: RotationOptions = {}): RotatingLog {
  const { maxBytes, keep } = { ...DEFAULTS, ...options };
  mkdirSync(dirname(path), { recursive: true });
  let file = openSync(path, 'a');
  let size = fstatSync(file).size;

  function rotate(): void {
    closeSync(file);
    rmSync(`${path}.${keep}`, { force: true });
    for (let number = keep - 1; number >= 0; number -= 1) {
      try {
        renameSync(number === 0 ? path : `${path}.${number}`, `${path}.${number + 1}`);
      } catch {
        // There were fewer files so far.
      }
    }
    file = openSync(path, 'a');
    size = 0;
  }

  return {
    write(line) {
      const bytes = Buffer.from(line.endsWith('\n') ? line : `${line}\n`);
      try {
        if (size > 0 && size + bytes.length > maxBytes) rotate();
        writeSync(file, bytes);
        size += bytes.length;
      } catch {
        // A full disk must not end the supervisor: the line is lost, the processes go on.
      }
    },
    close() {
      closeSync(file);
    },
  };
}

/**
 * Rotates a log that a service writes itself: its content is copied aside and the file emptied in place, since the service keeps
 * it open (in append mode, so that it goes on at the new end). Does nothing while the file is small.
 */
export async function rotateInPlace(path: string, options: RotationOptions = {}): Promise<void> {
  const { maxBytes, keep } = { ...DEFAULTS, ...options };
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  if (size < maxBytes) return;
  await rm(`${path}.${keep}`, { force: true });
  for (let number = keep - 1; number >= 1; number -= 1)
    await rename(`${path}.${number}`, `${path}.${number + 1}`).catch(() => undefined);
  const source = await open(path, 'r');
  try {
    const target = await open(`${path}.1`, 'w');
    try {
      for await (const bytes of source.createReadStream({ autoClose: false })) await target.write(bytes as Buffer);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
  await truncate(path, 0);
}
