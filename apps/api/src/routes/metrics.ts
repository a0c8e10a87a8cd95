import { Gauge, Registry } from 'prom-client';
import { z } from 'zod';
import { requireOperator } from '../access.js';
import type { App } from '../app.js';
import type { ApiDeps } from '../deps.js';
import type { Counter } from '../documents/counts.js';
import { problems } from '../schemas/problem.js';

/** The whole instance's metrics; what the store, the queue and the watcher know is asked when it is wanted. */
export function metricsRoute(app: App, deps: ApiDeps, counter: Counter): void {
  // Of their own: in the process' registry they would be in its snapshot too, and be counted twice after a restart.
  const registry = new Registry();
  const gauge = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Gauge({ name: `sluice_${name}`, help, labelNames, registers: [registry] });
  const documents = gauge('documents', 'Documents by source and status.', 'source', 'status');
  const dead = gauge('dead_letters', 'Dead letters by reason.', 'code');
  const jobs = gauge('queue_jobs', 'Jobs by queue and state.', 'queue', 'state');
  const paused = gauge('queue_paused', '1 while an operator has paused the queue.');
  const consuming = gauge('worker_consuming', '0 when jobs wait and no worker takes them.');
  const up = gauge('service_up', '1 when the service answers and takes writes.', 'service');
  const reachable = gauge('source_reachable', '1 when the folder of a source can be read.', 'source');
  const suspended = gauge('source_deletes_suspended', '1 while deletes are suspended, since the folder is lost.', 'source');

  /** What does not answer leaves its gauges out: a stale number would look true. */
  async function ask(gauges: readonly Gauge[], what: string, read: () => Promise<void>): Promise<void> {
    for (const each of gauges) each.reset();
    // After a reset these two, which have no labels, would be 0.
    for (const each of [paused, consuming]) if (gauges.includes(each)) each.remove();
    await read().catch((error: unknown) => deps.logger.warn({ err: error }, `${what} could not be read for metrics`));
  }

  async function refresh(): Promise<void> {
    await Promise.all([
      ask([documents, dead], 'documents', async () => {
        const { sources, deadLetters } = await counter.count();
        for (const [source, counts] of sources) {
          for (const [status, count] of Object.entries(counts)) documents.set({ source, status }, count);
        }
        for (const [code, count] of deadLetters) dead.set({ code }, count);
      }),
      ask([jobs, paused, consuming], 'the queue', async () => {
        const [queues, isPaused, isConsuming] = await Promise.all([
          deps.queue.counts(),
          deps.queue.isPaused(),
          deps.queue.consuming(),
        ]);
        for (const [queue, states] of Object.entries(queues)) {
          for (const [state, count] of Object.entries(states)) jobs.set({ queue, state }, count);
        }
        paused.set(Number(isPaused));
        consuming.set(Number(isConsuming));
      }),
      ask([reachable, suspended], "the sources' state", async () => {
        for (const { name: source } of deps.sources) {
          // Undefined: no watcher has spoken for a minute, so nothing is known.
          const state = await deps.control.state(source);
          if (state === undefined) continue;
          reachable.set({ source }, Number(state.reachable));
          suspended.set({ source }, Number(state.deletes_suspended));
        }
      }),
      ask([up], 'services', async () => {
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
  }

  app.get(
    '/metrics',
    {
      onRequest: requireOperator,
      schema: {
        tags: ['health'],
        summary: 'Metrics of all processes, in Prometheus text format',
        response: {
          200: { description: 'Prometheus text format.', content: { 'text/plain': { schema: z.string() } } },
          ...problems(),
        },
      },
    },
    async (_request, reply) => {
      await refresh();
      const text = `${await deps.instanceMetrics()}\n${await registry.metrics()}`;
      return reply.type('text/plain; version=0.0.4; charset=utf-8').send(text);
    },
  );
}
