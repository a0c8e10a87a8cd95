import type { Urgency } from '@sluice/core';

/** How long room is kept for a job that was called, ms: another worker may have taken it. */
const CALLED_MS = 5000;
/** How long a job waits that nobody calls, since its worker is gone, ms; and more with each that waits, so that they come back one by one. */
const HELD_MS = 30_000;
const HELD_EACH_MS = 10;

/** Room for a kind of document, by number and by bytes. Who finds none waits outside, and is called in the order of coming. */
export interface Share {
  /** Takes room for a job; returns how to give it back. Undefined when there is none, or others wait that are not less urgent. */
  enter(id: string, urgency: Urgency, bytes: number): (() => void) | undefined;
  /** Notes a job that found no room, once it can be called. */
  hold(id: string, urgency: Urgency, bytes: number): void;
  /** Whether a job is held, or was called and has not come yet. */
  knows(id: string): boolean;
  /** How long a job that is held now may wait without being called, ms. */
  holdMs(): number;
  /** The jobs that are held. */
  held(): string[];
}

export interface ShareOptions {
  bytes: number;
  slots: number;
  /** Makes a held job come back now; false when it is not to be found any more. */
  call: (id: string) => Promise<boolean>;
  /** Default 5 s. */
  calledMs?: number;
  /** Default 30 s. */
  heldMs?: number;
}

/**
 * While someone waits nobody of the same urgency is let in before, so large documents get their turn among smaller ones. A document
 * larger than the whole share is let in when nobody else is inside.
 */
export function createShare(options: ShareOptions): Share {
  const waiting: Record<Urgency, Map<string, number>> = { interactive: new Map(), bulk: new Map() };
  /** Jobs for which room is kept until they come. */
  const called = new Map<string, { bytes: number; timer: NodeJS.Timeout }>();
  let inside = 0;
  let used = 0;

  function fits(bytes: number): boolean {
    return inside === 0 || (inside < options.slots && used + bytes <= options.bytes);
  }

  function take(bytes: number): void {
    inside += 1;
    used += bytes;
  }

  function free(bytes: number): void {
    inside -= 1;
    used -= bytes;
  }

  function first(): { id: string; urgency: Urgency; bytes: number } | undefined {
    for (const urgency of ['interactive', 'bulk'] as const) {
      const [next] = waiting[urgency];
      if (next !== undefined) return { id: next[0], urgency, bytes: next[1] };
    }
    return undefined;
  }

  function admit(): void {
    for (let next = first(); next !== undefined && fits(next.bytes); next = first()) {
      const { id, urgency, bytes } = next;
      waiting[urgency].delete(id);
      take(bytes);
      called.set(id, { bytes, timer: setTimeout(() => giveUp(id), options.calledMs ?? CALLED_MS).unref() });
      options.call(id).then(
        (found) => {
          if (!found) giveUp(id);
        },
        () => giveUp(id),
      );
    }
  }

  /** Takes back the room that was kept for a job, if it was. */
  function uncall(id: string): boolean {
    const call = called.get(id);
    if (call === undefined) return false;
    clearTimeout(call.timer);
    called.delete(id);
    free(call.bytes);
    return true;
  }

  function giveUp(id: string): void {
    if (uncall(id)) admit();
  }

  return {
    enter(id, urgency, bytes) {
      const isCalled = uncall(id);
      const before = first();
      const isTurn =
        isCalled || before === undefined || before.id === id || (urgency === 'interactive' && before.urgency === 'bulk');
      if (!isTurn || !fits(bytes)) {
        // The file may have grown since it was called: the room that was kept may do for another.
        if (isCalled) admit();
        return undefined;
      }
      waiting[urgency].delete(id);
      take(bytes);
      let left = false;
      return () => {
        if (left) return;
        left = true;
        free(bytes);
        admit();
      };
    },
    hold(id, urgency, bytes) {
      waiting[urgency].set(id, bytes);
      admit();
    },
    knows: (id) => called.has(id) || waiting.interactive.has(id) || waiting.bulk.has(id),
    holdMs: () => (options.heldMs ?? HELD_MS) + HELD_EACH_MS * (waiting.interactive.size + waiting.bulk.size),
    held: () => [...waiting.interactive.keys(), ...waiting.bulk.keys(), ...called.keys()],
  };
}

/** Bounds on what a worker holds in memory at a time. */
export interface InFlightLimits {
  /** Bytes of all files that are worked on. */
  bytes: number;
  /** Files over this many bytes are large: they take half of the slots at most, and leave room for small ones. So do slow ones. */
  largeBytes: number;
}

export interface InFlight {
  shareOf(bytes: number): Share;
  /** The share of large and slow documents. */
  large: Share;
  held(): string[];
}

/**
 * Two shares, so that small documents never wait for large ones: small ones have room for as many as there are slots, half of all bytes
 * at most, and large ones the rest. One that is larger than all of that runs while no other large one does.
 *
 * A slot more than those of the small ones, or a share of fewer for some of them, would have nearly every job of a long queue taken,
 * found to have no room, and called back one by one: many times slower than to leave it where it is.
 */
export function createInFlight(
  { bytes, largeBytes }: InFlightLimits,
  slots: number,
  options: Pick<ShareOptions, 'call' | 'calledMs' | 'heldMs'>,
): InFlight {
  const smallBytes = Math.min(bytes / 2, slots * largeBytes);
  const small = createShare({ ...options, bytes: smallBytes, slots });
  const large = createShare({ ...options, bytes: bytes - smallBytes, slots: Math.max(1, Math.floor(slots / 2)) });
  return {
    shareOf: (size) => (size > largeBytes ? large : small),
    large,
    held: () => [...small.held(), ...large.held()],
  };
}
