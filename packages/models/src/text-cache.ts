/** Entries of one generation: natural text repeats its words. */
const GENERATION = 20_000;
const LONGEST = 40;

/** Keeps what short texts that were asked for lately have come to; the oldest half goes when it is full. */
export function createTextCache<T>(make: (text: string) => T): (text: string) => T {
  let young = new Map<string, T>();
  let old = new Map<string, T>();
  return (text) => {
    if (text.length > LONGEST) return make(text);
    let found = young.get(text);
    if (found !== undefined) return found;
    found = old.get(text) ?? make(text);
    if (young.size >= GENERATION) {
      old = young;
      young = new Map();
    }
    young.set(text, found);
    return found;
  };
}
