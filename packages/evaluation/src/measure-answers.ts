import type { Question } from './dataset.js';
import { type Estimate, estimate } from './statistics.js';

/** An answer of the product, with what the model was given. */
export interface Answered {
  answer: string;
  /** False: the answer says that the documents do not hold it. */
  found: boolean;
  /** Passages that the model was given, best first. */
  passages: { doc_id: string; text: string }[];
}

/** Marks between 0 and 1 that a judge gives. */
export interface Marks {
  context_relevance: number;
  groundedness: number;
  answer_relevance: number;
}

export interface AnswerOptions {
  ask(question: Question): Promise<Answered>;
  /** Undefined where there is no judge: then only the proxies are measured. */
  judge?: ((question: string, answered: Answered) => Promise<Marks | undefined>) | undefined;
  /** doc_id by the name that the data set gives. */
  documents: ReadonlyMap<string, string>;
  onProgress?(done: number, total: number): void;
}

interface AnswerResult {
  id: string;
  question: string;
  answer: string;
  found: boolean;
  /** By name; a measure that says nothing of a question is missing. */
  scores: Record<string, number>;
}

export interface AnswerReport {
  questions: number;
  /** Answers that the judge gave no marks for. */
  not_judged: number;
  /**
   * - `answered`: share of the answerable questions that were answered;
   * - `refused`: share of the unanswerable ones that were not;
   * - `proxy_groundedness`: share of an answer's sentences most of whose words and all of whose numbers stand in one passage;
   * - `proxy_context_relevance`: share of the passages that are of a relevant document;
   * - `proxy_answer_relevance`: share of the question's words that the answer or its passages take up;
   * - `context_relevance`, `groundedness`, `answer_relevance`: marks of the judge, where there is one.
   *
   * Proxies count words: they compare runs with each other, and do not say what a reader would.
   */
  totals: Record<string, Estimate>;
  results: AnswerResult[];
}

/** Has every question answered, one after the other, and measures the answers. */
export async function measureAnswers(questions: readonly Question[], options: AnswerOptions): Promise<AnswerReport> {
  const results: AnswerResult[] = [];
  let notJudged = 0;
  for (const question of questions) {
    const answered = await options.ask(question);
    const relevant = new Set(
      question.relevant.filter(({ grade }) => grade > 0).map(({ document }) => options.documents.get(document) ?? document),
    );
    const scores: Record<string, number> =
      relevant.size > 0 ? { answered: Number(answered.found) } : { refused: Number(!answered.found) };
    if (answered.found) {
      Object.assign(scores, proxiesOf(question.text, answered, relevant));
      const marks = await options.judge?.(question.text, answered);
      if (marks !== undefined) Object.assign(scores, marks);
      else if (options.judge !== undefined) notJudged += 1;
    }
    results.push({ id: question.id, question: question.text, answer: answered.answer, found: answered.found, scores });
    options.onProgress?.(results.length, questions.length);
  }
  const names = [...new Set(results.flatMap(({ scores }) => Object.keys(scores)))];
  const totals = names.map((name) => [name, estimate(results.flatMap(({ scores }) => scores[name] ?? []))] as const);
  return { questions: results.length, not_judged: notJudged, totals: Object.fromEntries(totals), results };
}

/** A sentence rests on a passage that has this share of its words. */
const SUPPORTED = 0.6;
const MARKER = /\[\d+\]/g;
const SENTENCE = /[^.!?\n]+(?:[.!?](?!\s|$)[^.!?\n]+)*[.!?]?/g;

function proxiesOf(question: string, { answer, passages }: Answered, relevant: ReadonlySet<string>): Record<string, number> {
  const sentences = (answer.replace(MARKER, '').match(SENTENCE) ?? []).map(wordsOf).filter((words) => words.length > 0);
  const texts = passages.map(({ text }) => new Set(wordsOf(text)));
  const isSupported = (words: readonly string[]) => texts.some((text) => supports(text, words));
  const asked = wordsOf(question);
  const said = new Set([
    ...wordsOf(answer),
    ...texts.filter((text) => sentences.some((words) => supports(text, words))).flatMap((text) => [...text]),
  ]);
  return {
    ...(sentences.length > 0 ? { proxy_groundedness: share(sentences, isSupported) } : {}),
    ...(passages.length > 0 && relevant.size > 0
      ? { proxy_context_relevance: share(passages, ({ doc_id }) => relevant.has(doc_id)) }
      : {}),
    ...(asked.length > 0 ? { proxy_answer_relevance: share(asked, (word) => said.has(word)) } : {}),
  };
}

function supports(text: ReadonlySet<string>, words: readonly string[]): boolean {
  const numbers = words.filter((word) => /\p{N}/u.test(word));
  return numbers.every((number) => text.has(number)) && share(words, (word) => text.has(word)) >= SUPPORTED;
}

/** Words of four letters and more, and everything with a digit. */
function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]*\p{N}[\p{L}\p{N}]*(?:[.,]\p{N}+)*|\p{L}{4,}/gu) ?? [];
}

function share<T>(values: readonly T[], holds: (value: T) => boolean): number {
  return values.filter(holds).length / values.length;
}
