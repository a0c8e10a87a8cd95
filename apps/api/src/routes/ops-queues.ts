import { z } from 'zod';
import type { App } from '../app.js';
import type { ApiDeps } from '../deps.js';
import { problems } from '../schemas/problem.js';

const answer = z.object({ paused: z.boolean() });

/** Stops and resumes the taking of jobs; queued ones stay. */
export function queueRoutes(app: App, { queue }: ApiDeps): void {
  app.post(
    '/ops/api/queues/pause',
    { schema: { tags: ['operators'], summary: 'Stop taking jobs', response: { 200: answer, ...problems() } } },
    async () => {
      await queue.pause();
      return { paused: true };
    },
  );

  app.post(
    '/ops/api/queues/resume',
    { schema: { tags: ['operators'], summary: 'Take jobs again', response: { 200: answer, ...problems() } } },
    async () => {
      await queue.resume();
      return { paused: false };
    },
  );
}
