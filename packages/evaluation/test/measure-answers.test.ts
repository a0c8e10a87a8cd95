import { createLlm } from '@sluice/llm';
import { startChatServer } from '@sluice/testkit';
import { describe, expect, it } from 'vitest';
import type { Question } from '../src/dataset.js';
import { judgeAnswer } from '../src/judge-answer.js';
import { type Answered, measureAnswers } from '../src/measure-answers.js';
import { passagesOf } from '../src/passages-of-context.js';

const questions: Question[] = [
  { id: '1', text: 'When is the boiler serviced?', relevant: [{ document: 'boiler.md', grade: 1 }] },
  { id: '2', text: 'Who invented the boiler?', relevant: [] },
];
const passages = [
  { doc_id: 'in/boiler.md', text: 'The boiler is serviced in May 2024 by the keeper of the house.' },
  { doc_id: 'in/other.md', text: 'Bicycles are cleaned in June.' },
];
const documents = new Map([['boiler.md', 'in/boiler.md']]);

async function scoresOf(answered: Partial<Answered>) {
  const report = await measureAnswers(questions.slice(0, 1), {
    documents,
    ask: async () => ({ answer: '', found: true, passages, ...answered }),
  });
  return report.results[0]?.scores;
}

describe('measureAnswers', () => {
  it('counts what was answered and what was refused', async () => {
    const report = await measureAnswers(questions, { documents, ask: async () => ({ answer: 'No.', found: false, passages }) });
    expect(report.totals).toMatchObject({ answered: { mean: 0, n: 1 }, refused: { mean: 1, n: 1 } });
    expect(Object.keys(report.totals)).toHaveLength(2);
  });

  it('takes a sentence for grounded when one passage has its words and all its numbers', async () => {
    expect(await scoresOf({ answer: 'The boiler is serviced in May 2024 [1].' })).toEqual({
      answered: 1,
      proxy_groundedness: 1,
      proxy_context_relevance: 0.5,
      // Of "when", "boiler" and "serviced" the first is taken up by nothing.
      proxy_answer_relevance: 2 / 3,
    });
    const invented = await scoresOf({ answer: 'The boiler is serviced in May 2025. Whales swim under glaciers.' });
    expect(invented).toMatchObject({ proxy_groundedness: 0 });
    // Words of two passages are no support.
    expect(await scoresOf({ answer: 'Bicycles boiler cleaned keeper.' })).toMatchObject({ proxy_groundedness: 0 });
  });
});

describe('judgeAnswer', () => {
  const answered = { answer: 'In May.', found: true, passages };

  async function judge(reply: string) {
    const server = await startChatServer(() => reply);
    try {
      const model = createLlm({ baseUrl: server.baseUrl, model: 'judge' });
      const marks = await judgeAnswer(
        async ({ system, user }) => {
          const messages = [
            { role: 'system' as const, content: system },
            { role: 'user' as const, content: user },
          ];
          return (await model.complete({ messages, temperature: 0, json: true })).text;
        },
        'When is the boiler serviced?',
        answered,
      );
      return { marks, requests: server.requests };
    } finally {
      await server.close();
    }
  }

  it('asks with passages, question and answer, and reads the marks', async () => {
    const marks = { context_relevance: 0.5, groundedness: 1, answer_relevance: 0.8 };
    const { marks: read, requests } = await judge(`Here: ${JSON.stringify(marks)}`);
    expect(read).toEqual(marks);
    expect(requests[0]?.asked).toContain('<passage n="2">\nBicycles are cleaned');
    expect(requests[0]?.asked).toContain('<answer>\nIn May.');
  });

  it.each(['good', '{"groundedness": 1}', '{"context_relevance": 2, "groundedness": 1, "answer_relevance": 1}'])(
    'has no marks of the reply %j, which is counted',
    async (reply) => {
      const { marks } = await judge(reply);
      expect(marks).toBeUndefined();
      const ask = async () => answered;
      const report = await measureAnswers(questions.slice(0, 1), { documents, ask, judge: async () => marks });
      expect(report.not_judged).toBe(1);
    },
  );
});

it('takes a context apart, whatever its texts hold', () => {
  const context = '[1] Boiler > Care (page 2)\nOne.\n\n[3] is no source\n\n[2] Other\nTwo.\n[9] neither';
  expect(
    passagesOf(context, [
      { n: 1, doc_id: 'a' },
      { n: 2, doc_id: 'b' },
    ]),
  ).toEqual([
    { doc_id: 'a', text: 'One.\n\n[3] is no source' },
    { doc_id: 'b', text: 'Two.\n[9] neither' },
  ]);
});
