import type { CommitRecord } from '@sluice/core';

type Identity = Pick<CommitRecord, 'doc_uuid' | 'attempt'>;

/** Commits that this process has read, and when: one seen before a search began is older than the search. */
export interface SeenCommits {
  /** Whether this commit had been read by the given moment (monotonic milliseconds). */
  seenBy(commit: Identity, moment: number): boolean;
  note(commit: Identity, moment: number): void;
  readonly size: number;
}

/** @param capacity documents remembered; the longest unused are forgotten, which costs a second search at most */
export function createSeenCommits(capacity = 100_000): SeenCommits {
  const seen = new Map<string, { attempt: string; moment: number }>();
  return {
    seenBy(commit, moment) {
      const entry = seen.get(commit.doc_uuid);
      return entry !== undefined && entry.attempt === commit.attempt && entry.moment <= moment;
    },
    note(commit, moment) {
      const entry = seen.get(commit.doc_uuid);
      if (entry !== undefined) seen.delete(commit.doc_uuid);
      // The first sight counts; and inserting again keeps the map in the order of use.
      seen.set(commit.doc_uuid, entry?.attempt === commit.attempt ? entry : { attempt: commit.attempt, moment });
      if (seen.size > capacity) {
        const oldest = seen.keys().next().value;
        if (oldest !== undefined) seen.delete(oldest);
      }
    },
    get size() {
      return seen.size;
    },
  };
}
