import { type Caller, SluiceError } from '@sluice/core';
import { mayReach } from '@sluice/metadata';
import { mayKnow } from '@sluice/retrieval';
import { z } from 'zod';
import type { ApiDeps } from '../deps.js';
import { listDocuments } from '../documents/list.js';
import type { HttpApp } from '../http-app.js';
import { problems } from '../schemas/problem.js';
import { type OpsTasks, taskStarted } from '../schemas/tasks.js';

const sourceName = z.string().min(1).max(200).describe('Name of the source.');

/** Work on whole sources. */
export function sourceRoutes(app: HttpApp, deps: ApiDeps, tasks: OpsTasks): void {
  const configured = new Set(deps.sources.map(({ name }) => name));

  function refuseConfigured(caller: Caller, source: string): void {
    if (!configured.has(source) || !mayReach(caller, source)) return;
    throw new SluiceError('conflict', `${source} is still configured: take it out of the configuration and restart first.`);
  }

  async function remove(caller: Caller, source: string): Promise<number> {
    const removed = await deps.removeSource(source, (records) => mayKnow(caller, records));
    if (removed === 0) throw new SluiceError('not_found', `No documents of a source ${source}.`);
    return removed;
  }

  app.post(
    '/ops/api/sources/remove',
    {
      schema: {
        tags: ['operators'],
        summary: 'Remove the documents of a source that is no longer configured',
        description: 'Starts a task. Documents that the caller may not know of stay, and are not counted.',
        body: z.strictObject({ source: sourceName }),
        response: { 202: taskStarted, ...problems(409) },
      },
    },
    async ({ body: { source }, caller }, reply) => {
      refuseConfigured(caller, source);
      return reply.code(202).send(tasks.start(caller, async () => ({ removed: await remove(caller, source) })));
    },
  );

  app.delete(
    '/ops/api/sources/:name',
    {
      schema: {
        tags: ['operators'],
        summary: 'Remove the documents of a source that is no longer configured, and answer when it is done',
        description: 'Documents that the caller may not know of stay.',
        params: z.strictObject({ name: sourceName }),
        response: { 204: z.null().describe('Removed.'), ...problems(404, 409) },
      },
    },
    async ({ params: { name }, caller }, reply) => {
      refuseConfigured(caller, name);
      await remove(caller, name);
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/ops/api/reindex',
    {
      schema: {
        tags: ['operators'],
        summary: 'Read, chunk and embed documents again, changed or not',
        body: z.strictObject({ source: sourceName.optional().describe('Name of a configured source. Default: all of them.') }),
        response: { 202: z.object({ documents: z.int().describe('Documents that were queued.') }), ...problems(404) },
      },
    },
    async ({ body: { source }, caller }, reply) => {
      if (source !== undefined && !(configured.has(source) && mayReach(caller, source)))
        throw new SluiceError('not_found', `No source ${source} is configured.`);
      const { listed } = await listDocuments(deps, {
        caller,
        limit: Number.MAX_SAFE_INTEGER,
        accept: (document) => configured.has(document.source) && (source === undefined || document.source === source),
      });
      const requests = listed.map(({ source: name, path }) => ({
        source: name,
        path,
        cause: 'config' as const,
        force: 'rebuild' as const,
      }));
      if (requests.length > 0) await deps.queue.addBulk(requests, 'bulk');
      // Who names the source has looked at it: deletes that were suspended, since its folder is another one than before, go on.
      if (source !== undefined) {
        await deps.control.acceptRoot(source);
        await deps.control.requestScan(source);
      }
      return reply.code(202).send({ documents: requests.length });
    },
  );
}
