import { z } from 'zod';
import type { ApiDeps } from '../deps.js';
import type { HttpApp } from '../http-app.js';
import { withoutPaths } from '../problems.js';
import { openProblems } from '../schemas/problem.js';

/** How long a check may take before it counts as failed. */
const CHECK_MS = 5_000;

const readyAnswer = z.object({
  status: z.enum(['ready', 'degraded', 'not_ready']).describe('`not_ready` is answered 503, the others 200.'),
  checks: z
    .record(
      z.string(),
      z.object({
        ok: z.boolean().describe('Whether the part is usable.'),
        detail: z.string().optional().describe('What is wrong, where something is.'),
      }),
    )
    .describe('By part: `redis`, `weaviate`, `schema`, `model`, `worker`. An answer may be a second old.'),
});

/** How long an answer serves, ms. A start asks often, and must learn soon that all is ready. */
const FRESH_MS = 1_000;
const NOT_READY_FRESH_MS = 100;

type Readiness = z.infer<typeof readyAnswer>;
type Check = { ok: boolean; detail?: string };

export function healthRoutes(app: HttpApp, deps: ApiDeps): void {
  const readiness = createReadiness(deps);
  app.get(
    '/healthz',
    {
      config: { open: true },
      schema: {
        tags: ['health'],
        summary: 'The process lives',
        response: {
          200: z.object({ status: z.literal('ok').describe('Always `ok`: it says that the process answers.') }),
          ...openProblems(),
        },
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
          '`degraded` while queries are answered but Redis is away, the model is (hybrid search uses words alone), no worker consumes jobs, or one has stood still for 15 s; 503 while they are not.',
        response: { 200: readyAnswer, 503: readyAnswer, ...openProblems() },
      },
    },
    async (_request, reply) => {
      const answer = await readiness();
      return reply.code(answer.status === 'not_ready' ? 503 : 200).send(answer);
    },
  );
}

/** Answers of one check serve everybody who asks meanwhile, and for a while after: whoever reaches the server may ask. */
function createReadiness(deps: ApiDeps): () => Promise<Readiness> {
  let last: { at: number; answer: Readiness } | undefined;
  let running: Promise<Readiness> | undefined;

  async function run(): Promise<Readiness> {
    const answer = await checkAll(deps);
    last = { at: deps.clock.monotonic(), answer };
    return answer;
  }

  return () => {
    const freshMs = last?.answer.status === 'not_ready' ? NOT_READY_FRESH_MS : FRESH_MS;
    if (last !== undefined && deps.clock.monotonic() - last.at < freshMs) return Promise.resolve(last.answer);
    running ??= run().finally(() => {
      running = undefined;
    });
    return running;
  };
}

async function checkAll(deps: ApiDeps): Promise<Readiness> {
  const [redis, weaviate, schema, model, worker] = await Promise.all([
    check(() => deps.queue.ping()),
    check(() => deps.store.checkReady()),
    check(() => deps.store.checkSchema()),
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
  const answers = weaviate.ok && schema.ok;
  const status = !answers ? 'not_ready' : redis.ok && worker.ok && model.ok ? 'ready' : 'degraded';
  return { status, checks: { redis, weaviate, schema, model, worker } };
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
