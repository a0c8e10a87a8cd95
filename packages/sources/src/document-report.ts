import type { Cause } from '@sluice/core';
import { createPathIndex, type PathIndex } from './path-index.js';

/** A document path that changed, reported once it is still. */
export interface Change {
  path: string;
  cause: Extract<Cause, 'add' | 'change' | 'unlink'>;
}

/** The documents that are known to be in a source, and the report of their changes. */
export interface DocumentReport extends Pick<PathIndex, 'add' | 'has' | 'below'> {
  changed(path: string): Change;
  gone(path: string): Change;
  /** Reports changes, until close. */
  send(changes: Change[]): void;
  close(): void;
}

export function createDocumentReport(onChanges: (changes: Change[]) => void): DocumentReport {
  const index = createPathIndex();
  let closed = false;
  return {
    add: index.add,
    has: index.has,
    below: index.below,
    changed(path) {
      const cause = index.has(path) ? 'change' : 'add';
      index.add(path);
      return { path, cause };
    },
    gone(path) {
      index.delete(path);
      return { path, cause: 'unlink' };
    },
    send(changes) {
      if (changes.length > 0 && !closed) onChanges(changes);
    },
    close() {
      closed = true;
    },
  };
}
