import { z } from 'zod';
import { codesOf, HTTP_CODES } from '../problems.js';

export const problemSchema = z
  .object({
    type: z.string().describe('`urn:sluice:problem:CODE`.'),
    title: z.string().describe('What kind of problem it is, in words that are the same each time.'),
    status: z.int().describe('The HTTP status of the answer.'),
    detail: z.string().describe('What happened, to what, and what to do.'),
    code: z.enum(HTTP_CODES).describe('What a program may rely on.'),
    request_id: z.string().describe('UUID of the request, as in the header `x-request-id` and in the log of the API.'),
  })
  .loose()
  .meta({
    id: 'Problem',
    description: 'An error answer, RFC 9457. Some codes have further members, as `errors`, `retry_after_s` or `revision`.',
    examples: [
      {
        type: 'urn:sluice:problem:invalid_filter',
        title: 'The filter is not valid',
        status: 400,
        detail: 'filter/colour: no such field.',
        code: 'invalid_filter',
        request_id: '0b9c1f0e-7d61-4a55-9d0b-6a4c1f7b2f3e',
      },
    ],
  });

const DESCRIPTIONS = {
  400: 'Not a valid request, or not a valid filter.',
  401: 'A key is needed.',
  403: 'Not allowed.',
  404: 'Not found.',
  409: 'The revision is outdated, or the source is still configured.',
  408: 'The request took too long.',
  413: 'Too large.',
  414: 'The address is too long.',
  415: 'Not JSON, or compressed.',
  417: 'An `Expect` other than `100-continue`.',
  429: 'Too many requests.',
  431: 'The headers are too large.',
  500: 'Internal error.',
  501: 'No language model is configured.',
  503: 'Not ready.',
} as const;

export type ProblemStatus = keyof typeof DESCRIPTIONS;

/** What any request may be answered, whoever sends it: it is no HTTP that we take. */
const BROKEN: readonly ProblemStatus[] = [400, 403, 408, 413, 414, 415, 417, 431, 500];

/** Declared error answers of a route that wants a key, beside those that every such route may give. */
export function problems(...statuses: ProblemStatus[]) {
  return openProblems(401, 429, 503, ...statuses);
}

/** The same of a route that is served without a key. */
export function openProblems(...statuses: ProblemStatus[]) {
  const all = new Set<ProblemStatus>([...statuses, ...BROKEN]);
  return Object.fromEntries(
    [...all].sort().map((status) => [
      status,
      {
        description: `${DESCRIPTIONS[status]} ${named(status)}`,
        content: { 'application/problem+json': { schema: problemSchema } },
      },
    ]),
  );
}

/** The codes of a status, for programs. */
function named(status: ProblemStatus): string {
  const codes = codesOf(status).map((code) => `\`${code}\``);
  return codes.length === 1 ? `Code: ${codes[0]}.` : `Codes: ${codes.join(', ')}.`;
}
