import type { Question } from './dataset.js';
import { invalidDataset } from './lines.js';

/** Grades by document, by question. */
export type Qrels = Map<string, Map<string, number>>;

/**
 * Relevance judgements: TREC's four columns (question, iteration, document, grade), or BEIR's three (question, document, grade), which
 * may have a header. Error `invalid_request` naming file and line.
 */
export function readQrels(text: string, file: string): Qrels {
  const qrels: Qrels = new Map();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const cells = line.trim().split(/\s+/);
    if (line.trim() === '' || (index === 0 && Number.isNaN(Number(cells.at(-1))))) continue;
    const [question, document, grade] = cells.length === 4 ? [cells[0], cells[2], cells[3]] : cells;
    if (question === undefined || document === undefined || cells.length > 4 || !Number.isFinite(Number(grade))) {
      throw invalidDataset(`${file}:${index + 1}`, 'is no judgement: expected "question [iteration] document grade"');
    }
    const of = qrels.get(question) ?? new Map<string, number>();
    of.set(document, Number(grade));
    qrels.set(question, of);
  }
  return qrels;
}

/** Questions that were judged; those that were not say nothing. */
export function judgedQuestions(texts: ReadonlyMap<string, string>, qrels: Qrels, nameOf: (id: string) => string): Question[] {
  return [...texts].flatMap(([id, text]) => {
    const grades = qrels.get(id);
    if (grades === undefined) return [];
    return { id, text, relevant: [...grades].map(([document, grade]) => ({ document: nameOf(document), grade })) };
  });
}

/** Topics of TREC in their marked-up form (`<top>`, `<num>`, `<title>`), or `id<tab>text` lines. */
export function readTopics(text: string, file: string): Map<string, string> {
  const topics = new Map<string, string>();
  if (!/<top>/i.test(text)) {
    for (const [index, line] of text.split(/\r?\n/).entries()) {
      if (line.trim() === '') continue;
      const [, id, asked] = /^\s*(\S+)\s+(.+?)\s*$/.exec(line) ?? [];
      if (id === undefined || asked === undefined) throw invalidDataset(`${file}:${index + 1}`, 'has no question beside its id');
      topics.set(id, asked);
    }
    return topics;
  }
  for (const [index, topic] of text.split(/<top>/i).slice(1).entries()) {
    const field = (name: string) => new RegExp(`<${name}>([^<]*)`, 'i').exec(topic)?.[1]?.replace(/\s+/g, ' ').trim();
    const id = field('num')?.replace(/^number:\s*/i, '');
    const asked = field('title')?.replace(/^topic:\s*/i, '') || field('desc')?.replace(/^description:\s*/i, '');
    if (!id || !asked) throw invalidDataset(file, `has a topic without number or title, the ${index + 1}.`);
    topics.set(id, asked);
  }
  return topics;
}
