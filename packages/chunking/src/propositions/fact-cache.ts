/** Facts by the hash of passage, prompt and model, so that an edit asks the language model for the changed passages only. */
export interface FactCache {
  get(key: string): Promise<string[] | undefined> | string[] | undefined;
  set(key: string, facts: string[]): Promise<void> | void;
}

/** A cache in memory. @param entries passages kept; the oldest go first */
export function createFactCache(entries = 10_000): FactCache {
  const kept = new Map<string, string[]>();
  return {
    get: (key) => kept.get(key),
    set(key, facts) {
      kept.set(key, facts);
      const oldest = kept.size > entries ? kept.keys().next().value : undefined;
      if (oldest !== undefined) kept.delete(oldest);
    },
  };
}
