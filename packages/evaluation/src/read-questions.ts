import { z } from 'zod';
import type { Question, Relevant } from './dataset.js';
import { invalidDataset, readJsonLines } from './lines.js';

const relevantSchema = z.union([
  z.string().min(1),
  z.strictObject({
    document: z.string().min(1),
    grade: z.number().min(0).default(1),
    quote: z.string().min(1).optional(),
  }),
]);

/** A line of questions.jsonl. */
const questionSchema = z.strictObject({
  id: z.string().min(1).optional(),
  question: z.string().min(1).max(8_000),
  relevant: z.array(relevantSchema),
  kind: z.string().min(1).optional(),
  split: z.string().min(1).optional(),
  filter: z.record(z.string(), z.unknown()).optional(),
});

/** Questions in Sluice's own form: `{"question": "...", "relevant": ["guide.md"]}` a line. Error `invalid_request`. */
export function readQuestions(text: string, file: string): Question[] {
  const questions = readJsonLines(text, file, questionSchema).map(({ id, question, relevant, kind, split, filter }, index) => ({
    id: id ?? String(index + 1),
    text: question,
    relevant: relevant.map(relevantOf),
    ...(kind === undefined ? {} : { kind }),
    ...(split === undefined ? {} : { split }),
    ...(filter === undefined ? {} : { filter }),
  }));
  return withDistinctIds(questions, file);
}

function relevantOf(given: z.infer<typeof relevantSchema>): Relevant {
  if (typeof given === 'string') return { document: given, grade: 1 };
  const { document, grade, quote } = given;
  return { document, grade, ...(quote === undefined ? {} : { quote }) };
}

export function withDistinctIds(questions: Question[], file: string): Question[] {
  const seen = new Set<string>();
  for (const { id } of questions) {
    if (seen.has(id)) throw invalidDataset(file, `has two questions with the id ${id}`);
    seen.add(id);
  }
  if (questions.length === 0) throw invalidDataset(file, 'has no questions');
  return questions;
}
