import type { Tokenizer } from '@sluice/core';
import type { Passage } from './expand.js';
import { fitQuery } from './query.js';
import { type Citation, type ContextSource, titleOf } from './types.js';

/** Tokens of a context when the request names no `max_tokens`. */
export const DEFAULT_CONTEXT_TOKENS = 2_000;
/** Passages to choose from when the request names no `limit`: the token budget decides how many of them are taken. */
export const DEFAULT_CONTEXT_PASSAGES = 20;
const CUT_MARK = '[...]';

/** A stretch of one document that goes into a context. */
export interface Excerpt {
  doc_id: string;
  revision: string;
  title: string;
  source: string;
  text: string;
  citation: Citation;
  /** Span of the whole document's text: an excerpt that begins or ends elsewhere is cut off there. */
  document: Passage['document'];
}

/** How an excerpt is written into the context as source number `n`. */
export type RenderExcerpt = (excerpt: Excerpt, n: number) => string;

interface ContextOptions {
  tokenizer: Tokenizer;
  /** Largest count of the whole context, special tokens included. */
  maxTokens: number;
  /** `score`: best first. `edges`: the best first, the second best last, the weakest in the middle. */
  order: 'score' | 'edges';
  render: RenderExcerpt;
}

export interface BuiltContext {
  context: string;
  /** In the order of the context: number n is at n - 1. */
  excerpts: Excerpt[];
  /** Tokens of `context`, special tokens included. */
  tokens: number;
  /** Passages that the token budget left out. */
  omitted: number;
}

export function excerptOf({ hit, text, citation, document }: Passage): Excerpt {
  const { chunk, commit } = hit;
  const title = titleOf(chunk.metadata, chunk.source_path);
  return { doc_id: chunk.doc_id, revision: commit.revision, title, source: chunk.source, text, citation, document };
}

/** An excerpt as the numbered source of an answer. */
export function sourceOf({ doc_id, revision, title, source, citation }: Excerpt, n: number): ContextSource {
  return { n, doc_id, revision, title, source, citation };
}

export function sourcesOf(excerpts: readonly Excerpt[]): ContextSource[] {
  return excerpts.map((excerpt, index) => sourceOf(excerpt, index + 1));
}

/**
 * Takes passages, best first, as long as they fit. One that overlaps a passage of the same document is joined with it. One that does
 * not fit is left out, and smaller ones after it may still fit; the first is cut instead, so that a small budget gets the best text.
 */
export function buildContext(ranked: readonly Excerpt[], { tokenizer, maxTokens, order, render }: ContextOptions): BuiltContext {
  const cost = createCost(tokenizer);
  // Blocks are divided by white space, which no word piece crosses: the count of the whole is the sum of its blocks'.
  const total = (list: readonly Excerpt[]) =>
    list.reduce((sum, excerpt, index) => sum + cost(render(excerpt, index + 1)), tokenizer.specialTokens);
  let chosen: Excerpt[] = [];
  let omitted = 0;
  for (const next of ranked) {
    const tried = addExcerpt(chosen, next);
    if (total(tried) <= maxTokens) chosen = tried;
    else {
      const cut = chosen.length === 0 ? cutToFit(next, maxTokens - total([{ ...next, text: '' }]), tokenizer) : undefined;
      if (cut !== undefined && total([cut]) <= maxTokens) chosen = [cut];
      else omitted += 1;
    }
  }
  const excerpts = order === 'edges' ? bestAtEdges(chosen) : chosen;
  const context = excerpts.map((excerpt, index) => render(excerpt, index + 1)).join('\n\n');
  return { context, excerpts, tokens: tokenizer.count(context), omitted };
}

/** A numbered heading line above the text. With `markEdges` it shows where the text is cut off from the rest of its document. */
export function renderExcerpt(excerpt: Excerpt, n: number, markEdges: boolean): string {
  return `[${n}] ${headingOf(excerpt)}\n${markEdges ? withEdges(excerpt) : excerpt.text}`;
}

/** Title, headings and page on one line. */
export function headingOf({ title, citation }: Excerpt): string {
  const path = [title, ...citation.heading_path].map((part) => part.replaceAll(/\s+/g, ' '));
  const names = path.filter((part, index) => part !== path[index - 1]).join(' > ');
  return citation.page === undefined ? names : `${names} (page ${citation.page})`;
}

export function withEdges({ text, citation, document }: Excerpt): string {
  const before = citation.start > document.start ? `${CUT_MARK} ` : '';
  const after = citation.end < document.end ? ` ${CUT_MARK}` : '';
  return `${before}${text}${after}`;
}

/** Tokens of a text without the special tokens; each text is counted once. */
function createCost(tokenizer: Tokenizer) {
  const known = new Map<string, number>();
  return (text: string) => {
    const tokens = known.get(text) ?? tokenizer.count(text) - tokenizer.specialTokens;
    known.set(text, tokens);
    return tokens;
  };
}

function addExcerpt(excerpts: readonly Excerpt[], next: Excerpt): Excerpt[] {
  const touching = excerpts.filter((excerpt) => touches(excerpt, next));
  const [best] = touching;
  if (best === undefined) return [...excerpts, next];
  const joined = { ...touching.reduce(join, next), title: best.title };
  joined.citation = { ...joined.citation, heading_path: best.citation.heading_path };
  if (best.citation.page !== undefined) joined.citation.page = best.citation.page;
  return excerpts.flatMap((excerpt) => (excerpt === best ? [joined] : touching.includes(excerpt) ? [] : [excerpt]));
}

/** Texts of one revision that overlap or meet. A proposition's text is no slice of the document, so it joins nothing. */
function touches(a: Excerpt, b: Excerpt): boolean {
  if (a.doc_id !== b.doc_id || a.revision !== b.revision || a.citation.derived || b.citation.derived) return false;
  return a.citation.start <= b.citation.end && b.citation.start <= a.citation.end;
}

function join(one: Excerpt, other: Excerpt): Excerpt {
  const [first, second] = one.citation.start <= other.citation.start ? [one, other] : [other, one];
  const last = second.citation.end > first.citation.end ? second : first;
  const body = second.text.slice((second.citation.prefix ?? '').length);
  const text = first.text + (last === first ? '' : body.slice(first.citation.end - second.citation.start));
  const citation: Citation = { ...first.citation, end: last.citation.end };
  if (last.citation.page_end !== undefined) citation.page_end = last.citation.page_end;
  return { ...first, text, citation };
}

/** The beginning of an excerpt in whole word pieces; undefined when none of its own text fits, or when it has no exact span. */
function cutToFit(excerpt: Excerpt, tokens: number, tokenizer: Tokenizer): Excerpt | undefined {
  const { citation } = excerpt;
  const prefix = (citation.prefix ?? '').length;
  if (tokens <= 0 || citation.derived) return undefined;
  const text = fitQuery(excerpt.text, tokenizer, tokens + tokenizer.specialTokens);
  if (text.length <= prefix) return undefined;
  return { ...excerpt, text, citation: { ...citation, end: citation.start + text.length - prefix } };
}

/** Ranks 1, 3, 5, ... 6, 4, 2: models read the beginning and the end of a long context best (Liu et al. 2023, "Lost in the Middle"). */
function bestAtEdges<T>(ranked: readonly T[]): T[] {
  const front = ranked.filter((_, index) => index % 2 === 0);
  const back = ranked.filter((_, index) => index % 2 === 1);
  return [...front, ...back.reverse()];
}
