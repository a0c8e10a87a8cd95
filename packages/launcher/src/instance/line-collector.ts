import { open, stat, truncate } from 'node:fs/promises';
import type { RotatingLog } from './rotating-log.js';

/** Bytes read at a time: a service that writes faster is caught up with over the next looks. */
const READ_BYTES = 1_000_000;
/** A file that has been read to its end is emptied from this size on. */
const EMPTY_FROM_BYTES = 256_000;
/** A line longer than this is cut. */
const LONGEST_LINE = 64_000;

export interface LineCollector {
  /** Takes over what was written since the last look; at the end, with `last`, an unfinished line too, and empties the file. */
  collect(options?: { last?: boolean }): Promise<void>;
}

/**
 * Puts the plain lines that a service writes into a file of its own as NDJSON into a log that rotates. The service keeps its file open, in
 * append mode: it outlives a supervisor that is killed, which a pipe would not let it.
 */
export function createLineCollector(path: string, log: RotatingLog, toEntry: (line: string) => object): LineCollector {
  let position = 0;
  let rest = '';

  function write(line: string): void {
    if (line.trim() !== '') log.write(JSON.stringify(toEntry(line.slice(0, LONGEST_LINE))));
  }

  return {
    async collect({ last = false } = {}) {
      const size = await stat(path).then(
        (found) => found.size,
        () => 0,
      );
      // Somebody has emptied it.
      if (size < position) position = 0;
      if (size > position) {
        const file = await open(path, 'r');
        try {
          const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(READ_BYTES, size - position)), { position });
          position += bytesRead;
          const lines = (rest + buffer.subarray(0, bytesRead).toString('utf8')).split('\n');
          rest = lines.pop() ?? '';
          if (rest.length > LONGEST_LINE) lines.push(rest);
          if (rest.length > LONGEST_LINE) rest = '';
          for (const line of lines) write(line);
        } finally {
          await file.close();
        }
      }
      if (last) {
        write(rest);
        rest = '';
      }
      if (position >= size && (last || position >= EMPTY_FROM_BYTES) && size > 0) {
        await truncate(path, 0);
        position = 0;
      }
    },
  };
}

/** Redis' marks of how much a line matters, as pino's levels. */
const REDIS_LEVELS: Record<string, number> = { '.': 10, '-': 20, '*': 30, '#': 40 };

/** A line of Redis, as `12:M 30 Nov 2026 16:00:00.123 * Ready to accept connections`, in the form of our own logs. */
export function redisEntry(line: string): object {
  const [, mark, text] = /^\d+:\w \d+ \w+ \d+ [\d:.]+ ([.*#-]) (.*)$/.exec(line) ?? [];
  return { level: REDIS_LEVELS[mark ?? '*'] ?? 30, time: new Date().toISOString(), role: 'redis', msg: text ?? line };
}
