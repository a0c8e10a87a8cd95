import { analyseText } from './analyse-text.js';
import { topicTerms } from './function-words.js';

/** Headings are short; a longer line is no name of what follows. */
const MAX_WORDS = 8;
const MAX_LENGTH = 256;

/**
 * The topic words of a short line as one term, on both sides alike: a question for what a chunk's first line names finds it before
 * chunks that mention the same words. The first line of a section is its heading, whatever the format. No word holds `=`.
 * Undefined for a line that is longer, or empty.
 */
export function lineTerm(line: string): string | undefined {
  if (line.length > MAX_LENGTH) return undefined;
  // A query's words: a document yields parts of compounds too, which would differ from the same line as a query.
  const words = topicTerms(analyseText(line, 'query'));
  const term = `=${words.join('=')}`;
  return words.length > 0 && words.length <= MAX_WORDS && term.length <= MAX_LENGTH ? term : undefined;
}
