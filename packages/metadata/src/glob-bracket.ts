const CLASSES: Record<string, string> = {
  alnum: 'a-zA-Z0-9',
  alpha: 'a-zA-Z',
  blank: ' \\t',
  cntrl: '\\x00-\\x1f\\x7f',
  digit: '0-9',
  graph: '\\x21-\\x7e',
  lower: 'a-z',
  print: '\\x20-\\x7e',
  punct: '\\x21-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7e',
  space: '\\s',
  upper: 'A-Z',
  xdigit: '0-9a-fA-F',
};

/** The bracket expression at a place of a pattern; undefined for one that is open, or names no class. A bracket never matches a slash. */
export function compileBracket(
  pattern: string,
  start: number,
): { accepts: (character: string) => boolean; end: number } | undefined {
  let at = start + 1;
  const negated = pattern[at] === '!' || pattern[at] === '^';
  if (negated) at++;
  let members = '';
  let first = true;
  while (at < pattern.length) {
    if (pattern[at] === ']' && !first) {
      const set = new RegExp(negated ? `^[^${members}]$` : members === '' ? '[]' : `^[${members}]$`, 'su');
      return { accepts: (character) => character !== '/' && set.test(character), end: at + 1 };
    }
    first = false;
    const named = /^\[:([a-z]+):\]/.exec(pattern.slice(at));
    if (named !== null) {
      const listed = CLASSES[named[1] ?? ''];
      if (listed === undefined) return undefined;
      members += listed;
      at += named[0].length;
      continue;
    }
    const low = readMember(pattern, at);
    if (low === undefined) return undefined;
    at = low.end;
    if (pattern[at] === '-' && pattern[at + 1] !== undefined && pattern[at + 1] !== ']') {
      const high = readMember(pattern, at + 1);
      if (high === undefined) return undefined;
      at = high.end;
      // A range that runs backwards holds its first member alone.
      if (low.code > high.code) members += escapeMember(low.code);
      else members += `${escapeMember(low.code)}-${escapeMember(high.code)}`;
    } else {
      members += escapeMember(low.code);
    }
  }
  return undefined;
}

function readMember(pattern: string, at: number): { code: number; end: number } | undefined {
  const start = pattern[at] === '\\' ? at + 1 : at;
  const code = pattern.codePointAt(start);
  if (code === undefined) return undefined;
  return { code, end: start + String.fromCodePoint(code).length };
}

function escapeMember(code: number): string {
  return `\\u{${code.toString(16)}}`;
}
