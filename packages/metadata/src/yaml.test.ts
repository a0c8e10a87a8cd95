import { describe, expect, it } from 'vitest';
import { readYaml } from './yaml.js';

/** As long as a sidecar may be. */
const LENGTH = 262_144;
const fill = (text: string) => text.repeat(Math.floor(LENGTH / text.length));

describe('readYaml', () => {
  it('says where an error is', () => {
    expect(readYaml('a: 1\nb: [x\nc: 2\n')).toMatchObject({
      kind: 'error',
      message: expect.stringMatching(/ at line \d+, column \d+$/),
    });
  });

  it('refuses a key given twice, however deep, and takes equal keys of different maps', () => {
    expect(readYaml('a:\n  - {b: 1, b: 2}\n')).toEqual({
      kind: 'error',
      message: 'Map keys must be unique at line 2, column 12',
    });
    expect(readYaml('a: {b: 1}\nb: 2\n')).toEqual({ kind: 'mapping', data: { a: { b: 1 }, b: 2 } });
  });

  it('takes what is nested 50 deep, and refuses what is deeper before it is composed', () => {
    const list = (depth: number) => `a: ${'['.repeat(depth)}${']'.repeat(depth)}`;
    expect(readYaml(list(48)).kind).toBe('mapping');
    for (const text of [
      list(51),
      `${'? '.repeat(600)}x`,
      `a: ${'['.repeat(20_000)}`,
      fill('- '),
      fill('? '),
      fill('a: '),
      fill('{a: '),
    ]) {
      expect(readYaml(text)).toEqual({ kind: 'error', message: 'values are nested deeper than 50' });
    }
  });

  // Without bounds each of these holds the worker's one thread for minutes.
  it.each([
    ['closing brackets', fill('}'), 'error'],
    ['commas', `a: [${fill(', ')}`, 'error'],
    ['texts side by side', fill('"a\\n" '), 'error'],
    ['tags', fill('!a '), 'error'],
    ['one key again and again', fill('a: 1\n'), 'error'],
    ['explicit keys', `${'? '.repeat(40)}x\n`.repeat(3_000), 'mapping'],
    ['keys', Array.from({ length: 40_000 }, (_, n) => `k${n}:`).join('\n'), 'mapping'],
  ])('reads in time that grows with the length alone: %s', (_, text, kind) => {
    expect(readYaml(text).kind).toBe(kind);
  });
});
