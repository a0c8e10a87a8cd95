import { describe, expect, it } from 'vitest';
import { bestPage, pageAt } from './pages.js';

describe('pageAt', () => {
  const pages = [
    { page: 1, start: 0 },
    { page: 2, start: 100 },
    { page: 4, start: 200 },
  ];

  it.each([
    [0, 1],
    [99, 1],
    [100, 2],
    [199, 2],
    [200, 4],
    [9999, 4],
  ])('offset %i is on page %i', (offset, page) => expect(pageAt(pages, offset)).toBe(page));

  it('is nothing without pages', () => expect(pageAt([], 5)).toBeUndefined());
});

describe('bestPage', () => {
  const first = 'Kettles boil water quickly. They whistle when done. ';
  const second = 'Telescopes collect light. A sunshield keeps the instruments cold.';
  const pages = [
    { page: 7, start: 0 },
    { page: 8, start: 1000 + first.length },
  ];

  it('is the page of the sentence that shares the query’s words', () => {
    expect(bestPage(pages, first + second, 1000, 'what keeps instruments cold?')).toBe(8);
    expect(bestPage(pages, first + second, 1000, 'when do kettles whistle')).toBe(7);
  });

  it('is the first page when no sentence shares a word', () => {
    expect(bestPage(pages, first + second, 1000, 'unrelated')).toBe(7);
  });

  it('is not moved by white space before the sentence', () => {
    const text = `Start here.\n\n   The answer is cobalt.`;
    const split = [
      { page: 1, start: 0 },
      { page: 2, start: text.indexOf('The answer') },
    ];
    expect(bestPage(split, text, 0, 'cobalt answer')).toBe(2);
  });
});
