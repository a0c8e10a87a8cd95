import { parseDate } from '@sluice/metadata';
import { z } from 'zod';
import { asSchema } from './acting.js';

/** Any JSON object: the filter grammar is checked by the metadata package, whose errors name the field. */
const filterSchema = z
  .record(z.string(), z.unknown())
  .describe(
    'Conditions on metadata: keys are ANDed, a bare scalar is $eq. Operators: $eq $ne $in $nin $gt $gte $lt $lte $exists $and $or $not.',
  );

function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}

/** Members that every request that searches has. */
export const searchMembers = {
  query: z.string().min(1).max(8000).regex(/\S/, 'must hold more than white space').describe('What to look for.'),
  mode: z.enum(['hybrid', 'dense', 'keyword']).default('hybrid'),
  alpha: z.number().min(0).max(1).optional().describe('Hybrid only: 0 is keyword, 1 dense. Default: search.alpha.'),
  limit: z.int().min(1).max(100).optional().describe('Default: search.limit.'),
  candidates: z.int().min(1).max(1000).optional().describe('How many of the best a reranker sees. Default: search.candidates.'),
  filter: filterSchema.optional(),
  infer_filter: z
    .boolean()
    .default(false)
    .describe('Adds the conditions that the question implies: dates, types, tags, authors.'),
  now: z
    .string()
    .max(40)
    .refine((text) => parseDate(text) !== undefined, 'must be a date, as 2024-04-10 or 2024-04-10T12:00:00Z')
    .optional()
    .describe('The time that "last month" is relative to. Default: the time of the request.'),
  timezone: z
    .string()
    .max(60)
    .refine(isTimezone, 'must be a time zone, as Europe/Berlin')
    .optional()
    .describe('Where days begin and end. Default: UTC.'),
  rerank: z.boolean().default(false),
  expand: z.enum(['none', 'window', 'parent']).default('none'),
  group_by: z.enum(['none', 'document']).default('none'),
  min_score: z.number().optional().describe('Compared with `score`; ignored while rerank is degraded.'),
  as: asSchema,
};

const alphaFits = ({ mode, alpha }: { mode: string; alpha?: number | undefined }) => alpha === undefined || mode === 'hybrid';
const ALPHA_FAULT = { path: ['alpha'], message: 'is for mode hybrid alone: leave it out, or ask for "mode": "hybrid"' };

export const searchBody = z
  .strictObject({
    ...searchMembers,
    offset: z.int().min(0).max(99).default(0).describe('Results to pass over. With `limit` it reaches 100 results.'),
    highlight: z.boolean().default(false).describe('Marks the words of the query in each text.'),
  })
  .refine(alphaFits, ALPHA_FAULT)
  .refine(({ offset, limit }) => offset + (limit ?? 1) <= 100, { path: ['offset'], message: 'with limit is over 100 results' })
  .meta({ id: 'SearchRequest' });

/** Members that every request for a context has. */
const contextMembers = {
  ...searchMembers,
  limit: z.int().min(1).max(100).optional().describe('Passages to choose from, within the token budget. Default 20.'),
  max_tokens: z
    .int()
    .min(1)
    .max(100_000)
    .optional()
    .describe("Most tokens of the context, counted by the embedding model's tokenizer. Default 2,000."),
  order: z
    .enum(['score', 'edges'])
    .default('score')
    .describe('`score`: best first. `edges`: the best first and last, the weakest in the middle.'),
  mark_edges: z.boolean().default(false).describe('Marks with `[...]` where a source is cut off from the rest of its document.'),
};

export const contextBody = z.strictObject(contextMembers).refine(alphaFits, ALPHA_FAULT).meta({ id: 'ContextRequest' });

export const answerBody = z
  .strictObject({
    ...contextMembers,
    stream: z.boolean().default(false).describe('Answers with server-sent events: `sources`, `token`, `done`, `error`.'),
  })
  .refine(alphaFits, ALPHA_FAULT)
  .meta({ id: 'AnswerRequest' });

export const citationSchema = z
  .object({
    page: z.int().optional().describe('Page of the sentence that matches best.'),
    page_start: z.int().optional(),
    page_end: z.int().optional(),
    start: z.int().describe('Offset in the parsed text, UTF-16 units.'),
    end: z.int(),
    heading_path: z.array(z.string()),
    prefix: z.string().optional().describe('A repeated table header that stands in `text` before the cited span.'),
    derived: z.literal(true).optional().describe('A proposition: the span is that of its passage.'),
  })
  .meta({ id: 'Citation' });

const resultSchema = z
  .object({
    score: z.number().describe('The score that orders.'),
    scores: z.object({
      dense: z.number().optional(),
      keyword: z.number().optional(),
      fused: z.number().optional(),
      rerank: z.number().optional(),
    }),
    doc_id: z.string(),
    doc_uuid: z.string().describe('UUID of the document.'),
    revision: z.string(),
    chunk_id: z.string(),
    text: z.string(),
    highlights: z
      .array(z.object({ start: z.int(), end: z.int() }))
      .optional()
      .describe('Words of the query in `text`, UTF-16 units.'),
    title: z.string(),
    source: z.string(),
    citation: citationSchema,
    metadata: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'SearchResult' });

/** What every answer says of the search behind it. */
const aboutMembers = {
  applied_filter: z.unknown().describe('The filter that was applied, `{}` without one.'),
  inferred_filter: z.unknown().optional(),
  degraded: z.array(
    z.enum(['embedding_unavailable', 'rerank_unavailable', 'query_truncated', 'infer_relaxed', 'llm_unavailable']),
  ),
  took_ms: z.number(),
};

export const searchAnswer = z.object({ results: z.array(resultSchema), ...aboutMembers }).meta({ id: 'SearchAnswer' });

const sourceSchema = z
  .object({
    n: z.int().describe('Number of the source in the context.'),
    doc_id: z.string(),
    revision: z.string(),
    title: z.string(),
    source: z.string(),
    citation: citationSchema,
  })
  .meta({ id: 'ContextSource' });

export const contextAnswer = z
  .object({
    context: z.string().describe('Numbered sources, each with a heading line.'),
    sources: z.array(sourceSchema).describe('In the order of the context.'),
    tokenizer: z.string().describe('Identity of the tokenizer that counted.'),
    tokens: z.int().describe('Tokens of `context`.'),
    omitted: z.int().describe('Passages that the token budget left out.'),
    ...aboutMembers,
  })
  .meta({ id: 'ContextAnswer' });

const answerCitationSchema = z
  .object({
    n: z.int().describe('Number of the source.'),
    doc_id: z.string(),
    revision: z.string(),
    citation: citationSchema,
    text: z.string().describe('The sentence of the source that the statement rests on.'),
    marker: z.object({ start: z.int(), end: z.int() }).describe('Where the marker `[n]` stands in `answer`, UTF-16 units.'),
  })
  .meta({ id: 'AnswerCitation' });

export const answerAnswer = z
  .object({
    answer: z.string().describe('Text with markers `[n]`; each names a source that exists.'),
    citations: z.array(answerCitationSchema).describe('One a marker, in the order of the text.'),
    found: z.boolean().describe('False when the documents do not hold the answer, or no statement names its source.'),
    sources: z.array(sourceSchema).describe('What the model was given.'),
    usage: z.object({ prompt_tokens: z.int(), completion_tokens: z.int() }).describe('0 where the endpoint counts nothing.'),
    ...aboutMembers,
  })
  .meta({ id: 'Answer' });
