import { setTimeout as sleep } from 'node:timers/promises';
import type { ReconcileQueue, ReconcileRequest } from '@sluice/core';
import type { Logger } from '@sluice/telemetry';
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { documentsWithWork } from './dedup-keys.js';
import { type StandingWorker, standingWorkers } from './heartbeat.js';
import { createJobAdder } from './job-adder.js';
import { RECONCILE_QUEUE, reconcileSchema } from './jobs.js';
import { type PendingDocument, pendingDocuments } from './pending-documents.js';
import { withRedis } from './redis.js';
import { freeStuckKeys } from './stuck-keys.js';

/** Jobs of one round trip; between two of them others get a turn. */
const SLICE = 500;
/** Failed jobs kept for an operator to see. Documents' own status is in the store. */
const KEEP_FAILED = { count: 2000, age: 7 * 24 * 3600 };
const BACK_PRESSURE_POLL_MS = 200;

export interface ReconcileQueueOptions {
  /** A producer's connection; stays its owner's to end. */
  redis: Redis;
  /** Prefix of the instance's keys. */
  namespace: string;
  /** Attempts of a document whose fault may pass, and milliseconds before the second; defaults 5 and 1000. */
  settings?: { attempts: number; backoffMs: number };
  /** addBulk of `bulk` requests waits while so many jobs wait or are delayed; default 100,000. */
  maxWaiting?: number;
  logger?: Logger;
}

export interface JobCounts {
  waiting: number;
  active: number;
  delayed: number;
  failed: number;
}

export interface FailedJob extends ReconcileRequest {
  id: string;
  reason: string;
  attemptsMade: number;
  /** Unix milliseconds. */
  failedAt: number;
}

/** The queue as producers and operators see it. Errors of every function: `queue_unavailable`. */
export interface ReconcileJobs extends ReconcileQueue {
  counts(): Promise<JobCounts>;
  /** True when no job waits, runs or is delayed. Jobs of a paused queue wait. */
  isIdle(): Promise<boolean>;
  /** Which of these documents a job waits, runs or is delayed for. */
  pending(docUuids: readonly string[]): Promise<Set<string>>;
  /** Documents with work, running ones first; at most `limit` (100). */
  pendingDocuments(filter?: { source?: string; limit?: number }): Promise<PendingDocument[]>;
  pause(): Promise<void>;
  resume(): Promise<void>;
  isPaused(): Promise<boolean>;
  /** Workers that are connected, but whose event loop has not turned for 15 s. */
  standingWorkers(): Promise<StandingWorker[]>;
  /** Newest first; at most `limit` (100). */
  failedJobs(limit?: number): Promise<FailedJob[]>;
  /** Frees documents whose key names a job that is in no list, and adds a job for each that can still be named. Returns the number freed. */
  freeStuckKeys(): Promise<number>;
  /** Removes every key of the namespace: jobs, fences, counters. */
  removeAll(): Promise<void>;
  close(): Promise<void>;
  /** For the operators' board. */
  readonly board: Queue;
}

/**
 * The queue of reconcile jobs: at most one job a document waits and one runs.
 *
 * An add while the document's job runs makes it run once more afterwards, whatever becomes of the first. An `interactive` add while
 * the job backs off replaces it and runs now; while a `bulk` job waits it moves that job forward. A `bulk` add never touches
 * another's job: one that waits, or will run again, sees the disk as it is then.
 */
export function createReconcileQueue(options: ReconcileQueueOptions): ReconcileJobs {
  const { redis, namespace, logger, maxWaiting = 100_000, settings = { attempts: 5, backoffMs: 1000 } } = options;
  const queue = new Queue(RECONCILE_QUEUE, {
    connection: redis,
    prefix: namespace,
    streams: { events: { maxLen: 1000 } },
    defaultJobOptions: {
      attempts: settings.attempts,
      backoff: { type: 'custom', delay: settings.backoffMs },
      removeOnComplete: true,
      removeOnFail: KEEP_FAILED,
    },
  });
  queue.on('error', (error) => logger?.debug({ err: error }, 'queue connection'));
  const prefix = queue.toKey('');
  const addJobs = createJobAdder(redis, namespace, queue);
  const guarded = <T>(work: () => Promise<T>) => withRedis(redis, work);

  async function counts(): Promise<JobCounts> {
    const found = await queue.getJobCounts('wait', 'prioritized', 'active', 'delayed', 'failed');
    return {
      waiting: (found.wait ?? 0) + (found.prioritized ?? 0),
      active: found.active ?? 0,
      delayed: found.delayed ?? 0,
      failed: found.failed ?? 0,
    };
  }

  async function isFull(): Promise<boolean> {
    const { waiting, delayed } = await counts();
    return waiting + delayed >= maxWaiting;
  }

  return {
    add: (request, urgency, { delayMs = 0 } = {}) => guarded(() => addJobs([request], urgency, delayMs)),
    async addBulk(requests, urgency, { delayMs = 0, signal } = {}) {
      for (let from = 0; from < requests.length; from += SLICE) {
        while (urgency === 'bulk' && (await guarded(isFull))) {
          await sleep(BACK_PRESSURE_POLL_MS, undefined, signal === undefined ? {} : { signal });
        }
        signal?.throwIfAborted();
        await guarded(() => addJobs(requests.slice(from, from + SLICE), urgency, delayMs));
      }
    },
    counts: () => guarded(counts),
    async isIdle() {
      const { waiting, active, delayed } = await guarded(counts);
      return waiting + active + delayed === 0;
    },
    pending: (docUuids) => guarded(() => documentsWithWork(redis, prefix, docUuids)),
    pendingDocuments: (filter) => guarded(() => pendingDocuments(redis, queue, filter)),
    pause: () => guarded(() => queue.pause()),
    resume: () => guarded(() => queue.resume()),
    isPaused: () => guarded(() => queue.isPaused()),
    standingWorkers: () => guarded(async () => standingWorkers(redis, namespace, await queue.getWorkers())),
    failedJobs: (limit = 100) =>
      guarded(async () => {
        const jobs = await queue.getFailed(0, limit - 1);
        return jobs.flatMap((job) => {
          const request = reconcileSchema.safeParse(job?.data).data;
          if (request === undefined) return [];
          const { failedReason, attemptsMade, finishedOn = 0 } = job;
          return [{ ...request, id: job.id ?? '', reason: failedReason, attemptsMade, failedAt: finishedOn }];
        });
      }),
    freeStuckKeys: () =>
      guarded(async () => {
        const { freed, requests } = await freeStuckKeys(redis, prefix);
        if (requests.length > 0) await addJobs(requests, 'bulk');
        return freed;
      }),
    removeAll: () =>
      guarded(async () => {
        for await (const keys of redis.scanStream({ match: `${namespace}:*`, count: 1000 }) as AsyncIterable<string[]>) {
          if (keys.length > 0) await redis.unlink(...keys);
        }
      }),
    close: () => queue.close(),
    board: queue,
  };
}
