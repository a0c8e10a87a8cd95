/** One line of an ignore file in gitignore syntax, compiled. */
export interface IgnoreLine {
  /** As written, for messages. */
  text: string;
  /** From 1. */
  line: number;
  negated: boolean;
  foldersOnly: boolean;
  /** Tests a path relative to the folder of the ignore file, without a slash at either end. */
  matches(path: string): boolean;
}

/** Compiles an ignore file (gitignore(5)): the last line that matches decides. Blank lines, comments and impossible patterns give no line. */
export function compileIgnoreFile(text: string): IgnoreLine[] {
  const lines: IgnoreLine[] = [];
  text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .forEach((raw, index) => {
      const compiled = compileLine(raw.endsWith('\r') ? raw.slice(0, -1) : raw, index + 1);
      if (compiled !== undefined) lines.push(compiled);
    });
  return lines;
}

function compileLine(raw: string, line: number): IgnoreLine | undefined {
  if (raw.startsWith('#')) return undefined;
  let pattern = trimTrailingSpaces(raw);
  const negated = pattern.startsWith('!');
  if (negated) pattern = pattern.slice(1);
  const foldersOnly = pattern.endsWith('/');
  if (foldersOnly) pattern = pattern.slice(0, -1);
  // A slash anywhere but at the end ties the pattern to the folder of its file; else it matches a name at any depth.
  const anchored = pattern.includes('/');
  if (pattern.startsWith('/')) pattern = pattern.slice(1);
  if (pattern === '') return undefined;
  const source = toRegExp(pattern, anchored);
  if (source === undefined) return undefined;
  const expression = new RegExp(source, 'su');
  const matches = anchored
    ? (path: string) => expression.test(path)
    : (path: string) => expression.test(path.slice(path.lastIndexOf('/') + 1));
  return { text: raw, line, negated, foldersOnly, matches };
}

/** Trailing spaces fall away unless escaped by a backslash. */
function trimTrailingSpaces(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === ' ') {
    let backslashes = 0;
    while (text[end - 2 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 1) break;
    end--;
  }
  return text.slice(0, end);
}

/** The pattern as a regular expression, or undefined for one that can match nothing (a trailing backslash, an open bracket). */
function toRegExp(pattern: string, anchored: boolean): string | undefined {
  let out = '^';
  let at = 0;
  while (at < pattern.length) {
    const char = pattern[at] ?? '';
    if (char === '*') {
      let end = at;
      while (pattern[end] === '*') end++;
      const wholeComponent = (at === 0 || pattern[at - 1] === '/') && (end === pattern.length || pattern[end] === '/');
      if (anchored && end - at >= 2 && wholeComponent) {
        if (end === pattern.length) {
          // `a/**` matches everything below a, but not a itself.
          out += '.+';
          at = end;
        } else {
          // `**/` matches any number of folders, none too.
          out += '(?:[^/]+/)*';
          at = end + 1;
        }
        continue;
      }
      out += '[^/]*';
      at = end;
    } else if (char === '?') {
      out += '[^/]';
      at++;
    } else if (char === '[') {
      const bracket = compileBracket(pattern, at);
      if (bracket === undefined) return undefined;
      out += bracket.source;
      at = bracket.end;
    } else if (char === '\\') {
      const next = String.fromCodePoint(pattern.codePointAt(at + 1) ?? 0);
      if (at + 1 >= pattern.length) return undefined;
      out += escapeLiteral(next);
      at += 1 + next.length;
    } else {
      const literal = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
      out += escapeLiteral(literal);
      at += literal.length;
    }
  }
  return `${out}$`;
}

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

function compileBracket(pattern: string, start: number): { source: string; end: number } | undefined {
  let at = start + 1;
  const negated = pattern[at] === '!' || pattern[at] === '^';
  if (negated) at++;
  let members = '';
  let first = true;
  while (at < pattern.length) {
    if (pattern[at] === ']' && !first) {
      // A bracket never matches a slash, whatever it lists.
      const set = negated ? `[^${members}]` : members === '' ? '[]' : `[${members}]`;
      return { source: `(?!/)${set}`, end: at + 1 };
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

function escapeLiteral(text: string): string {
  return /[\\^$.*+?()[\]{}|/]/.test(text) ? `\\${text}` : text;
}
