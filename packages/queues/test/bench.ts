import { randomUUID } from 'node:crypto';
import { docUuid, makeDocId, type ReconcileRequest } from '@sluice/core';
import { testServices, until } from '@sluice/testkit';
import type { Redis } from 'ioredis';
import {
  createReconcileQueue,
  createReconcileWorker,
  createRedis,
  type JobContext,
  type ReconcileJobs,
  type ReconcileQueueOptions,
  type ReconcileWorker,
  type ReconcileWorkerOptions,
} from '../src/index.js';

/** A queue of its own in the given Redis, with workers; `end()` removes all of it. */
export interface Bench {
  namespace: string;
  redis: Redis;
  queue: ReconcileJobs;
  /** Starts a worker. */
  work(handle: ReconcileWorkerOptions['handle'], options?: Partial<ReconcileWorkerOptions>): Promise<ReconcileWorker>;
  end(): Promise<void>;
}

export function createBench(options: Partial<ReconcileQueueOptions> & { url?: string } = {}): Bench {
  const url = options.url ?? testServices().redis;
  const namespace = `test-${randomUUID()}`;
  const redis = createRedis({ url, role: 'producer' });
  const queue = createReconcileQueue({ redis, namespace, settings: { attempts: 3, backoffMs: 20 }, ...options });
  const workers: ReconcileWorker[] = [];
  return {
    namespace,
    redis,
    queue,
    async work(handle, more = {}) {
      const worker = createReconcileWorker({ url, namespace, concurrency: 4, handle, ...more });
      workers.push(worker);
      await worker.start();
      return worker;
    },
    async end() {
      await Promise.all(workers.map((worker) => worker.stop({ deadlineMs: 0 })));
      await queue.removeAll();
      await queue.close();
      redis.disconnect();
    },
  };
}

export const request = (path: string, more: Partial<ReconcileRequest> = {}): ReconcileRequest => ({
  source: 'inbox',
  path,
  cause: 'change',
  ...more,
});

export const uuidOf = (path: string, source = 'inbox') => docUuid(makeDocId(source, path));

/** A handler whose runs the test ends one by one. */
export interface Run {
  request: ReconcileRequest;
  context: JobContext;
  succeed(): void;
  fail(error: unknown): void;
}

export function createRuns(): { handle: ReconcileWorkerOptions['handle']; runs: Run[]; next(): Promise<Run> } {
  const runs: Run[] = [];
  let taken = 0;
  return {
    runs,
    handle: (job, context) =>
      new Promise((resolve, reject) => {
        runs.push({ request: job, context, succeed: resolve, fail: reject });
        context.signal.addEventListener('abort', () => reject(context.signal.reason));
      }),
    async next() {
      const index = taken++;
      await until(() => runs.length > index);
      const run = runs[index];
      if (run === undefined) throw new Error('no run');
      return run;
    },
  };
}
