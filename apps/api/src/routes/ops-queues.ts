import { SluiceError } from '@sluice/core';
import { z } from 'zod';
import type { ApiDeps } from '../deps.js';
import type { HttpApp } from '../http-app.js';
import { problems } from '../schemas/problem.js';

const answer = z.object({ paused: z.boolean().describe('Whether the taking of jobs is stopped from here on.') });

/** These routes need no body; `{}` is as good as none. */
async function refuseBody({ body }: { body: unknown }): Promise<void> {
  if (body === undefined || body === null || JSON.stringify(body) === '{}') return;
  throw new SluiceError('invalid_request', 'body/: takes no keys');
}

/** Stops and resumes the taking of jobs; queued ones stay. */
export function queueRoutes(app: HttpApp, { queue }: ApiDeps): void {
  app.post(
    '/ops/api/queues/pause',
    {
      preValidation: refuseBody,
      schema: { tags: ['operators'], summary: 'Stop taking jobs', response: { 200: answer, ...problems() } },
    },
    async () => {
      await queue.pause();
      return { paused: true };
    },
  );

  app.post(
    '/ops/api/queues/resume',
    {
      preValidation: refuseBody,
      schema: { tags: ['operators'], summary: 'Take jobs again', response: { 200: answer, ...problems() } },
    },
    async () => {
      await queue.resume();
      return { paused: false };
    },
  );
}
