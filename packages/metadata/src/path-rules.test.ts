import { describe, expect, it } from 'vitest';
import { createPathRules } from './path-rules.js';

describe('createPathRules', () => {
  it('gives the rules that match, in their order', () => {
    const rules = createPathRules([
      { match: ['finance/**'], name: 'finance' },
      { match: ['**/*.md', 'x.txt'], name: 'markdown' },
      { match: ['*.md'], name: 'bare' },
    ]);
    const names = (path: string) => rules.matching(path).map(({ name }) => name);
    expect(names('finance/a/b.md')).toEqual(['finance', 'markdown', 'bare']);
    expect(names('finance/.hidden/a.txt')).toEqual(['finance']);
    expect(names('a.md')).toEqual(['markdown', 'bare']);
    expect(names('sub/x.txt')).toEqual(['markdown']);
    expect(names('Finance/a.txt')).toEqual([]);
    expect(names('other/finance/a.txt')).toEqual([]);
  });

  it('reads characters that mean something to globs only as globs', () => {
    const rules = createPathRules([{ match: ['!a/**'] }, { match: ['b (1)/*.txt'] }]);
    expect(rules.matching('b/x.txt')).toEqual([]);
    expect(rules.matching('b (1)/x.txt')).toHaveLength(1);
  });
});
