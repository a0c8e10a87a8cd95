/** A passage of an indexed document. */
export interface Passage {
  doc_id: string;
  text: string;
}

/** A line of questions.jsonl, to be read and reworded by a person. */
export interface SuggestedQuestion {
  question: string;
  relevant: { document: string; quote: string }[];
  kind: 'suggested';
}

const SENTENCE = /[^.!?\n]+[.!?]?/g;
const WORD = /[\p{L}\p{N}][\p{L}\p{N}-]{3,}/gu;
/** Words of a question. */
const TERMS = 3;
/** Shorter sentences say too little to ask for, longer ones are mostly tables and lists. */
const LENGTHS = { least: 40, most: 300 };

/**
 * Makes questions out of sentences, without a language model: of each document the sentence whose rarest words are rarest, asked for
 * by these words. They use the document's own words, so keyword search finds them more easily than what people ask.
 *
 * @param passages of many documents: rare is what few documents hold
 */
export function suggestQuestions(passages: readonly Passage[], count: number): SuggestedQuestion[] {
  const holders = new Map<string, Set<string>>();
  for (const { doc_id: docId, text } of passages) {
    for (const word of wordsOf(text)) {
      const known = holders.get(word);
      if (known === undefined) holders.set(word, new Set([docId]));
      else known.add(docId);
    }
  }
  const rarity = (word: string) => 1 / (holders.get(word)?.size ?? 1);
  const best = new Map<string, { worth: number; question: SuggestedQuestion }>();
  for (const { doc_id: docId, text } of passages) {
    for (const sentence of sentencesOf(text)) {
      const terms = [...wordsOf(sentence)].sort((a, b) => rarity(b) - rarity(a) || b.length - a.length).slice(0, TERMS);
      if (terms.length < TERMS) continue;
      const worth = terms.reduce((sum, term) => sum + rarity(term), 0);
      if (worth <= (best.get(docId)?.worth ?? 0)) continue;
      const [first, second, third] = terms;
      const question = `What is said about ${first}, ${second} and ${third}?`;
      best.set(docId, { worth, question: { question, relevant: [{ document: docId, quote: sentence }], kind: 'suggested' } });
    }
  }
  const ordered = [...best.values()].sort((a, b) => b.worth - a.worth || (a.question.question < b.question.question ? -1 : 1));
  return ordered.slice(0, count).map(({ question }) => question);
}

function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(WORD) ?? []);
}

function sentencesOf(text: string): string[] {
  const found = (text.match(SENTENCE) ?? []).map((sentence) => sentence.trim());
  return found.filter(({ length }) => length >= LENGTHS.least && length <= LENGTHS.most);
}
