import { createStepMatcher, readSteps } from '@sluice/metadata';

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
  const steps = readSteps(pattern, anchored);
  if (steps === undefined) return undefined;
  const test = createStepMatcher(steps);
  const matches = anchored ? test : (path: string) => test(path.slice(path.lastIndexOf('/') + 1));
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
