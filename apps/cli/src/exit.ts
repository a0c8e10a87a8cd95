import { type ErrorCode, SluiceError } from '@sluice/core';

/** Exit codes, INTERFACES 1. */
export const EXIT = {
  done: 0,
  /** Done, but something is wrong: differences, a failed path, a bad file. */
  wrong: 1,
  usage: 2,
  notRunning: 3,
  timedOut: 4,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

const NOT_RUNNING: ReadonlySet<ErrorCode> = new Set([
  'not_ready',
  'store_unavailable',
  'queue_unavailable',
  'model_unavailable',
] satisfies ErrorCode[]);

const WRONG: ReadonlySet<ErrorCode> = new Set(['not_found', 'internal'] satisfies ErrorCode[]);

/** The exit code of a command that ended with an error: mostly usage, since everything else has its own code. */
export function exitCodeOf(error: SluiceError): ExitCode {
  if (NOT_RUNNING.has(error.code)) return EXIT.notRunning;
  return WRONG.has(error.code) ? EXIT.wrong : EXIT.usage;
}

/** What `--json` says of a command that ended without an answer; codes of its own beside those of errors. */
export function failure(
  code: ErrorCode | 'timed_out' | 'interrupted' | 'failed',
  message: string,
): { error: { code: string; message: string } } {
  return { error: { code, message } };
}

/** Nothing listens, or no instance is known. */
export function notRunning(message: string, cause?: unknown): SluiceError {
  return new SluiceError('not_ready', message, cause === undefined ? {} : { cause });
}
