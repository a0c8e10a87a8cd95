import { type Caller, type CommitRecord, splitDocId } from '@sluice/core';
import { mayKnow, mayKnowOf } from '@sluice/retrieval';
import { z } from 'zod';
import type { ApiDeps } from '../deps.js';
import type { HttpApp } from '../http-app.js';
import { problems } from '../schemas/problem.js';
import { type OpsTasks, taskStarted } from '../schemas/tasks.js';

/** Compares disk, documents and chunks. Safe while the system runs; takes as long as a walk over everything. */
export function verifyRoute(app: HttpApp, deps: ApiDeps, tasks: OpsTasks): void {
  app.post(
    '/ops/api/verify',
    {
      schema: {
        tags: ['operators'],
        summary: 'Compare disk, documents and chunks',
        description:
          'Starts a task, whose result is the report. The numbers are those of the whole store; `examples` name what the caller may know of.',
        body: z.strictObject({ repair: z.boolean().default(false).describe('Has what differs put right. Default false.') }),
        response: { 202: taskStarted, ...problems() },
      },
    },
    async ({ body: { repair }, caller }, reply) => {
      const started = tasks.start(caller, (onProgress) =>
        deps.verify({ repair, mayName: ({ docId, records }) => mayName(deps, caller, docId, records), onProgress }),
      );
      return reply.code(202).send(started);
    },
  );
}

function mayName(
  { accessOfNewFile }: Pick<ApiDeps, 'accessOfNewFile'>,
  caller: Caller,
  docId: string,
  records: readonly CommitRecord[],
): boolean | Promise<boolean> {
  if (records.length > 0) return mayKnow(caller, records);
  const { source, sourcePath } = splitDocId(docId);
  return accessOfNewFile(source, sourcePath).then((access) => mayKnowOf(caller, source, access));
}
