/** A map that forgets what was least recently used beyond `capacity` entries. */
export interface Lru<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): void;
}

export function createLru<K, V>(capacity: number): Lru<K, V> {
  // A Map iterates in order of insertion, so re-inserting on use keeps the oldest first.
  const entries = new Map<K, V>();
  return {
    get(key) {
      const value = entries.get(key);
      if (value !== undefined) {
        entries.delete(key);
        entries.set(key, value);
      }
      return value;
    },
    set(key, value) {
      entries.delete(key);
      entries.set(key, value);
      if (entries.size > capacity) {
        const oldest = entries.keys().next();
        if (!oldest.done) entries.delete(oldest.value);
      }
    },
  };
}
