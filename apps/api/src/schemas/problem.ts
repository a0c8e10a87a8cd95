import { z } from 'zod';
import { HTTP_CODES } from '../problems.js';

export const problemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.enum(HTTP_CODES),
    request_id: z.string(),
  })
  .loose()
  .meta({ id: 'Problem' });

const DESCRIPTIONS = {
  400: 'Not a valid request, or not a valid filter.',
  401: 'A key is needed.',
  403: 'Not allowed.',
  404: 'Not found.',
  409: 'The revision is outdated, or the source is still configured.',
  408: 'The request took too long.',
  413: 'Too large.',
  414: 'The address is too long.',
  415: 'Not JSON.',
  429: 'Too many requests.',
  431: 'The headers are too large.',
  500: 'Internal error.',
  501: 'No language model is configured.',
  503: 'Not ready.',
} as const;

export type ProblemStatus = keyof typeof DESCRIPTIONS;

/** What any request may be answered, whoever sends it: it is no HTTP that we take. */
const BROKEN: readonly ProblemStatus[] = [400, 403, 408, 413, 414, 415, 431, 500];

/** Declared error answers of a route that wants a key, beside those that every such route may give. */
export function problems(...statuses: ProblemStatus[]) {
  return openProblems(401, 429, 503, ...statuses);
}

/** The same of a route that is served without a key. */
export function openProblems(...statuses: ProblemStatus[]) {
  const all = new Set<ProblemStatus>([...statuses, ...BROKEN]);
  return Object.fromEntries(
    [...all]
      .sort()
      .map((status) => [
        status,
        { description: DESCRIPTIONS[status], content: { 'application/problem+json': { schema: problemSchema } } },
      ]),
  );
}
