import { z } from 'zod';
import { HTTP_CODES } from '../problems.js';

const problemSchema = z
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
  409: 'The revision is outdated.',
  413: 'Too large.',
  415: 'Not JSON.',
  429: 'Too many requests.',
  500: 'Internal error.',
  503: 'Not ready.',
} as const;

export type ProblemStatus = keyof typeof DESCRIPTIONS;

/** Declared error answers of a route, beside those that every route may give. */
export function problems(...statuses: ProblemStatus[]) {
  const all = new Set<ProblemStatus>([...statuses, 400, 401, 403, 429, 500, 503]);
  return Object.fromEntries(
    [...all]
      .sort()
      .map((status) => [
        status,
        { description: DESCRIPTIONS[status], content: { 'application/problem+json': { schema: problemSchema } } },
      ]),
  );
}
