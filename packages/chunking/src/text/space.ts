/** White space as JavaScript's `\s` has it. */
export function isSpace(unit: number): boolean {
  if (unit <= 0x20) return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
  if (unit < 0xa0) return false;
  return (
    unit === 0xa0 ||
    unit === 0x1680 ||
    (unit >= 0x2000 && unit <= 0x200a) ||
    unit === 0x2028 ||
    unit === 0x2029 ||
    unit === 0x202f ||
    unit === 0x205f ||
    unit === 0x3000 ||
    unit === 0xfeff
  );
}

/** First offset in start..end that is no white space; `end` when there is none. */
export function skipSpace(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && isSpace(text.charCodeAt(at))) at++;
  return at;
}

/** The offset behind the last unit in start..end that is no white space; `start` when there is none. */
export function skipSpaceBack(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && isSpace(text.charCodeAt(at - 1))) at--;
  return at;
}

/** Start of the line that holds `at`, not before `floor`. */
export function lineStart(text: string, at: number, floor: number): number {
  let start = at;
  while (start > floor && text.charCodeAt(start - 1) !== 0x0a) start--;
  return start;
}

/** The first line break in start..end, or -1. Looks no further: a text may be one line of many MB. */
export function findNewline(text: string, start: number, end: number): number {
  for (let at = start; at < end; at++) if (text.charCodeAt(at) === 0x0a) return at;
  return -1;
}
