import { type Caller, VERSION } from '@sluice/core';
import { mayReach } from '@sluice/metadata';
import { z } from 'zod';
import type { ApiDeps, SourceState } from '../deps.js';
import type { Counter } from '../documents/counts.js';
import type { HttpApp } from '../http-app.js';
import { problems } from '../schemas/problem.js';
import { statusAnswer } from '../schemas/status.js';

/** States of a job that is still work; failed and completed jobs are none. */
const WORK = new Set(['waiting', 'wait', 'active', 'delayed', 'prioritized', 'paused', 'waiting-children']);

function isIdle(queues: Record<string, Record<string, number>>): boolean {
  return Object.values(queues).every((states) =>
    Object.entries(states).every(([state, count]) => count === 0 || !WORK.has(state)),
  );
}

const query = z.strictObject({
  fresh: z.enum(['true', 'false']).default('false').describe('Counts documents again; else a count may be a second old.'),
});

export function statusRoute(app: HttpApp, deps: ApiDeps, counter: Counter): void {
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
    async ({ query: { fresh }, caller, log }) => {
      /** While a service is away the rest is still told; `services` says which one it is. */
      const known = <T, F>(asked: Promise<T>, fallback: F): Promise<T | F> =>
        asked.catch((error: unknown) => {
          log.warn({ err: error }, 'a part of the status is not known');
          return fallback;
        });
      // Scans, then the queue, then the store: a scan that counts as done has its jobs in the queue as read after it, and a job
      // that has left the queue has its commit in what is counted last. `status --wait` stands on this order.
      const states = await known(sourceStates(deps), new Map<string, never>());
      const queues = await known(deps.queue.counts(), undefined);
      const [counts, processes, addresses, paused, standing, redis, weaviate] = await Promise.all([
        known(counter.count(caller, fresh === 'true' ? 0 : undefined), {
          sources: noCounts(deps, caller),
          deadLetters: new Map(),
        }),
        deps.processes(),
        deps.addresses(),
        known(deps.queue.isPaused(), false),
        known(deps.queue.standingWorkers(), []),
        stateOf(deps.queue.ping()),
        stateOf(deps.store.checkReady()),
      ]);
      const paths = new Map(deps.sources.map(({ name, path }) => [name, path]));
      const sources = [...counts.sources].map(([name, documents]) => ({
        name,
        path: paths.get(name) ?? '',
        configured: paths.has(name),
        // Before the watcher has spoken nothing is known to be wrong.
        reachable: states.get(name)?.reachable ?? true,
        deletes_suspended: states.get(name)?.deletes_suspended ?? false,
        documents,
        scanned: states.get(name)?.scanned ?? 0,
      }));
      return {
        // With Redis away nobody knows, and waiting for idleness must not end.
        state: queues !== undefined && isIdle(queues) ? ('idle' as const) : ('working' as const),
        version: VERSION,
        processes,
        ...(standing.length === 0 ? {} : { standing_workers: standing }),
        services: {
          redis: { url: addresses.redis, state: redis },
          weaviate: { url: addresses.weaviate, state: weaviate },
          api: { url: addresses.api, state: 'up' as const },
        },
        sources,
        queues: queues ?? {},
        paused,
        dead_letters: [...counts.deadLetters.values()].reduce((sum, count) => sum + count, 0),
      };
    },
  );
}

async function sourceStates({ sources, control }: ApiDeps) {
  const states = new Map<string, SourceState & { scanned: number }>();
  for (const { name } of sources) {
    const scanned = await control.scannedUpTo(name);
    const state = await control.state(name);
    states.set(name, { reachable: state?.reachable ?? true, deletes_suspended: state?.deletes_suspended ?? false, scanned });
  }
  return states;
}

function noCounts({ sources }: ApiDeps, caller: Caller) {
  const reached = sources.filter(({ name }) => mayReach(caller, name));
  return new Map(reached.map(({ name }) => [name, { indexed: 0, pending: 0, empty: 0, failed: 0, skipped: 0 }]));
}

async function stateOf(check: Promise<void>): Promise<'up' | 'down'> {
  return check.then(
    () => 'up',
    () => 'down',
  );
}
