import {
  type Chunk,
  type ChunkedDocument,
  type ChunkingSettings,
  type Embedder,
  type Llm,
  type ParsedDocument,
  SluiceError,
  type Tokenizer,
} from '@sluice/core';
import { createLayout } from './layout/context.js';
import { outlineOf } from './layout/outline.js';
import type { FactCache } from './propositions/fact-cache.js';
import { type CheckedSettings, createChunkingSchema, sizesOf } from './settings.js';
import { cutBy } from './strategies/registry.js';
import type { VectorCache } from './strategies/sentence-vectors.js';
import { type CountCache, createCountCache } from './text/counts.js';
import { createSentenceSplitter, type SentenceSplitter } from './text/sentences.js';

export interface ChunkingDeps {
  /** Makes the ids of parents unique to their document. */
  docId?: string | undefined;
  tokenizer: Tokenizer;
  /** Needed by semantic: each sentence is embedded once. */
  embedder?: Embedder | undefined;
  /** Needed by propositions; without one they fail with `llm_not_configured`. */
  llm?: Llm | undefined;
  /** Facts kept between calls, so that an edit asks the language model for changed passages only. Default: none are kept. */
  facts?: FactCache | undefined;
  /** Vectors of sentences kept between calls, for semantic. Default: none are kept. */
  vectors?: VectorCache | undefined;
  /** Token counts kept between calls, so that a small edit costs few tokenisations. Default: none are kept. */
  counts?: CountCache | undefined;
  /** Default: the rules of this package. */
  sentences?: SentenceSplitter | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Cuts a parsed document into chunks by the strategy and settings given. The same document and settings always give the same chunks;
 * offsets are exact; every character that is neither white space nor front matter lies in a chunk; no chunk is over the limit of the
 * tokenizer's model.
 *
 * @throws SluiceError `invalid_configuration` with `details.path` for settings that are wrong, `llm_not_configured`
 */
export async function chunkDocument(
  document: ParsedDocument,
  settings: ChunkingSettings,
  deps: ChunkingDeps,
): Promise<ChunkedDocument> {
  const checked = checkChunking(settings, deps.tokenizer.maxTokens);
  const layout = createLayout({
    documentId: deps.docId ?? '',
    outline: outlineOf(document),
    sizes: sizesOf(checked, deps.tokenizer.maxTokens),
    tokenizer: deps.tokenizer,
    counts: deps.counts ?? createCountCache(),
    sentences: deps.sentences ?? createSentenceSplitter(),
    headingPrefix: checked.heading_prefix,
    separators: 'separators' in checked ? checked.separators : undefined,
  });
  const cut = cutBy(layout, checked, deps);
  const chunks: Chunk[] = [];
  for await (const chunk of cut.chunks) chunks.push({ index: chunks.length, ...chunk });
  return { chunks, dropped: cut.dropped ?? [], ...(cut.usage === undefined ? {} : { usage: cut.usage }) };
}

/** Schemas by what the model takes. To make one takes longer than to cut a small document. */
const schemas = new Map<number, ReturnType<typeof createChunkingSchema>>();

/** Settings with their defaults. Errors: `invalid_configuration`, whose `details.problems` names each wrong key. */
export function checkChunking(settings: unknown, modelTokens: number): CheckedSettings {
  const schema = schemas.get(modelTokens) ?? createChunkingSchema(modelTokens);
  schemas.set(modelTokens, schema);
  const result = schema.safeParse(settings);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) => ({
    path: ['chunking', ...issue.path].join('.'),
    message: issue.message,
  }));
  throw new SluiceError('invalid_configuration', problems.map(({ path, message }) => `${path}: ${message}`).join('; '), {
    details: { path: problems[0]?.path, problems },
  });
}
