import { describe, expect, it } from 'vitest';
import { createPathRules } from './path-rules.js';

describe('createPathRules', () => {
  it('gives the rules that match, in their order', () => {
    const rules = createPathRules([
      { match: ['finance/**'], name: 'finance' },
      { match: ['**/*.md', 'x.txt'], name: 'markdown' },
      { match: ['*.md'], name: 'top' },
      { match: ['./finance'], name: 'folder' },
    ]);
    const names = (path: string) => rules.matching(path).map(({ name }) => name);
    expect(names('finance/a/b.md')).toEqual(['finance', 'markdown', 'folder']);
    expect(names('finance/.hidden/a.txt')).toEqual(['finance', 'folder']);
    expect(names('a.md')).toEqual(['markdown', 'top']);
    expect(names('sub/x.txt')).toEqual([]);
    expect(names('x.txt')).toEqual(['markdown']);
    expect(names('Finance/a.txt')).toEqual([]);
    expect(names('finance-old/a.txt')).toEqual([]);
    expect(names('other/finance/a.txt')).toEqual([]);
  });

  it('takes parentheses for themselves, save in extended globs', () => {
    const rules = createPathRules([{ match: ['b (1)/*.txt'] }, { match: ['+(x|y).md'] }, { match: ['c (2)'] }]);
    for (const path of ['b (1)/x.txt', 'xy.md', 'c (2)/d.txt']) expect(rules.matching(path)).toHaveLength(1);
    expect(rules.matching('b 1/x.txt')).toEqual([]);
  });

  it('turns a glob around with !', () => {
    const rules = createPathRules([{ match: ['!public/**'] }]);
    expect(rules.matching('private/a.md')).toHaveLength(1);
    expect(rules.matching('public/a.md')).toEqual([]);
  });
});
