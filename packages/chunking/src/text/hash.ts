/** 32-bit hash of `text.slice(start, end)` (multiply and xor over UTF-16 units, murmur3's finaliser). No security, only spread. */
export function hashRange(text: string, start: number, end: number, seed = 0): number {
  let hash = seed ^ 0x9e3779b9;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash ^= end - start;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** 53-bit key of a text: two hashes side by side. A key holds no reference to the text it was made from. */
export function textKey(text: string): number {
  const low = hashRange(text, 0, text.length, 0);
  const high = hashRange(text, 0, text.length, 0x5bd1e995);
  return (high & 0x1fffff) * 0x1_0000_0000 + low;
}
