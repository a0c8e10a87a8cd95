import { expect, it } from 'vitest';
import { alphaFor } from './alpha.js';

it.each([
  'QX-7731',
  'What is the torque of part QX-7731?',
  'where is config.yaml read',
  'max_tokens',
  'mails of ada@example.org',
  'error E4012',
  'std::vector',
  'who said "never again"',
  'wo steht „nie wieder“',
])('leans to keywords for %s', (query) => {
  expect(alphaFor(query, 0.6)).toBe(0.3);
  expect(alphaFor(query, 0.1)).toBe(0.1);
});

it.each([
  'how do I descale the machine?',
  'state-of-the-art telescopes of the 20th century',
  'music of the 1990s',
  'profit in 2023',
  'and/or',
  'e.g. oil, at 3.5 bar.',
  '5" screens',
  "what's new?",
  'a long question about the pressure of the pump and the oil that also mentions part QX-7731 once',
  '',
])('leaves the weight for %s', (query) => {
  expect(alphaFor(query, 0.6)).toBe(0.6);
});
