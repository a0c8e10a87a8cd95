import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { signalOfClient } from '../calls-at-once.js';
import type { ApiDeps } from '../deps.js';
import type { Counter } from '../documents/counts.js';
import type { HttpApp } from '../http-app.js';
import { createToolServer } from '../mcp/tool-server.js';
import { problems } from '../schemas/problem.js';

const message = z
  .strictObject({
    jsonrpc: z.literal('2.0').describe('The version of JSON-RPC.'),
    id: z
      .union([z.string(), z.number(), z.null()])
      .optional()
      .describe('Of a request: what its answer is named by. Absent in a notification.'),
    method: z.string().optional().describe('What is asked for, as `tools/list` or `tools/call`.'),
    params: z.record(z.string(), z.unknown()).optional().describe('What the method takes.'),
    result: z.unknown().optional().describe('Of an answer: what came of it.'),
    error: z.unknown().optional().describe('Of an answer: what went wrong.'),
  })
  .meta({ id: 'McpMessage' });

/** An answer of the protocol to what is no message of it. */
const refusal = z
  .object({
    jsonrpc: z.literal('2.0').describe('The version of JSON-RPC.'),
    id: z.union([z.string(), z.number(), z.null()]).describe('That of the message; null where it could not be read.'),
    error: z
      .object({
        code: z.int().describe('As JSON-RPC has them.'),
        message: z.string().describe('What is wrong.'),
        data: z.unknown().optional().describe('More of it.'),
      })
      .describe('Why it was refused.'),
  })
  .meta({ id: 'McpRefusal' });

/** The Model Context Protocol, streamable HTTP without sessions: each call stands alone, so any copy of the API may answer it. */
export function mcpRoute(app: HttpApp, deps: ApiDeps, counter: Counter): void {
  app.post(
    '/mcp',
    {
      schema: {
        tags: ['agents'],
        summary: 'Model Context Protocol',
        description: 'Tools for agents, as streamable HTTP without sessions.',
        body: message,
        response: {
          200: {
            description: 'The message in return.',
            content: { 'application/json': { schema: z.unknown() }, 'text/event-stream': { schema: z.string() } },
          },
          202: { description: 'A notification was taken.', content: { 'text/plain': { schema: z.string() } } },
          ...problems(),
          400: {
            description: 'Not a message, or of a version of the protocol that is not spoken here. Code: `invalid_request`.',
            content: { ...problems()[400]?.content, 'application/json': { schema: refusal } },
          },
          406: {
            description: '`Accept` must hold `application/json` and `text/event-stream`.',
            content: { 'application/json': { schema: refusal } },
          },
        },
      },
    },
    async (request, reply) => {
      const signal = signalOfClient(reply);
      const { caller, id: requestId } = request;
      const handler = createMcpHandler(() => createToolServer(deps, counter, { caller, requestId, signal }), {
        onerror: (error) => request.log.debug({ err: error }, 'mcp'),
      });
      const answer = await handler.fetch(webRequest(request, signal), { parsedBody: request.body });
      answer.headers.forEach((value, name) => void reply.header(name, value));
      // Sound: Fastify sends a stream as it is, whatever the status; Node's web streams and the global ones are the same, declared twice.
      const body = answer.body === null ? '' : (Readable.fromWeb(answer.body as ReadableStream) as unknown as string);
      return reply.code(answer.status as 200).send(body);
    },
  );
}

/** The head of a request for a handler of web requests; its body was read already. */
function webRequest({ headers, url }: FastifyRequest, signal: AbortSignal): Request {
  const named = Object.entries(headers).flatMap(([name, values]): [string, string][] =>
    [values ?? []].flat().map((value) => [name, value]),
  );
  // The host matters to nobody here: it was checked before.
  return new Request(new URL(url, 'http://sluice'), { method: 'POST', headers: named, signal });
}
