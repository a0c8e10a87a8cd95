import { type ErrorCode, SluiceError } from '@sluice/core';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';

/** Codes of INTERFACES 3: what a program may rely on. */
export const HTTP_CODES = [
  'invalid_request',
  'invalid_filter',
  'unauthorized',
  'forbidden',
  'not_found',
  'method_not_allowed',
  'conflict',
  'revision_outdated',
  'too_large',
  'rate_limited',
  'not_ready',
  'llm_not_configured',
  'internal',
] as const;

export type HttpCode = (typeof HTTP_CODES)[number];

/** An error answer, RFC 9457. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: HttpCode;
  request_id: string;
  [extension: string]: unknown;
}

const STATUS: Record<HttpCode, number> = {
  invalid_request: 400,
  invalid_filter: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  revision_outdated: 409,
  too_large: 413,
  rate_limited: 429,
  not_ready: 503,
  llm_not_configured: 501,
  internal: 500,
};

const TITLES: Record<HttpCode, string> = {
  invalid_request: 'The request is not valid',
  invalid_filter: 'The filter is not valid',
  unauthorized: 'A key is needed',
  forbidden: 'Not allowed',
  not_found: 'Not found',
  method_not_allowed: 'The address does not have this method',
  conflict: 'Not in this state',
  revision_outdated: 'The revision is outdated',
  too_large: 'Too large',
  rate_limited: 'Too many requests',
  not_ready: 'Not ready',
  llm_not_configured: 'No LLM is configured',
  internal: 'Internal error',
};

/** Codes that an answer of this status may have. */
export function codesOf(status: number): HttpCode[] {
  const own = HTTP_CODES.filter((code) => STATUS[code] === status);
  return own.length > 0 ? own : [codeOfStatus(status)];
}

/** Codes of core that mean something else to a caller over HTTP. */
const AS_HTTP: Partial<Record<ErrorCode, HttpCode>> = {
  store_unavailable: 'not_ready',
  queue_unavailable: 'not_ready',
  model_unavailable: 'not_ready',
  embed_failed: 'not_ready',
  llm_failed: 'not_ready',
  schema_mismatch: 'not_ready',
  not_in_a_source: 'not_found',
};

function isHttpCode(code: string): code is HttpCode {
  return Object.hasOwn(STATUS, code);
}

/** Errors that Fastify itself raises about a request, by status. */
function codeOfStatus(status: number): HttpCode {
  if (status === 404) return 'not_found';
  if (status === 413) return 'too_large';
  if (status === 429) return 'rate_limited';
  return status >= 500 ? 'internal' : 'invalid_request';
}

export function makeProblem(code: HttpCode, detail: string, requestId: string, more: Record<string, unknown> = {}): Problem {
  const status = typeof more.status === 'number' ? more.status : STATUS[code];
  return { ...more, type: `urn:sluice:problem:${code}`, title: TITLES[code], status, detail, code, request_id: requestId };
}

/** The one mapper from anything thrown to an answer. What is not the caller's fault says nothing of the inside. */
export function problemOf(error: unknown, requestId: string): Problem {
  if (error instanceof SluiceError) {
    const code = isHttpCode(error.code) ? error.code : (AS_HTTP[error.code] ?? 'internal');
    if (code === 'internal') return internal(requestId);
    const message = code === error.code ? error.message : withoutPaths(error.message);
    // What an endpoint behind this API answered, its status above all, is not this answer's.
    const details = error.code === 'llm_failed' || error.code === 'embed_failed' ? {} : error.details;
    return makeProblem(code, message, requestId, details);
  }
  if (hasZodFastifySchemaValidationErrors(error)) {
    const errors = error.validation.flatMap((issue) => issuesOf(issue.instancePath, issue.message, issue.params.errors));
    const where = error.validationContext ?? 'request';
    const first = errors[0];
    const code = where === 'body' && /^(\/queries\/\d+)?\/filter/.test(first?.path ?? '') ? 'invalid_filter' : 'invalid_request';
    return makeProblem(code, `${where}${first?.path ?? ''}: ${first?.message ?? 'not valid'}`, requestId, {
      errors,
    });
  }
  const status = (error as Partial<FastifyError>)?.statusCode;
  if (status !== undefined && status >= 400 && status < 500) {
    return makeProblem(codeOfStatus(status), (error as Error).message, requestId, { status });
  }
  return internal(requestId);
}

interface Issue {
  path: string;
  message: string;
}

/** Of several shapes that a body may have, the complaints of the one it is nearest to: "no shape fits" helps nobody. */
function issuesOf(path: string, message: string | undefined, shapes: unknown): Issue[] {
  const own = [{ path, message: message ?? 'not valid' }];
  if (!Array.isArray(shapes)) return own;
  // As zod gives them: a list of issues for each shape.
  const nearest = (shapes as { path: PropertyKey[]; message: string }[][]).toSorted((a, b) => a.length - b.length)[0];
  if (nearest === undefined || nearest.length === 0) return own;
  const base = path === '/' ? '' : path;
  return nearest.map((issue) => ({ path: `${base}/${issue.path.map(String).join('/')}`, message: issue.message }));
}

/** Paths of this machine in what its parts say, down to their last names: where things lie is not for every reader. */
export function withoutPaths(text: string): string {
  return text.replace(/(?<![\w:/.])\/(?:[^\s/'"`,;]+\/)+/g, '.../');
}

function internal(requestId: string): Problem {
  return makeProblem('internal', `Something went wrong; the API's log tells more under request ${requestId}.`, requestId);
}

export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  if (problem.code === 'rate_limited' || problem.code === 'not_ready') {
    const wait = problem.retry_after_s;
    reply.header('retry-after', typeof wait === 'number' ? wait : 1);
  }
  if (problem.code === 'unauthorized') reply.header('www-authenticate', 'Bearer, Basic realm="sluice"');
  // A string passes the serializer of the route's declared answers, which knows nothing of errors.
  return reply.code(problem.status).type('application/problem+json').send(JSON.stringify(problem));
}

/** Fastify's error handler. */
export function handleError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const problem = problemOf(error, request.id);
  if (problem.status >= 500) request.log.error({ err: error, code: problem.code }, 'request failed');
  void sendProblem(reply, problem);
}

type Hook = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/**
 * A hook that answers what it refuses by itself. A plugin may bring an error handler of its own (the queue board does), which would make
 * a 500 of a missing key.
 */
export function answering(hook: Hook): Hook {
  return async (request, reply) => {
    try {
      return await hook(request, reply);
    } catch (error) {
      handleError(error, request, reply);
      return reply;
    }
  };
}
