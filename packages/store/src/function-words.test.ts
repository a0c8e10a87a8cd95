import { expect, it } from 'vitest';
import { analyseText } from './analyse-text.js';
import { topicTerms } from './function-words.js';

it('leaves the words that name a topic', () => {
  expect(topicTerms(analyseText('How does the telescope keep its instruments cold?', 'query'))).toEqual([
    'telescop',
    'instrument',
    'cold',
  ]);
  expect(topicTerms(analyseText('Wie wird die Pumpe mit Öl versorgt?', 'query'))).toEqual(['pump', 'öl', 'ol', 'versorgt']);
});

it('keeps a query that consists of nothing else', () => {
  expect(topicTerms(['to', 'be', 'or', 'not', 'to', 'be'])).toEqual(['to', 'be', 'or', 'not', 'to', 'be']);
  expect(topicTerms([])).toEqual([]);
});
