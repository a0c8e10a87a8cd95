import { describe, expect, it } from 'vitest';
import { suggestQuestions } from '../src/suggest-questions.js';

const passages = [
  { doc_id: 's/a', text: 'The machine has a filter. Descale the boiler with citric acid every second month of the year.' },
  { doc_id: 's/b', text: 'The machine has a filter. Replace the gasket of the portafilter when coffee drips past its edge.' },
  { doc_id: 's/c', text: 'Too short.' },
];

describe('suggestQuestions', () => {
  it('asks for the sentence of each document that no other document has', () => {
    const questions = suggestQuestions(passages, 10);
    expect(questions.map(({ relevant }) => relevant[0]?.document).sort()).toEqual(['s/a', 's/b']);
    for (const { question, relevant } of questions) {
      const passage = passages.find(({ doc_id }) => doc_id === relevant[0]?.document);
      expect(passage?.text).toContain(relevant[0]?.quote);
      expect(question).not.toMatch(/machine|\bfilter\b/);
    }
  });

  it('gives as many as were asked for, the same each time', () => {
    expect(suggestQuestions(passages, 1)).toHaveLength(1);
    expect(suggestQuestions(passages, 2)).toEqual(suggestQuestions(passages, 2));
    expect(suggestQuestions([], 5)).toEqual([]);
  });
});
