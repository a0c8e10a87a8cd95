import picomatch from 'picomatch';
import { compileGlob } from './glob.js';

/** What decides whether a rule holds for a path: any of its globs, relative to the source's root, with `/`. */
export interface Matching {
  match: readonly string[];
}

/**
 * Prepares path rules. Globs are those of include and exclude: they match whole paths from the source's root, upper and lower case told
 * apart; `**` crosses folders, `!` in front turns one around, and a pattern without wildcards means all below the folder it names, too.
 */
export function createPathRules<Rule extends Matching>(rules: readonly Rule[]): { matching(sourcePath: string): Rule[] } {
  const prepared = rules.map((rule) => {
    const tests = rule.match.map(matcherOf);
    return { rule, test: (path: string) => tests.some((test) => test(path)) };
  });
  return { matching: (sourcePath) => prepared.filter(({ test }) => test(sourcePath)).map(({ rule }) => rule) };
}

/** `+(a|b)` and the like; parentheses elsewhere are part of a name, as in `scan (1).pdf`. */
const EXTENDED = /[?*+@!]\(/;

function matcherOf(written: string): (path: string) => boolean {
  const pattern = written.replace(/^\.\//, '').replace(/^\/+/, '').replace(/\/+$/, '');
  const glob = EXTENDED.test(pattern) ? pattern : pattern.replace(/[()]/g, '\\$&');
  const test = compileGlob(glob);
  if (picomatch.scan(glob).isGlob && !written.endsWith('/')) return test;
  return (path) => test(path) || path.startsWith(`${pattern}/`);
}
