import picomatch from 'picomatch';
import { compileBracket } from './glob-bracket.js';

/** A part of a pattern, as an automaton reads it. */
export type GlobStep =
  /** One character. */
  | { kind: 'one'; accepts: (character: string) => boolean }
  /** `*`: any characters but slashes, none too. */
  | { kind: 'many' }
  /** A component `**` with more behind it: any number of whole components, each with its slash, none too. */
  | { kind: 'folders' }
  /** A component `**` at the end: one character or more, slashes among them. */
  | { kind: 'rest' };

/**
 * The steps of a pattern of `*`, `**`, `?`, brackets, escapes and plain characters; undefined for one that can match nothing (a
 * backslash at the end, an open bracket).
 *
 * @param crossesFolders whether a component `**` means any number of folders; else it is `*`
 */
export function readSteps(pattern: string, crossesFolders: boolean): GlobStep[] | undefined {
  const steps: GlobStep[] = [];
  let at = 0;
  while (at < pattern.length) {
    const character = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
    if (character === '*') {
      let end = at;
      while (pattern[end] === '*') end++;
      const isComponent = (at === 0 || pattern[at - 1] === '/') && (end === pattern.length || pattern[end] === '/');
      const crosses = crossesFolders && isComponent && end - at >= 2;
      steps.push(crosses ? { kind: end === pattern.length ? 'rest' : 'folders' } : { kind: 'many' });
      at = crosses ? end + 1 : end;
    } else if (character === '?') {
      steps.push({ kind: 'one', accepts: (other) => other !== '/' });
      at++;
    } else if (character === '[') {
      const bracket = compileBracket(pattern, at);
      if (bracket === undefined) return undefined;
      steps.push({ kind: 'one', accepts: bracket.accepts });
      at = bracket.end;
    } else {
      const start = character === '\\' ? at + 1 : at;
      const code = pattern.codePointAt(start);
      if (code === undefined) return undefined;
      const literal = String.fromCodePoint(code);
      steps.push({ kind: 'one', accepts: (other) => other === literal });
      at = start + literal.length;
    }
  }
  return steps;
}

/**
 * Tests a text by its steps in time proportional to its length times their number, whatever both are: an automaton in all its states at
 * once. Regular expressions go back and forth, which takes seconds for `*a*a*a*a*b` and one long name.
 */
export function createStepMatcher(steps: readonly GlobStep[]): (text: string) => boolean {
  const count = steps.length + 1;
  /** At step n; behind those, within step n (folders, rest). */
  let now = new Uint8Array(2 * count);
  let next = new Uint8Array(2 * count);

  function enter(states: Uint8Array, at: number): void {
    for (let step = at; ; step++) {
      states[step] = 1;
      const kind = steps[step]?.kind;
      if (kind !== 'many' && kind !== 'folders') return;
    }
  }

  function advance(step: number, character: string): void {
    const part = steps[step];
    if (part === undefined) return;
    if (now[step] === 1) {
      if (part.kind === 'one') {
        if (part.accepts(character)) enter(next, step + 1);
      } else if (part.kind === 'rest') next[count + step] = 1;
      else if (character !== '/') next[part.kind === 'many' ? step : count + step] = 1;
      if (part.kind === 'many' && character !== '/') enter(next, step);
    }
    if (now[count + step] === 1) {
      if (part.kind === 'folders' && character === '/') enter(next, step);
      else next[count + step] = 1;
    }
  }

  return (text) => {
    now.fill(0);
    enter(now, 0);
    for (const character of text) {
      next.fill(0);
      for (let step = 0; step < steps.length; step++) advance(step, character);
      [now, next] = [next, now];
    }
    const isRest = steps.at(-1)?.kind === 'rest' && now[count + steps.length - 1] === 1;
    return isRest || now[steps.length] === 1;
  };
}

/** Most repeated parts (`*`, `+( )`) of a pattern that is matched by a regular expression: its time grows with the length to that power. */
const FEW_REPEATS = 2;
/** Most patterns that the braces of one stand for. */
const MAX_ALTERNATIVES = 200;
/** `*(a|b)` and `+(a|b)`. */
const REPEATED_GROUP = /[*+]\(([^()]*)\)/g;

/**
 * Tests paths by a glob of picomatch's syntax, hidden names among them. A pattern with many `*` is matched by {@link createStepMatcher}.
 *
 * @throws RangeError for a pattern whose time has no bound, as `+(a|aa)`, or parentheses beside many `*`
 */
export function compileGlob(pattern: string): (path: string) => boolean {
  const groups = [...pattern.matchAll(REPEATED_GROUP)].map(([, body = '']) => body.split('|'));
  if (/[*+]\(/.test(pattern.replace(REPEATED_GROUP, '')) || groups.some(isAmbiguous)) {
    throw new RangeError('*( ) and +( ) may hold plain texts alone, none of which begins another');
  }
  const repeats = groups.length + (pattern.replace(REPEATED_GROUP, '').match(/\*+/g)?.length ?? 0);
  if (repeats <= FEW_REPEATS) return picomatch(pattern, { dot: true });
  const negated = pattern.startsWith('!');
  const plain = negated ? pattern.slice(1) : pattern;
  if (/(?<!\\)[()]/.test(plain)) throw new RangeError(`a pattern with parentheses may hold ${FEW_REPEATS} * or +( ) at most`);
  const tests = expandBraces(plain).flatMap(toTests);
  return (path) => tests.some((test) => test(path)) !== negated;
}

/** Whether one text could be read in several ways. */
function isAmbiguous(texts: readonly string[]): boolean {
  return texts.some(
    (text, at) => text === '' || /[*?[\]{}\\!@+]/.test(text) || texts.some((other, n) => n !== at && other.startsWith(text)),
  );
}

/** `a/**` means the folder itself, too. */
function toTests(pattern: string): ((path: string) => boolean)[] {
  const folder = pattern.replace(/\/\*\*+$/, '');
  return [pattern, ...(folder === pattern ? [] : [folder])].flatMap((one) => {
    const steps = readSteps(one, true);
    return steps === undefined ? [] : [createStepMatcher(steps)];
  });
}

function expandBraces(pattern: string): string[] {
  const done: string[] = [];
  const open = [pattern];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    const braces = innermostBraces(one);
    if (braces === undefined) done.push(one);
    else open.push(...braces.members.map((member) => `${braces.before}${member}${braces.after}`));
    if (open.length + done.length > MAX_ALTERNATIVES) {
      throw new RangeError(`its braces stand for more than ${MAX_ALTERNATIVES} patterns`);
    }
  }
  return done;
}

/** The first braces that hold a comma and no braces. */
function innermostBraces(pattern: string): { before: string; members: string[]; after: string } | undefined {
  let start = -1;
  let commas: number[] = [];
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at];
    if (character === '\\') at++;
    else if (character === '{') [start, commas] = [at, []];
    else if (character === ',' && start >= 0) commas.push(at);
    else if (character === '}' && start >= 0) {
      if (commas.length > 0) {
        const ends = [start, ...commas, at];
        const members = ends.slice(1).map((end, index) => pattern.slice((ends[index] ?? 0) + 1, end));
        return { before: pattern.slice(0, start), members, after: pattern.slice(at + 1) };
      }
      start = -1;
    }
  }
  return undefined;
}
