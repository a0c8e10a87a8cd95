/** Marks a text that stands for one which the index would not keep as it is. */
const GUARD = '\u0002';

/** White space in JavaScript's and in Go's sense. */
const EDGE_SPACE = /^[\s\u0085]|[\s\u0085]$/u;

/** Longer texts are indexed by a prefix and their hash: the index takes keys of a bounded size. */
const MAX_UNITS = 4_000;

/**
 * A text as it is indexed and searched for: so that two are equal there exactly when their code points are equal after NFC. Weaviate's
 * `field` tokenisation trims white space and drops empty texts; such texts are put between guards.
 *
 * @param hash of long texts, as sha256
 */
export function exactText(text: string, hash: (text: string) => string): string {
  const normal = wellFormed(text).normalize('NFC');
  if (normal.length > MAX_UNITS) return `${GUARD}${hash(normal)}`;
  return normal === '' || normal.startsWith(GUARD) || EDGE_SPACE.test(normal) ? `${GUARD}${normal}${GUARD}` : normal;
}

/** Half a surrogate pair is no code point: the store could not give it back. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}
