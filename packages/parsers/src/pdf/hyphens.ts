/** Words of a document, by which it is judged whether a hyphen at a line's end broke a word. */
export interface Vocabulary {
  add(line: string): void;
  /** The two halves as one: with the hyphen where it belongs to the word, without it where the line end made it. */
  join(before: string, after: string): string;
}

const WORD = /[\p{L}\p{M}]+(?:[-\u2010][\p{L}\p{M}]+)*/gu;
const BREAK = /([\p{L}\p{M}]+(?:[-\u2010][\p{L}\p{M}]+)*)[-\u2010\u00ad]$/u;
const REST = /^([\p{L}\p{M}]+)/u;

/** First parts that are written with a hyphen in English, whatever follows. */
const WITH_HYPHEN = new Set(['well', 'self', 'half', 'cross', 'quasi', 'non', 'ill', 'vice', 'ex']);

export function createVocabulary(): Vocabulary {
  const words = new Set<string>();
  return {
    add(line) {
      // The last word may be half a word, and so may the first; neither is told from whole ones, so both are left out.
      const found = line.toLowerCase().match(WORD) ?? [];
      for (const word of found.slice(1, -1)) {
        words.add(word);
        const parts = word.split(/[-\u2010]/);
        if (parts.length > 1) for (const part of parts) words.add(part);
      }
    },
    join(before, after) {
      const head = BREAK.exec(before)?.[1];
      const tail = REST.exec(after)?.[1];
      if (head === undefined || tail === undefined) return before + after;
      const bare = before.slice(0, -1);
      if (before.endsWith('\u00ad')) return bare + after;
      const [first, second] = [head.toLowerCase(), tail.toLowerCase()];
      if (words.has(`${first}${second}`)) return bare + after;
      if (words.has(`${first}-${second}`) || WITH_HYPHEN.has(first) || first.length === 1) return before + after;
      // A word is broken in small letters; both halves being words of their own means a compound.
      if (tail !== second) return before + after;
      return words.has(first) && words.has(second) && first.length > 2 && second.length > 2 ? before + after : bare + after;
    },
  };
}

/** True when a line ends with a hyphen after a letter and the next begins with a letter. */
export function isBroken(before: string, after: string): boolean {
  return BREAK.test(before) && REST.test(after);
}
