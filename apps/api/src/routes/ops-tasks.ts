import { z } from 'zod';
import type { HttpApp } from '../http-app.js';
import { problems } from '../schemas/problem.js';
import { type OpsTasks, taskAnswer } from '../schemas/tasks.js';

/** How far the work is that other routes have started. A task is known to the process that runs it, until it ends. */
export function taskRoute(app: HttpApp, tasks: OpsTasks): void {
  app.get(
    '/ops/api/tasks/:id',
    {
      schema: {
        tags: ['operators'],
        summary: 'State and result of a task',
        params: z.strictObject({ id: z.uuid().describe('`task_id` of the answer that started it.') }),
        querystring: z.strictObject({}),
        response: { 200: taskAnswer, ...problems(404) },
      },
    },
    async ({ params: { id }, caller }) => tasks.get(caller, id),
  );
}
