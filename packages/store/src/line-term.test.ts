import { describe, expect, it } from 'vitest';
import { lineTerm } from './line-term.js';

describe('a line as one term', () => {
  it.each([
    ['# Sluice', 'what is sluice'],
    ['## Backup and restore ##', 'how do I backup and restore?'],
    ['Embedding models', 'embedding model'],
    ['Résumé', 'résumé'],
    ['Node.js', 'What is Node.js?'],
    ['State-of-the-art', 'state-of-the-art'],
  ])('is the same for %j and %j', (line, question) => {
    expect(lineTerm(question)).toBe(lineTerm(line));
    expect(lineTerm(line)).toMatch(/^=\S+$/);
  });

  it.each([
    ['a question for more', 'Sluice', 'what is sluice good for in winter'],
    ['the words in another order', 'dog bites man', 'man bites dog'],
    ['C and C++', 'C', 'C++'],
  ])('differs for %s', (_name, line, question) => expect(lineTerm(question)).not.toBe(lineTerm(line)));

  it.each(['', '---', 'one two three four five six seven eight nine', 'x'.repeat(300)])('is none for %j', (line) => {
    expect(lineTerm(line)).toBeUndefined();
  });
});
