import type { Dataset, Question, Relevant } from './dataset.js';
import { measure, type Scores } from './metrics.js';

/** A result of a search, as far as it is measured. */
export interface Found {
  doc_id: string;
  chunk_id: string;
  text: string;
  score: number;
}

/** How deep each ranking is read: the largest cut-off. */
const DEPTH = 100;

/** Searches whose latency is measured: enough for a 95th percentile, few beside the rankings of a large data set. */
const TIMED = 50;

/** Results kept in the report, to see what came instead. */
const SHOWN = 5;

export interface RunOptions {
  /**
   * Searches as a user would. `by` says what a ranking consists of: one result a document, or passages.
   * Also called with the limit that users have, for the latency.
   */
  search(question: Question, options: { by: 'document' | 'passage'; limit: number | undefined }): Promise<Found[]>;
  /** doc_id by the name that the data set gives; see `resolveDocuments`. */
  documents: ReadonlyMap<string, string>;
  /** Milliseconds of a monotonic clock. */
  now(): number;
  onProgress?(done: number, total: number): void;
}

export interface QuestionResult {
  id: string;
  question: string;
  kind?: string;
  split?: string;
  /** Empty for a question that nothing answers. */
  scores: Scores;
  /** Of a search with the limit that users have; of some of the questions. */
  latency_ms?: number;
  /** doc_ids of what should have been found in the first ten, and was not. */
  missed: string[];
  found: { doc_id: string; score: number; grade: number; excerpt: string }[];
}

/** Asks every question of a data set, one after the other, and measures what comes back. */
export async function runDataset(dataset: Dataset, options: RunOptions): Promise<QuestionResult[]> {
  const results: QuestionResult[] = [];
  const [first] = dataset.questions;
  // The first search of a process loads what the others find loaded.
  if (first !== undefined) await options.search(first, { by: 'document', limit: undefined });
  const step = Math.max(1, dataset.questions.length / TIMED);
  const timed = new Set(Array.from({ length: Math.min(TIMED, dataset.questions.length) }, (_, n) => Math.floor(n * step)));
  for (const [place, question] of dataset.questions.entries()) {
    const latency = timed.has(place) ? await timeSearch(question, options) : undefined;
    results.push(await askQuestion(question, latency, options));
    options.onProgress?.(results.length, dataset.questions.length);
  }
  return results;
}

async function timeSearch(question: Question, { search, now }: RunOptions): Promise<number> {
  const began = now();
  await search(question, { by: 'document', limit: undefined });
  return now() - began;
}

async function askQuestion(
  question: Question,
  latency: number | undefined,
  { search, documents }: RunOptions,
): Promise<QuestionResult> {
  const units = question.relevant.map((relevant, index): Unit => {
    const docId = documents.get(relevant.document) ?? relevant.document;
    return { ...relevant, docId, key: relevant.quote === undefined ? docId : `${docId}#${index}` };
  });
  const by = units.some(({ quote }) => quote !== undefined) ? 'passage' : 'document';
  const found = await search(question, { by, limit: DEPTH });
  const { keys, grades } = rank(found, units);
  const judgements = new Map(units.map(({ key, grade }) => [key, grade]));
  const isAnswerable = units.some(({ grade }) => grade > 0);
  const head = new Set(keys.slice(0, 10));
  const missed = units.filter(({ grade, key }) => grade > 0 && !head.has(key)).map(({ docId }) => docId);
  return {
    id: question.id,
    question: question.text,
    ...(question.kind === undefined ? {} : { kind: question.kind }),
    ...(question.split === undefined ? {} : { split: question.split }),
    scores: isAnswerable ? measure(keys, judgements) : {},
    ...(latency === undefined ? {} : { latency_ms: Math.round(latency * 100) / 100 }),
    missed: [...new Set(missed)],
    found: found.slice(0, SHOWN).map(({ doc_id, score, text }, index) => ({
      doc_id,
      score,
      grade: grades[index] ?? 0,
      excerpt: text.replace(/\s+/g, ' ').slice(0, 200),
    })),
  };
}

interface Unit extends Relevant {
  docId: string;
  /** What a ranking calls it. */
  key: string;
}

/** What each result stands for. A passage that only repeats one found before is a result like any other that is not relevant. */
function rank(found: readonly Found[], units: readonly Unit[]): { keys: string[]; grades: number[] } {
  const used = new Set<string>();
  const grades: number[] = [];
  const keys = found.map((result, index) => {
    const unit = units.find((candidate) => !used.has(candidate.key) && isHit(result, candidate));
    grades.push(unit?.grade ?? 0);
    if (unit === undefined) return `result ${index}`;
    used.add(unit.key);
    return unit.key;
  });
  return { keys, grades };
}

function isHit({ doc_id, text }: Found, { docId, quote }: Unit): boolean {
  return doc_id === docId && (quote === undefined || withoutSpace(text).includes(withoutSpace(quote)));
}

function withoutSpace(text: string): string {
  return text.normalize('NFC').replace(/\s+/g, ' ').trim();
}
