import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReconcileQueue, ReconcileRequest, Urgency } from '@sluice/core';
import type { Logger } from '@sluice/telemetry';
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { documentsWithWork, willBegin } from './dedup-keys.js';
import { reservePriorities, urgencyOf } from './fairness.js';
import { forceNotes } from './force-notes.js';
import { type StandingWorker, standingWorkers } from './heartbeat.js';
import { documentOf, jobDataOf, makeJobId, partsOfJobId, RECONCILE_QUEUE, reconcileSchema } from './jobs.js';
import { withRedis } from './redis.js';
import { freeStuckKeys } from './stuck-keys.js';

/** Jobs of one round trip; between two of them others get a turn. */
const SLICE = 500;
/** Failed jobs kept for an operator to see. Documents' own status is in the store. */
const KEEP_FAILED = { count: 2000, age: 7 * 24 * 3600 };
const LISTS = ['active', 'wait', 'prioritized', 'delayed'] as const;
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

export interface PendingDocument extends ReconcileRequest {
  docId: string;
  state: 'active' | 'waiting' | 'delayed';
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
  const places = { prioritized: queue.toKey('prioritized'), namespace };
  const prefix = queue.toKey('');
  const notes = forceNotes(redis, namespace);
  const guarded = <T>(work: () => Promise<T>) => withRedis(redis, work);

  async function addSlice(requests: readonly ReconcileRequest[], urgency: Urgency, delayMs = 0): Promise<void> {
    let wanted = requests.map((request) => ({ request: jobDataOf(request), uuid: documentOf(request).uuid }));
    await Promise.all(requests.flatMap(({ force }, index) => (force ? [notes.leave(wanted[index]?.uuid ?? '', force)] : [])));
    if (urgency === 'bulk') {
      const covered = await willBegin(
        redis,
        prefix,
        wanted.map((one) => one.uuid),
      );
      wanted = wanted.filter((_, index) => !covered[index]);
    }
    if (wanted.length === 0) return;
    const priorities = await prioritiesOf(
      wanted.map((one) => flowOf(one.request)),
      urgency,
    );
    const jobs = await queue.addBulk(
      wanted.map(({ request, uuid }, index) => ({
        name: RECONCILE_QUEUE,
        data: request,
        opts: {
          jobId: makeJobId(request.source, uuid, randomBytes(6).toString('hex')),
          priority: priorities[index] ?? 1,
          delay: delayMs,
          deduplication: { id: uuid, replace: urgency === 'interactive', keepLastIfActive: true },
        },
      })),
    );
    if (urgency === 'interactive') await Promise.all(jobs.map((job, index) => raise(job, priorities[index] ?? 1)));
  }

  /** Moves a job that absorbed an urgent add forward: BullMQ ignores the priority of an add that it absorbs. */
  async function raise(job: Awaited<ReturnType<typeof queue.add>>, priority: number): Promise<void> {
    if (job.id === job.opts.jobId || job.id === undefined) return;
    const score = await redis.zscore(places.prioritized, job.id);
    if (score === null || urgencyOf(Math.floor(Number(score) / 2 ** 32)) !== 'bulk') return;
    await job.changePriority({ priority });
  }

  async function prioritiesOf(flows: string[], urgency: Urgency): Promise<number[]> {
    const indexes = new Map<string, number[]>();
    for (const [index, flow] of flows.entries()) {
      const list = indexes.get(flow);
      if (list === undefined) indexes.set(flow, [index]);
      else list.push(index);
    }
    const priorities = new Array<number>(flows.length).fill(1);
    for (const [flow, list] of indexes) {
      const reserved = await reservePriorities(redis, places, { flow, urgency, count: list.length });
      for (const [n, index] of list.entries()) priorities[index] = reserved[n] ?? 1;
    }
    return priorities;
  }

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

  /** Ids of all jobs that are not finished, by list, without reading a job. */
  async function idsByList(): Promise<{ state: PendingDocument['state']; ids: string[] }[]> {
    const ids = await Promise.all(
      LISTS.map((list) => {
        const key = queue.toKey(list);
        return list === 'active' || list === 'wait' ? redis.lrange(key, 0, -1) : redis.zrange(key, '0', '-1');
      }),
    );
    return LISTS.map((list, index) => ({
      state: list === 'active' || list === 'delayed' ? list : 'waiting',
      ids: ids[index] ?? [],
    }));
  }

  return {
    add: (request, urgency, { delayMs = 0 } = {}) => guarded(() => addSlice([request], urgency, delayMs)),
    async addBulk(requests, urgency, { delayMs = 0, signal } = {}) {
      for (let from = 0; from < requests.length; from += SLICE) {
        while (urgency === 'bulk' && (await guarded(isFull))) {
          await sleep(BACK_PRESSURE_POLL_MS, undefined, signal === undefined ? {} : { signal });
        }
        signal?.throwIfAborted();
        await guarded(() => addSlice(requests.slice(from, from + SLICE), urgency, delayMs));
      }
    },
    counts: () => guarded(counts),
    async isIdle() {
      const { waiting, active, delayed } = await guarded(counts);
      return waiting + active + delayed === 0;
    },
    pending: (docUuids) => guarded(() => documentsWithWork(redis, prefix, docUuids)),
    pendingDocuments: ({ source, limit = 100 } = {}) =>
      guarded(async () => {
        const found: PendingDocument[] = [];
        for (const { state, ids } of await idsByList()) {
          const wanted = ids.filter((id) => source === undefined || partsOfJobId(id)?.source === source);
          const taken = wanted.slice(0, limit - found.length);
          for (let from = 0; from < taken.length; from += SLICE) {
            const batch = redis.pipeline();
            for (const id of taken.slice(from, from + SLICE)) batch.hget(`${prefix}${id}`, 'data');
            for (const [error, data] of (await batch.exec()) ?? []) {
              if (error !== null) throw error;
              // A job that ended meanwhile has no data any more.
              const request = typeof data === 'string' ? reconcileSchema.safeParse(JSON.parse(data)).data : undefined;
              if (request !== undefined) found.push({ ...request, docId: documentOf(request).docId, state });
            }
          }
        }
        return found;
      }),
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
        if (requests.length > 0) await addSlice(requests, 'bulk');
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

/** What takes turns with others: of a source edits, new files, removals, and what scans found, so that thousands of one kind hold up no other. */
function flowOf({ source, cause }: ReconcileRequest): string {
  switch (cause) {
    case 'change':
    case 'unlink':
      return `${source}/${cause}`;
    // The old places of what was moved come behind the new ones, in one flow.
    case 'add':
    case 'rename':
      return `${source}/add`;
    default:
      return source;
  }
}
