import type { Caller } from '@sluice/core';
import { createAnswering } from './answer.js';
import {
  type BuiltContext,
  buildContext,
  DEFAULT_CONTEXT_PASSAGES,
  DEFAULT_CONTEXT_TOKENS,
  type Excerpt,
  excerptOf,
  type RenderExcerpt,
  renderExcerpt,
  sourceOf,
  sourcesOf,
} from './context.js';
import type { Retrieval, RetrievalDeps } from './deps.js';
import { countDocuments, countFound, createFacetCounter } from './facets.js';
import { createFinder, type Found } from './find.js';
import { createReading } from './reading.js';
import type { ScoredPassage } from './rerank.js';
import { type ContextPassage, type ContextQuery, publicMetadata, type SearchResult, titleOf } from './types.js';

/** Results of a search in all: those for a smaller limit are a prefix of these. */
const FURTHEST = 100;

/** Hybrid, dense and keyword search with access, expansion and citations, and contexts and answers made of what it finds. */
export function createRetrieval(deps: RetrievalDeps): Retrieval {
  const { tokenizer } = deps;
  const reading = createReading(deps);
  const find = createFinder(deps, reading);

  async function findContext(
    request: ContextQuery,
    caller: Caller,
    render: RenderExcerpt,
    signal?: AbortSignal,
  ): Promise<BuiltContext & Pick<Found, 'about'>> {
    const limit = request.limit ?? DEFAULT_CONTEXT_PASSAGES;
    const { chosen, about } = await find({ ...request, limit }, caller, signal);
    const excerpts = chosen.map(({ passage }) => excerptOf(passage));
    const maxTokens = request.max_tokens ?? DEFAULT_CONTEXT_TOKENS;
    return { ...buildContext(excerpts, { tokenizer, maxTokens, order: request.order ?? 'score', render }), about };
  }

  return {
    reading,
    async search(request, caller, signal) {
      const offset = request.offset ?? 0;
      const end = Math.min(FURTHEST, offset + (request.limit ?? deps.settings.limit));
      const counter = request.facets === undefined ? undefined : createFacetCounter(request.facets, deps.catalog);
      // A dense search finds every document, more or less like the question; one for words those that have them.
      const countsFound = counter !== undefined && request.mode === 'keyword';
      const { chosen, total, filter, about } = await find({ ...request, limit: countsFound ? FURTHEST : end }, caller, signal);
      if (counter !== undefined && countsFound) countFound(counter, chosen);
      else if (counter !== undefined) await countDocuments(counter, { store: deps.store, filter, caller });
      const marks = (text: string) => ({ highlights: deps.matchedSpans(request.query, text) });
      const results = chosen.slice(offset, end).map((scored) => ({
        ...resultOf(scored),
        ...(request.highlight === true ? marks(scored.passage.text) : {}),
      }));
      const facets = counter === undefined ? {} : { facets: counter.facets() };
      return { results, ...(total === undefined ? {} : { total }), ...facets, ...about() };
    },
    async context(request, caller, signal) {
      const mark = request.mark_edges ?? false;
      const built = await findContext(request, caller, (excerpt, n) => renderExcerpt(excerpt, n, mark), signal);
      const { context, excerpts, tokens, omitted, about } = built;
      return { context, sources: sourcesOf(excerpts), tokenizer: tokenizer.id, tokens, omitted, ...about() };
    },
    async passages(request, caller, signal) {
      const render = (excerpt: Excerpt, n: number) => JSON.stringify(contextPassageOf(excerpt, n));
      const { excerpts, tokens, omitted, about } = await findContext(request, caller, render, signal);
      const passages = excerpts.map((excerpt, index) => contextPassageOf(excerpt, index + 1));
      return { passages, tokens, omitted, ...about() };
    },
    ...createAnswering(deps, find),
  };
}

function contextPassageOf(excerpt: Excerpt, n: number): ContextPassage {
  return { ...sourceOf(excerpt, n), text: excerpt.text };
}

function resultOf({ passage, score, rerank }: ScoredPassage): SearchResult {
  const { chunk, commit, scores } = passage.hit;
  return {
    score,
    scores: { ...scores, ...(rerank === undefined ? {} : { rerank }) },
    doc_id: chunk.doc_id,
    doc_uuid: chunk.doc_uuid,
    revision: commit.revision,
    chunk_id: chunk.id,
    text: passage.text,
    title: titleOf(chunk.metadata, chunk.source_path),
    source: chunk.source,
    citation: passage.citation,
    metadata: { ...publicMetadata(chunk.metadata), kind: chunk.kind },
  };
}
