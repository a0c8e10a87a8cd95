import { expect, it } from 'vitest';
import { type Feedback, questionsOfFeedback } from '../src/questions-of-feedback.js';

let second = 0;

function said(query: string, doc_id: string, helpful: boolean, by = 'k1'): Feedback {
  second += 1;
  return { query, doc_id, helpful, by, given_at: new Date(second * 1_000).toISOString() };
}

it('makes a question of each query with a helpful result, and grades what was judged', () => {
  const feedback = [said('b', 'in/1', true), said('a', 'in/2', false), said(' a ', 'in/1', true), said('c', 'in/1', false)];
  expect(questionsOfFeedback(feedback)).toEqual([
    {
      question: 'a',
      relevant: [
        { document: 'in/1', grade: 1 },
        { document: 'in/2', grade: 0 },
      ],
      kind: 'feedback',
    },
    { question: 'b', relevant: [{ document: 'in/1', grade: 1 }], kind: 'feedback' },
  ]);
});

it('counts the last word of each key, whatever the order in which they are listed', () => {
  const changed = [said('a', 'in/1', true), said('a', 'in/1', false)];
  expect(questionsOfFeedback(changed.toReversed())).toEqual([]);
  const outvoted = [said('b', 'in/1', true), said('b', 'in/1', false, 'k2'), said('b', 'in/1', true, 'k3')];
  expect(questionsOfFeedback(outvoted)).toHaveLength(1);
});
