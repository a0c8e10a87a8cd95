import type { Excerpt } from './context.js';
import { pageAt } from './pages.js';
import { bestSentence, sentencesOf } from './sentences.js';
import type { AnswerCitation, Citation } from './types.js';

/** `[1]`, `[1, 2]`, `[^1]`, and the marks of some models. */
const MARKERS = /\[\^?(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\]|【(\d{1,3})[^】]{0,40}】/g;
const CODE = /```[\s\S]*?(?:```|$)|`[^`\n]*`/g;

/**
 * Checks what a model cites. Markers of sources that exist are kept, each as `[n]`, and get the span that they rest on; others are
 * taken out of the text. Code is left as it is.
 */
export function checkCitations(said: string, excerpts: readonly Excerpt[]): { answer: string; citations: AnswerCitation[] } {
  const code = [...said.matchAll(CODE)].map(({ index, 0: { length } }) => ({ start: index, end: index + length }));
  const citations: AnswerCitation[] = [];
  let answer = '';
  let from = 0;
  let statement = '';
  for (const match of said.matchAll(MARKERS)) {
    if (code.some(({ start, end }) => match.index >= start && match.index < end)) continue;
    const before = said.slice(from, match.index);
    from = match.index + match[0].length;
    if (/[\p{L}\p{N}]/u.test(before)) statement = lastSentence(before);
    answer += before;
    const numbers = (match[1] ?? match[2] ?? '').split(/[,;]/).map(Number);
    const known = [...new Set(numbers)].filter((n) => excerpts[n - 1] !== undefined);
    if (known.length === 0) answer = answer.replace(/[ \t]+$/, '');
    for (const n of known) {
      const marker = { start: answer.length, end: answer.length + `[${n}]`.length };
      answer += `[${n}]`;
      const excerpt = excerpts[n - 1];
      if (excerpt !== undefined) citations.push({ n, ...supportOf(excerpt, statement), marker });
    }
  }
  return { answer: (answer + said.slice(from)).trimEnd(), citations };
}

function lastSentence(text: string): string {
  let last = '';
  for (const { start, end } of sentencesOf(text)) {
    const sentence = text.slice(start, end);
    if (/[\p{L}\p{N}]/u.test(sentence)) last = sentence;
  }
  return last;
}

/** The sentence of a source that a statement rests on. A proposition's text is no slice of its document: its own span stays. */
function supportOf(excerpt: Excerpt, statement: string): Omit<AnswerCitation, 'n' | 'marker'> {
  const { doc_id, revision, text, citation, document } = excerpt;
  const prefix = (citation.prefix ?? '').length;
  const sentence = citation.derived ? undefined : bestSentence(text.slice(prefix), statement);
  if (sentence === undefined) return { doc_id, revision, citation, text };
  const start = citation.start + sentence.start;
  const end = citation.start + sentence.end;
  const page = pageAt(document.pages, start) ?? citation.page;
  const narrowed: Citation = { start, end, heading_path: citation.heading_path, ...(page === undefined ? {} : { page }) };
  return { doc_id, revision, citation: narrowed, text: text.slice(prefix + sentence.start, prefix + sentence.end) };
}
