import { z } from 'zod';
import type { ApiDeps } from '../deps.js';
import type { HttpApp } from '../http-app.js';
import { withoutPaths } from '../problems.js';
import { openProblems } from '../schemas/problem.js';

/** How long a check may take before it counts as failed. */
const CHECK_MS = 5_000;

const readyAnswer = z.object({
  status: z.enum(['ready', 'degraded', 'not_ready']),
  checks: z.record(z.string(), z.object({ ok: z.boolean(), detail: z.string().optional() })),
});

type Check = { ok: boolean; detail?: string };

export function healthRoutes(app: HttpApp, deps: ApiDeps): void {
  app.get(
    '/healthz',
    {
      config: { open: true },
      schema: {
        tags: ['health'],
        summary: 'The process lives',
        response: { 200: z.object({ status: z.literal('ok') }), ...openProblems() },
      },
    },
    async () => ({ status: 'ok' as const }),
  );

  app.get(
    '/readyz',
    {
      config: { open: true },
      schema: {
        tags: ['health'],
        summary: 'Redis, Weaviate, schema and model are usable',
        description:
          '`degraded` while queries are answered but Redis is away or no worker consumes jobs, or one has stood still for 15 s; 503 while they are not.',
        response: { 200: readyAnswer, 503: readyAnswer, ...openProblems() },
      },
    },
    async (_request, reply) => {
      const [redis, weaviate, schema, model, worker] = await Promise.all([
        check(() => deps.queue.ping()),
        check(() => deps.store.checkReady()),
        check(() => deps.store.ensureSchema()),
        check(() => deps.checkModel()),
        check(async () => {
          const [standing, ...others] = await deps.queue.standingWorkers();
          if (standing !== undefined) {
            const seconds = Math.max(...[standing, ...others].map((worker) => worker.seconds));
            const who = others.length === 0 ? 'a worker has' : `${others.length + 1} workers have`;
            throw new Error(`${who} stood still for ${seconds} s: "sluice status" tells which`);
          }
          if (!(await deps.queue.consuming())) throw new Error('jobs wait and no worker takes them');
        }),
      ]);
      const answers = weaviate.ok && schema.ok && model.ok;
      const status = !answers ? 'not_ready' : redis.ok && worker.ok ? 'ready' : 'degraded';
      return reply.code(answers ? 200 : 503).send({ status, checks: { redis, weaviate, schema, model, worker } });
    },
  );
}

async function check(run: () => Promise<void>): Promise<Check> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Check>((resolve) => {
    timer = setTimeout(() => resolve({ ok: false, detail: `no answer within ${CHECK_MS / 1000} s` }), CHECK_MS);
  });
  const ran = run().then(
    () => ({ ok: true }),
    (error: unknown) => ({ ok: false, detail: withoutPaths(error instanceof Error ? error.message : String(error)) }),
  );
  return Promise.race([ran, late]).finally(() => clearTimeout(timer));
}
