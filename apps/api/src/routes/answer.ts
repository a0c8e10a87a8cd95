import { Readable } from 'node:stream';
import type { AnswerEvent } from '@sluice/retrieval';
import { z } from 'zod';
import { signalOfClient } from '../calls-at-once.js';
import type { ApiDeps } from '../deps.js';
import type { HttpApp } from '../http-app.js';
import { problemOf } from '../problems.js';
import { problems } from '../schemas/problem.js';
import { answerBody } from '../schemas/search.js';
import { answerAnswer } from '../schemas/search-answers.js';

export function answerRoute(app: HttpApp, { retrieval, logger }: ApiDeps): void {
  app.post(
    '/v1/answer',
    {
      schema: {
        tags: ['search'],
        summary: 'Answer a question',
        description:
          'Has the configured language model answer from the documents alone. With `stream` the answer comes as server-sent events; ' +
          'the data of `done` is the whole answer, that of `error` a problem.',
        body: answerBody,
        response: {
          200: {
            description: 'The answer, or its events.',
            content: { 'application/json': { schema: answerAnswer }, 'text/event-stream': { schema: z.string() } },
          },
          ...problems(501),
        },
      },
    },
    async (request, reply) => {
      const { as: _applied, stream, ...query } = request.body;
      const { caller } = request;
      // Aborted when the client goes: nobody reads on, and tokens cost.
      const signal = signalOfClient(reply);
      if (!stream) return retrieval.answer(query, caller, signal);
      const events = retrieval.streamAnswer(query, caller, signal);
      // What fails before the first event is answered like any other request.
      const first = await events.next();
      async function* frames() {
        try {
          for (let next = first; !next.done; next = await events.next()) yield frameOf(next.value);
        } catch (error) {
          if (!signal.aborted) logger.warn({ err: error, request_id: request.id }, 'a streamed answer failed');
          yield frameOf({ event: 'error', data: problemOf(error, request.id) });
        } finally {
          await events.return(undefined);
        }
      }
      reply.header('cache-control', 'no-cache').header('x-accel-buffering', 'no').type('text/event-stream; charset=utf-8');
      // Sound: Fastify sends a stream as it is; the declared text is what it holds in all.
      return reply.send(Readable.from(frames(), { objectMode: false }) as unknown as string);
    },
  );
}

/** One event (WHATWG HTML, 9.2.5). JSON has no line breaks, so its data is one line. */
function frameOf({ event, data }: AnswerEvent | { event: 'error'; data: unknown }): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
