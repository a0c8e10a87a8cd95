/** What somebody said of a result, as the API lists it. */
export interface Feedback {
  query: string;
  doc_id: string;
  chunk_id?: string | undefined;
  helpful: boolean;
  by: string;
  given_at: string;
}

/** A line of questions.jsonl. */
export interface FeedbackQuestion {
  question: string;
  relevant: { document: string; grade: number }[];
  kind: 'feedback';
}

/**
 * A question for each query of which a result was helpful. Of what one key said of a result to the same query, the last word counts; a
 * document is relevant where more of those words are for it than against it, and judged not relevant (grade 0) otherwise.
 */
export function questionsOfFeedback(feedback: readonly Feedback[]): FeedbackQuestion[] {
  const last = new Map<string, Feedback>();
  for (const given of [...feedback].sort((a, b) => compareText(a.given_at, b.given_at))) {
    last.set(JSON.stringify([questionOf(given), given.doc_id, given.chunk_id, given.by]), given);
  }
  const votes = new Map<string, Map<string, number>>();
  for (const given of last.values()) {
    const documents = votes.get(questionOf(given)) ?? new Map<string, number>();
    documents.set(given.doc_id, (documents.get(given.doc_id) ?? 0) + (given.helpful ? 1 : -1));
    votes.set(questionOf(given), documents);
  }
  const questions = [...votes].map(([question, documents]): FeedbackQuestion => {
    const relevant = [...documents].map(([document, sum]) => ({ document, grade: sum > 0 ? 1 : 0 }));
    return {
      question,
      relevant: relevant.sort((a, b) => b.grade - a.grade || compareText(a.document, b.document)),
      kind: 'feedback',
    };
  });
  return questions
    .filter(({ relevant }) => relevant.some(({ grade }) => grade > 0))
    .sort((a, b) => compareText(a.question, b.question));
}

/** Spaces aside, the same question is one question. */
function questionOf({ query }: Feedback): string {
  return query.normalize('NFC').replace(/\s+/g, ' ').trim();
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
