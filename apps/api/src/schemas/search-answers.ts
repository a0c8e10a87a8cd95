import { z } from 'zod';
import {
  chunkIdField,
  docIdField,
  endField,
  headingsField,
  metadataField,
  pageEndField,
  pageStartField,
  revisionField,
  sourceField,
  spanOf,
  startField,
  titleField,
  uuidField,
} from './fields.js';

export const citationSchema = z
  .object({
    page: z.int().optional().describe('Page of the sentence that matches best, from 1.'),
    page_start: pageStartField.optional(),
    page_end: pageEndField.optional(),
    start: startField,
    end: endField,
    heading_path: headingsField,
    prefix: z.string().optional().describe('A repeated table header that stands in `text` before the cited span.'),
    derived: z.literal(true).optional().describe('A proposition: the span is that of its passage.'),
  })
  .meta({ id: 'Citation' });

const resultSchema = z
  .object({
    score: z
      .number()
      .describe('The score that orders: the higher, the better. Its scale is that of the mode, or of the reranker.'),
    scores: z
      .object({
        dense: z.number().optional().describe('By meaning: cosine, 1 at best.'),
        keyword: z
          .number()
          .optional()
          .describe('By words: the share of the best that you may see, 0 to 1; BM25 for operators of clearance 5.'),
        fused: z.number().optional().describe('Of a hybrid search: both, weighed by `alpha`, 0 to 1.'),
        rerank: z.number().optional().describe('Of the reranker, where one has read the result, on a scale of its own.'),
      })
      .describe('The parts of the score that the search has computed.'),
    doc_id: docIdField,
    doc_uuid: uuidField,
    revision: revisionField,
    chunk_id: chunkIdField,
    text: z.string().describe('Text of the chunk, or with `expand` of what stands around it.'),
    highlights: z.array(spanOf('`text`')).optional().describe('Words of the query in `text`, in order; with `highlight` alone.'),
    title: titleField,
    source: sourceField,
    citation: citationSchema.describe('Where the text stands in its document.'),
    metadata: metadataField,
  })
  .meta({ id: 'SearchResult' });

/** What every answer says of the search behind it. */
const aboutMembers = {
  applied_filter: z.unknown().describe('The filter that was applied, `{}` without one.'),
  inferred_filter: z.unknown().optional().describe('What of `applied_filter` the question implied; with `infer_filter` alone.'),
  degraded: z
    .array(z.enum(['embedding_unavailable', 'rerank_unavailable', 'query_truncated', 'infer_relaxed', 'llm_unavailable']))
    .describe('What went less well than asked, while the answer still holds; empty as a rule.'),
  took_ms: z.number().describe('Time that the answer took, in milliseconds.'),
};

const foundMembers = {
  total: z.int().optional().describe('Results in all, where that is known: when the search found no more than these.'),
  facets: z
    .record(
      z.string(),
      z.array(
        z.object({
          value: z.union([z.string(), z.number(), z.boolean()]).describe('A value of the field.'),
          count: z.int().describe('Documents that have it, from 1.'),
        }),
      ),
    )
    .optional()
    .describe('Numbers of documents by value, the 100 most frequent of each field.'),
  ...aboutMembers,
};

const RESULTS = 'The best results, in their order.';

const wholeAnswer = z.object({ results: z.array(resultSchema).describe(RESULTS), ...foundMembers }).meta({ id: 'SearchAnswer' });

const chosenAnswer = z
  .object({
    results: z.array(resultSchema.partial()).describe(`${RESULTS} Each has the members of \`include\`.`),
    ...foundMembers,
  })
  .meta({ id: 'SearchAnswerOfChosen', description: 'The answer to a search with `include`.' });

export const searchAnswer = z.union([wholeAnswer, chosenAnswer]);

export const batchAnswer = z
  .object({ answers: z.array(searchAnswer).describe('In the order of the queries.') })
  .meta({ id: 'SearchBatchAnswer' });

const sourceSchema = z
  .object({
    n: z.int().describe('Number of the source in the context, from 1.'),
    doc_id: docIdField,
    revision: revisionField,
    title: titleField,
    source: sourceField,
    citation: citationSchema.describe('Where the text of the source stands in its document.'),
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
    doc_id: docIdField,
    revision: revisionField,
    citation: citationSchema.describe('Where `text` stands in the document.'),
    text: z.string().describe('The sentence of the source that the statement rests on.'),
    marker: spanOf('`answer`').describe('Where the marker `[n]` stands in `answer`, UTF-16 units.'),
  })
  .meta({ id: 'AnswerCitation' });

export const answerAnswer = z
  .object({
    answer: z.string().describe('Text with markers `[n]`; each names a source that exists.'),
    citations: z.array(answerCitationSchema).describe('One a marker, in the order of the text.'),
    found: z.boolean().describe('False when the documents do not hold the answer, or no statement names its source.'),
    sources: z.array(sourceSchema).describe('What the model was given.'),
    usage: z
      .object({
        prompt_tokens: z.int().describe('Tokens that the model read.'),
        completion_tokens: z.int().describe('Tokens that the model wrote.'),
      })
      .describe('As the endpoint counts; 0 where it counts nothing.'),
    ...aboutMembers,
  })
  .meta({ id: 'Answer' });
