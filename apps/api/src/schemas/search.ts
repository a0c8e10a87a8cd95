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
  query: z
    .string()
    .min(1)
    .max(8000)
    .regex(/\S/, 'must hold more than white space')
    .describe('What to look for, 1 to 8,000 characters. What the model can not read is cut, and said in `degraded`.'),
  mode: z
    .enum(['hybrid', 'dense', 'keyword'])
    .default('hybrid')
    .describe('`dense` searches by meaning, `keyword` by words, `hybrid` by both. Default `hybrid`.'),
  alpha: z.number().min(0).max(1).optional().describe('Hybrid only: 0 is keyword, 1 dense. Default: search.alpha.'),
  limit: z.int().min(1).max(100).optional().describe('Most results, 1 to 100. Default: search.limit, 5.'),
  candidates: z
    .int()
    .min(1)
    .max(1000)
    .optional()
    .describe('How many of the best a reranker sees, 1 to 1,000. Default: search.candidates, 25.'),
  filter: filterSchema.optional(),
  infer_filter: z
    .boolean()
    .default(false)
    .describe('Adds the conditions that the question implies: dates, types, tags, authors. Default false.'),
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
  rerank: z
    .boolean()
    .default(false)
    .describe('Has a cross-encoder read the best `candidates` again, and order them. Default false.'),
  expand: z
    .enum(['none', 'window', 'parent'])
    .default('none')
    .describe('Text that is returned: the chunk, the sentences around it, or the passage it is of. Default `none`.'),
  group_by: z
    .enum(['none', 'document'])
    .default('none')
    .describe('`document` keeps the best result of each document. Default `none`.'),
  diversity: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe('Weight of unlikeness to the results before, against `score`. Above 0 near-duplicates are left out. Default 0.'),
  min_score: z.number().optional().describe('Compared with `score`; ignored while rerank is degraded.'),
  as: asSchema,
};

const alphaFits = ({ mode, alpha }: { mode: string; alpha?: number | undefined }) => alpha === undefined || mode === 'hybrid';
const ALPHA_FAULT = { path: ['alpha'], message: 'is for mode hybrid alone: leave it out, or ask for "mode": "hybrid"' };

/** Members of a result. */
const RESULT_MEMBERS = [
  'score',
  'scores',
  'doc_id',
  'doc_uuid',
  'revision',
  'chunk_id',
  'text',
  'highlights',
  'title',
  'source',
  'citation',
  'metadata',
] as const;

const RESULT_PATH = new RegExp(`^(${RESULT_MEMBERS.join('|')}|metadata\\..{1,200})$`);

const { as: _as, query: questionSchema, group_by: _groupBy, ...commonMembers } = searchMembers;

/** Members of a search alone, without those that say for whom it is. */
const queryMembers = {
  query: questionSchema.optional(),
  like: z
    .strictObject({ doc_id: z.string().min(1).max(4096).describe('doc_id or UUID of the document.') })
    .optional()
    .describe('In place of `query`: finds what is like this document, by meaning.'),
  ...commonMembers,
  group_by: z.enum(['none', 'document']).optional().describe('Default: `none`, with `like` `document`.'),
  offset: z
    .int()
    .min(0)
    .max(99)
    .default(0)
    .describe('Results to pass over, from 0. With `limit` it reaches 100 results. Default 0.'),
  highlight: z.boolean().default(false).describe('Marks the words of the query in each text. Default false.'),
  facets: z
    .array(z.string().min(1).max(200))
    .min(1)
    .max(20)
    .optional()
    .describe(
      'Fields whose values are counted: of all documents within the filter, with mode keyword of those among the 100 best results.',
    ),
  include: z
    .array(z.string().regex(RESULT_PATH, `must be a member of results: ${RESULT_MEMBERS.join(', ')}, or metadata.NAME`))
    .min(1)
    .max(100)
    .optional()
    .describe('Members that results have, as `text` or `metadata.author`. Default: all.'),
};

type Searched = z.infer<z.ZodObject<typeof queryMembers>>;

/** What `like` can't be combined with: there are no words to look for, to mark or to read conditions from. */
const needsNoQuery = ({ like, mode, rerank, highlight, infer_filter }: Searched) =>
  like === undefined || (mode !== 'keyword' && !rerank && !highlight && !infer_filter);

function searchOf<More extends z.ZodRawShape>(more: More) {
  return (
    z
      .strictObject({ ...queryMembers, ...more })
      // Sound: the members that are looked at are those of every search.
      .refine((body) => alphaFits(body as Searched), ALPHA_FAULT)
      .refine((body) => withinReach(body as Searched), { path: ['offset'], message: 'with limit is over 100 results' })
      .refine((body) => hasOneSubject(body as Searched), { path: ['query'], message: 'is needed, or like in its place' })
      .refine((body) => needsNoQuery(body as Searched), {
        path: ['like'],
        message: 'goes without mode keyword, rerank, highlight and infer_filter, which need a query',
      })
  );
}

const withinReach = ({ offset, limit }: Searched) => offset + (limit ?? 1) <= 100;
const hasOneSubject = ({ query, like }: Searched) => (query === undefined) !== (like === undefined);

export const searchBody = searchOf({ as: asSchema }).meta({ id: 'SearchRequest' });

export const batchBody = z
  .strictObject({ queries: z.array(searchOf({})).min(1).max(20).describe('Searches, each on its own.'), as: asSchema })
  .meta({ id: 'SearchBatchRequest' });

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
