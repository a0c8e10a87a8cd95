import picomatch from 'picomatch';

/** What decides whether a rule holds for a path: any of its globs, relative to the source's root, with `/`. */
export interface Matching {
  match: readonly string[];
}

/**
 * Prepares path rules. Globs match whole paths, names that begin with a dot included, upper and lower case told apart; `**` crosses
 * folders, parentheses are themselves (names as `a (1).txt` are common). A glob without a slash is matched against the file's name in
 * any folder, as in .gitignore.
 */
export function createPathRules<Rule extends Matching>(rules: readonly Rule[]): { matching(sourcePath: string): Rule[] } {
  const prepared = rules.map((rule) => {
    const tests = rule.match.map(matcherOf);
    return { rule, test: (path: string) => tests.some((test) => test(path)) };
  });
  return { matching: (sourcePath) => prepared.filter(({ test }) => test(sourcePath)).map(({ rule }) => rule) };
}

function matcherOf(glob: string): (path: string) => boolean {
  const options = { dot: true, nonegate: true };
  const bare = glob.replace(/^\.?\//, '').replace(/[()]/g, '\\$&');
  if (bare.includes('/') || bare === '**') return picomatch(bare, options);
  const test = picomatch(bare, options);
  return (path) => test(path.slice(path.lastIndexOf('/') + 1));
}
