import { Gauge, Registry } from 'prom-client';
import { z } from 'zod';
import { requireOperator } from '../access.js';
import type { App } from '../app.js';
import type { ApiDeps } from '../deps.js';
import type { Counter } from '../documents/counts.js';
import { problems } from '../schemas/problem.js';

/** The whole instance's metrics; what the store and the queue know is counted when asked. */
export function metricsRoute(app: App, deps: ApiDeps, counter: Counter): void {
  // Of their own: in the process' registry they would be in its snapshot too, and be counted twice after a restart.
  const registry = new Registry();
  const registers = [registry];
  const documents = new Gauge({
    name: 'sluice_documents',
    help: 'Documents by source and status.',
    labelNames: ['source', 'status'],
    registers,
  });
  const jobs = new Gauge({
    name: 'sluice_queue_jobs',
    help: 'Jobs by queue and state.',
    labelNames: ['queue', 'state'],
    registers,
  });
  const dead = new Gauge({ name: 'sluice_dead_letters', help: 'Dead letters by reason.', labelNames: ['code'], registers });

  /** A service that is away leaves its gauges out: a stale number would look true. */
  async function refresh(): Promise<void> {
    documents.reset();
    jobs.reset();
    dead.reset();
    await counter.count().then(
      ({ sources, deadLetters }) => {
        for (const [source, counts] of sources) {
          for (const [status, count] of Object.entries(counts)) documents.set({ source, status }, count);
        }
        for (const [code, count] of deadLetters) dead.set({ code }, count);
      },
      (error: unknown) => deps.logger.warn({ err: error }, 'documents could not be counted for metrics'),
    );
    await deps.queue.counts().then(
      (queues) => {
        for (const [queue, states] of Object.entries(queues)) {
          for (const [state, count] of Object.entries(states)) jobs.set({ queue, state }, count);
        }
      },
      (error: unknown) => deps.logger.warn({ err: error }, 'jobs could not be counted for metrics'),
    );
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
