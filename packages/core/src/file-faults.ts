import type { FaultKind } from './errors.js';

/** What a network share, a disk or a process that is short of descriptors answers for a while, and then no more. */
const PASSING = new Set(['EIO', 'ESTALE', 'EMFILE', 'ENFILE', 'EAGAIN', 'EBUSY', 'EINTR', 'ENOMEM', 'ETIMEDOUT']);

/** Whether another attempt may read a file that could not be read, by Node's `code` of the error. */
export function fileFaultKind(cause: unknown): FaultKind {
  const isPassing = cause instanceof Error && 'code' in cause && PASSING.has(String(cause.code));
  return isPassing ? 'transient' : 'permanent';
}
