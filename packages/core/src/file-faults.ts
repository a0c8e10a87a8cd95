import type { FaultKind } from './errors.js';

/** What a network share, a disk or a process that is short of descriptors answers for a while, and then no more. */
const PASSING = new Set(['EIO', 'ESTALE', 'EMFILE', 'ENFILE', 'EAGAIN', 'EBUSY', 'EINTR', 'ENOMEM', 'ETIMEDOUT']);

const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG']);

/** Whether another attempt may read a file that could not be read, by Node's `code` of the error. */
export function fileFaultKind(cause: unknown): FaultKind {
  const isPassing = cause instanceof Error && 'code' in cause && PASSING.has(String(cause.code));
  return isPassing ? 'transient' : 'permanent';
}

/** True for errors that say that nothing is at a path: a name longer than the file system can hold is nobody's. */
export function isAbsence(error: unknown): boolean {
  return error instanceof Error && 'code' in error && ABSENT.has(String(error.code));
}
