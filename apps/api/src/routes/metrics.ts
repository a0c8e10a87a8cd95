import type { Caller } from '@sluice/core';
import { mayReach } from '@sluice/metadata';
import { Gauge, Registry } from 'prom-client';
import { z } from 'zod';
import { requireOperator } from '../access.js';
import type { ApiDeps } from '../deps.js';
import type { Counter } from '../documents/counts.js';
import type { HttpApp } from '../http-app.js';
import { problems } from '../schemas/problem.js';

/** The whole instance's metrics; what the store, the queue and the watcher know is asked when it is wanted. */
export function metricsRoute(app: HttpApp, deps: ApiDeps, counter: Counter): void {
  app.get(
    '/metrics',
    {
      onRequest: async (request) => {
        if (request.caller.role !== 'metrics') await requireOperator(request);
      },
      schema: {
        tags: ['health'],
        summary: 'Metrics of all processes, in Prometheus text format',
        description: '`sluice_documents` and `sluice_dead_letters` count what the caller may know of.',
        response: {
          200: { description: 'Prometheus text format.', content: { 'text/plain': { schema: z.string() } } },
          ...problems(),
        },
      },
    },
    async ({ caller }, reply) => {
      const asked = await askedMetrics(deps, counter, caller);
      const text = `${await deps.instanceMetrics()}\n${await asked.metrics()}`;
      return reply.type('text/plain; version=0.0.4; charset=utf-8').send(text);
    },
  );
}

/** Gauges of what is asked for this very answer: made again each time, since callers may know of different documents. */
async function askedMetrics(deps: ApiDeps, counter: Counter, caller: Caller): Promise<Registry> {
  // Of their own: in the process' registry they would be in its snapshot too, and be counted twice after a restart.
  const registry = new Registry();
  const gauge = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Gauge({ name: `sluice_${name}`, help, labelNames, registers: [registry] });
  const documents = gauge('documents', 'Documents by source and status.', 'source', 'status');
  const dead = gauge('dead_letters', 'Dead letters by reason.', 'code');
  const jobs = gauge('queue_jobs', 'Jobs by queue and state.', 'queue', 'state');
  const paused = gauge('queue_paused', '1 while an operator has paused the queue.');
  const consuming = gauge('worker_consuming', '0 when jobs wait and no worker takes them.');
  const standing = gauge('workers_standing', 'Workers that are connected, but have stood still for 15 s or more.');
  const up = gauge('service_up', '1 when the service answers and takes writes.', 'service');
  const reachable = gauge('source_reachable', '1 when the folder of a source can be read.', 'source');
  const suspended = gauge('source_deletes_suspended', '1 while deletes are suspended, since the folder is lost.', 'source');
  // A gauge without labels begins at 0, which nobody has said.
  for (const each of [paused, consuming, standing]) each.remove();

  /** What does not answer leaves its gauges out: a number that nobody told would look true. */
  const ask = (what: string, read: () => Promise<void>) =>
    read().catch((error: unknown) => deps.logger.warn({ err: error }, `${what} could not be read for metrics`));

  await Promise.all([
    ask('documents', async () => {
      const { sources, deadLetters } = await counter.count(caller);
      for (const [source, counts] of sources) {
        for (const [status, count] of Object.entries(counts)) documents.set({ source, status }, count);
      }
      for (const [code, count] of deadLetters) dead.set({ code }, count);
    }),
    ask('the queue', async () => {
      const [queues, isPaused, isConsuming, standingWorkers] = await Promise.all([
        deps.queue.counts(),
        deps.queue.isPaused(),
        deps.queue.consuming(),
        deps.queue.standingWorkers(),
      ]);
      for (const [queue, states] of Object.entries(queues)) {
        for (const [state, count] of Object.entries(states)) jobs.set({ queue, state }, count);
      }
      paused.set(Number(isPaused));
      consuming.set(Number(isConsuming));
      standing.set(standingWorkers.length);
    }),
    ask("the sources' state", async () => {
      for (const { name: source } of deps.sources.filter(({ name }) => mayReach(caller, name))) {
        // Undefined: no watcher has spoken for a minute, so nothing is known.
        const state = await deps.control.state(source);
        if (state === undefined) continue;
        reachable.set({ source }, Number(state.reachable));
        suspended.set({ source }, Number(state.deletes_suspended));
      }
    }),
    ask('services', async () => {
      const answers = (check: Promise<void>) =>
        check.then(
          () => 1,
          () => 0,
        );
      const [redis, weaviate] = await Promise.all([answers(deps.queue.ping()), answers(deps.store.checkReady())]);
      up.set({ service: 'redis' }, redis);
      up.set({ service: 'weaviate' }, weaviate);
    }),
  ]);
  return registry;
}
