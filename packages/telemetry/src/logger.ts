import { type Logger, pino } from 'pino';

export type { Logger } from 'pino';

export interface LoggerOptions {
  /** Which process speaks, as `worker`. In every line. */
  role: string;
  /** pino level; default `info`. */
  level?: string;
  /** Where lines go; default stdout. The supervisor writes each process' stdout to its own rotated file. */
  destination?: { write(line: string): void };
}

/** NDJSON logger. Never log document text: paths, ids, counts and codes only. */
export function createLogger(options: LoggerOptions): Logger {
  const settings = {
    level: options.level ?? 'info',
    base: { role: options.role, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
  };
  return options.destination === undefined ? pino(settings) : pino(settings, options.destination);
}

/** For tests and for commands that must keep stdout clean. */
export function silentLogger(): Logger {
  return pino({ level: 'silent' });
}
