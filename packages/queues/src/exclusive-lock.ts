/** One that is inside, or waits to be. */
export interface Entry {
  /** Resolves once it is let in. */
  admitted: Promise<void>;
  /** It turned out to be long. */
  becomeLong(): void;
  leave(): void;
}

export interface EntryOptions {
  /** Nobody else may be inside at the same time. */
  exclusive: boolean;
  /** It may stay inside for minutes. */
  long: boolean;
}

/**
 * Lets many in at a time, or one exclusively. While one waits for exclusive entry no long one is let in before it. Short ones still
 * are, until the long ones have left: so nobody waits for the longest, and the exclusive one waits for a bounded time.
 */
export function createExclusiveLock(): { enter(options: EntryOptions): Entry } {
  const inside = new Set<EntryOptions>();
  const waiting: { options: EntryOptions; admit: () => void }[] = [];

  function mayEnter(options: EntryOptions, isBehindExclusive: boolean): boolean {
    if (options.exclusive) return inside.size === 0;
    const entries = [...inside];
    if (entries.some(({ exclusive }) => exclusive)) return false;
    return !isBehindExclusive || (!options.long && entries.some(({ long }) => long));
  }

  function admit(): void {
    let isBehindExclusive = false;
    for (const one of [...waiting]) {
      if (mayEnter(one.options, isBehindExclusive)) {
        waiting.splice(waiting.indexOf(one), 1);
        inside.add(one.options);
        one.admit();
      } else isBehindExclusive ||= one.options.exclusive;
    }
  }

  return {
    enter(given) {
      const options = { ...given };
      const admitted = new Promise<void>((resolve) => {
        waiting.push({ options, admit: resolve });
        admit();
      });
      return {
        admitted,
        becomeLong() {
          options.long = true;
          admit();
        },
        leave() {
          if (inside.delete(options)) admit();
        },
      };
    },
  };
}
