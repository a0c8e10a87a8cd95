import { VERSION } from '@sluice/core';
import { z } from 'zod';
import type { App } from '../app.js';
import type { ApiDeps } from '../deps.js';
import type { Counter } from '../documents/counts.js';
import { problems } from '../schemas/problem.js';
import { statusAnswer } from '../schemas/status.js';

/** States of a job that is still work; failed and completed jobs are none. */
const WORK = new Set(['waiting', 'wait', 'active', 'delayed', 'prioritized', 'paused', 'waiting-children']);

export function isIdle(queues: Record<string, Record<string, number>>): boolean {
  return Object.values(queues).every((states) =>
    Object.entries(states).every(([state, count]) => count === 0 || !WORK.has(state)),
  );
}

const query = z.strictObject({
  fresh: z.enum(['true', 'false']).default('false').describe('Counts documents anew; else a count may be a second old.'),
});

export function statusRoute(app: App, deps: ApiDeps, counter: Counter): void {
  app.get(
    '/ops/api/status',
    {
      schema: {
        tags: ['operators'],
        summary: 'Processes, services, sources, queues',
        querystring: query,
        response: { 200: statusAnswer, ...problems() },
      },
    },
    async ({ query: { fresh }, caller }) => {
      // The queue before the store: a job that ends in between shows in what is counted after.
      const queues = await deps.queue.counts();
      const [counts, processes, addresses, paused, redis, weaviate] = await Promise.all([
        counter.count(caller, fresh === 'true' ? 0 : undefined),
        deps.processes(),
        deps.addresses(),
        deps.queue.isPaused(),
        stateOf(deps.queue.ping()),
        stateOf(deps.store.checkReady()),
      ]);
      const paths = new Map(deps.sources.map(({ name, path }) => [name, path]));
      const sources = await Promise.all(
        [...counts.sources].map(async ([name, documents]) => {
          const [state, scanned] = await Promise.all([deps.control.state(name), deps.control.scannedUpTo(name)]);
          return {
            name,
            path: paths.get(name) ?? '',
            configured: paths.has(name),
            reachable: state?.reachable ?? false,
            deletes_suspended: state?.deletes_suspended ?? false,
            documents,
            scanned,
          };
        }),
      );
      return {
        state: isIdle(queues) ? ('idle' as const) : ('working' as const),
        version: VERSION,
        processes,
        services: {
          redis: { url: addresses.redis, state: redis },
          weaviate: { url: addresses.weaviate, state: weaviate },
          api: { url: addresses.api, state: 'up' as const },
        },
        sources,
        queues,
        paused,
        dead_letters: [...counts.deadLetters.values()].reduce((sum, count) => sum + count, 0),
      };
    },
  );
}

async function stateOf(check: Promise<void>): Promise<'up' | 'down'> {
  return check.then(
    () => 'up',
    () => 'down',
  );
}
