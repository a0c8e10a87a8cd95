import fc from 'fast-check';
import picomatch from 'picomatch';
import { describe, expect, it } from 'vitest';
import { compileGlob, createStepMatcher, readSteps } from './glob.js';

const name = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '.', 'é'), minLength: 1, maxLength: 6 });
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));

describe('a glob with many stars', () => {
  it('matches what picomatch matches', () => {
    const part = fc.string({
      unit: fc.constantFrom('*', '*', 'a', 'b', '?', '[ab]', '[^a]', '{a,bc}', '.'),
      minLength: 1,
      maxLength: 5,
    });
    const glob = fc
      .array(fc.oneof(part, fc.constant('**')), { minLength: 1, maxLength: 4 })
      .map((parts) => `*${parts.join('/')}*b*`);
    fc.assert(
      fc.property(glob, path, (pattern, tested) => {
        // Two to the power of eight patterns are over the limit, and refused.
        fc.pre(pattern.split('{').length - 1 <= 7);
        // Stars that touch stand for one; picomatch reads three and more in ways of its own.
        fc.pre(!/\*{2,}[^/]|[^/]\*{2,}/.test(pattern) && !/(^|\/)\.{1,2}($|\/)/.test(tested));
        expect(compileGlob(pattern)(tested)).toBe(picomatch(pattern, { dot: true })(tested));
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['**/a/**/b/**', ['a/b', 'x/a/y/z/b', 'a/b/c/d'], ['a', 'b', 'ab', 'a/xb']],
    ['*a*b*', ['ab', 'xaybz'], ['ba', 'a/b']],
    ['!*a*b*', ['ba', 'a/b'], ['ab']],
    ['{a*,*b}/*c*', ['ax/c', 'xb/ycz'], ['x/c', 'ax/d']],
    ['*\\**\\**', ['a*b*c', '**'], ['a*b']],
  ])('%s', (pattern, matching, others) => {
    const test = compileGlob(pattern);
    expect(matching.filter((tested) => !test(tested))).toEqual([]);
    expect(others.filter((tested) => test(tested))).toEqual([]);
  });
});

it.each([
  '+(a|aa)*',
  '*(a|ab)',
  '+(*a)',
  '+(a|?)',
  '*(+(a))',
  '*a*b*(c)*',
  '(a*)*b*c',
  '{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}*a*a*',
])('%s is refused: its time would have no bound', (pattern) => {
  expect(() => compileGlob(pattern)).toThrow(RangeError);
});

it('needs a number of steps that grows with the text, not with a power of it', () => {
  // One character more must not double the work: each step tests one character at most once.
  const tests = (length: number) => {
    let count = 0;
    const steps = (readSteps('*a*a*a*a*a*a*a*b', true) ?? []).map((step) =>
      step.kind === 'one'
        ? {
            kind: 'one' as const,
            accepts: (character: string) => {
              count += 1;
              return step.accepts(character);
            },
          }
        : step,
    );
    expect(createStepMatcher(steps)('a'.repeat(length))).toBe(false);
    return count;
  };
  expect(tests(250)).toBeLessThanOrEqual(250 * 8);
  expect(tests(64_000)).toBeLessThanOrEqual(64_000 * 8);
});

it('takes hostile patterns and names within the time of a test', () => {
  const hostile = [
    '*a*a*a*a*a*b',
    '**/a/**/a/**/a/**/b',
    '*[a]*[a]*[a]*[a]*b',
    '*?*?*?*?*?*b',
    '{*a,*aa}*{*a,*aa}*a*b',
    '*é*é*é*é*b',
  ];
  for (const pattern of hostile) {
    const test = compileGlob(pattern);
    for (const tested of ['a'.repeat(64_000), 'a/'.repeat(32_000), 'é'.repeat(20_000)]) expect(test(tested)).toBe(false);
  }
});
