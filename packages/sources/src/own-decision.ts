import type { Clock } from '@sluice/core';

/** How long a folder stays refused before it is asked again, ms: a folder may be filled, and the documents known of it deleted by others. */
const REFUSED_MS = 60_000;

/** What a process without the watcher's state knows of a root: in memory only, since the watcher alone writes that state. */
export interface OwnDecision<S> {
  /** Whether the folder seen may be taken for the root; decided when it is not the one that was accepted. */
  accepts(seen: S): Promise<boolean>;
  /** The watcher's state names the root: nothing of one's own counts any more. */
  defer(): void;
}

/**
 * The folder accepted last stays accepted, as in the watcher's state; another one is decided on when it is seen.
 *
 * @param options.decide `empty` when no document is known and nothing is in the folder, `undecided` when the root changed meanwhile.
 *   An empty folder in which nothing ever changed may be a mount point whose mount is away: it stays accepted only when it is changed.
 */
export function createOwnDecision<S extends { mtimeNs: string }>(options: {
  clock: Pick<Clock, 'monotonic'>;
  isSame(a: S, b: S): boolean;
  decide(seen: S): Promise<'accepted' | 'empty' | 'refused' | 'undecided'>;
}): OwnDecision<S> {
  const { clock, isSame } = options;
  let accepted: { folder: S; wasEmpty: boolean } | undefined;
  let refused: { folder: S; untilMs: number } | undefined;
  let deciding: Promise<boolean> | undefined;

  function isAccepted(seen: S): boolean {
    if (accepted === undefined || !isSame(accepted.folder, seen)) return false;
    return !accepted.wasEmpty || accepted.folder.mtimeNs !== seen.mtimeNs;
  }

  async function decide(seen: S): Promise<boolean> {
    const decision = await options.decide(seen);
    if (decision === 'undecided') return false;
    if (decision === 'refused') {
      refused = { folder: seen, untilMs: clock.monotonic() + REFUSED_MS };
      if (accepted !== undefined && isSame(accepted.folder, seen)) accepted = undefined;
      return false;
    }
    refused = undefined;
    accepted = { folder: seen, wasEmpty: decision === 'empty' };
    return true;
  }

  return {
    async accepts(seen) {
      // One decision at a time, whoever asks; those who waited may have seen another folder.
      while (deciding !== undefined) await deciding.catch(() => undefined);
      if (isAccepted(seen)) return true;
      if (refused !== undefined && isSame(refused.folder, seen) && clock.monotonic() < refused.untilMs) return false;
      deciding = decide(seen).finally(() => {
        deciding = undefined;
      });
      return deciding;
    },
    defer() {
      accepted = undefined;
      refused = undefined;
    },
  };
}
