import { type ReconcileRequest, SluiceError } from '@sluice/core';
import type { Logger } from '@sluice/telemetry';
import { Worker, type WorkerOptions } from 'bullmq';
import { type AdmissionLimits, createAdmission } from './admission.js';
import { backoffMs } from './backoff.js';
import { createCrashCounter } from './crash-counter.js';
import { keepBringingForward } from './delayed-jobs.js';
import { createHeartbeat, workerName } from './heartbeat.js';
import { createJobRunner, type HandleJob, type JobRunner } from './job-runner.js';
import { RECONCILE_QUEUE } from './jobs.js';
import { createOutages } from './outages.js';
import { createRedis } from './redis.js';

/** BullMQ fails a job for good once its worker was lost this often; crashes are counted per document instead. */
const NO_STALL_LIMIT = 1_000_000;
/** Time that handlers have to end after their signal, and that BullMQ has to note the end. */
const ABORT_GRACE_MS = 2000;

export interface ReconcileWorkerOptions {
  url: string;
  /** Prefix of the instance's keys. */
  namespace: string;
  /** Documents at a time. */
  concurrency: number;
  handle: HandleJob;
  /**
   * Rejects while the store does not answer. With it a `store_unavailable` is checked: if the store is away for everyone, the
   * worker takes no jobs until it is back, and what it held waits with its attempts unspent; if the store answers, the fault is
   * the document's and counts, unless the store refuses one document after the other: that is held like an outage.
   */
  probeStore?: () => Promise<void>;
  /** The same for an embedding endpoint: rejects while it does not answer. An `embed_failed` that may pass is checked with it. */
  probeEmbedder?: () => Promise<void>;
  /**
   * Bounds the bytes of the files that are worked on at a time, and the slots that large ones take. A document that does not fit gives
   * its slot back, no attempt spent, and comes again in its turn. Default: no bound but `concurrency`.
   */
  inFlight?: AdmissionLimits;
  settings?: {
    /** A worker that is silent for this long loses its jobs; default 30 s. */
    lockMs?: number;
    /** How often lost jobs are looked for; default 15 s. */
    stalledMs?: number;
    /** First pause of an outage, and first wait of a job that spends no attempt; default 1 s. */
    outageMs?: number;
    /** How often delayed jobs are looked for that would wait longer than their delay, since a clock was set back; default 5 s. */
    delayedMs?: number;
    /** How long a document that did not fit waits at most when the worker that would call it is gone; default 30 s and more. */
    heldMs?: number;
  };
  logger?: Logger;
}

export interface WorkerHealth {
  /** It takes jobs, or would if there were any. */
  consuming: boolean;
  active: number;
  /** Unix milliseconds since which the store or the embedding endpoint is away. */
  outageSince?: number;
}

export interface ReconcileWorker {
  start(): Promise<void>;
  /**
   * Takes no more jobs and lets the running ones end; at the deadline (10 s) aborts them, and gives back, unspent, those that don't
   * end. Never takes longer than the deadline and some 5 s.
   */
  stop(options?: { deadlineMs?: number }): Promise<void>;
  /**
   * A document that is worked on turns out slow: from now on it counts as large. Where large ones have no room for it its signal is
   * aborted, and it comes again in its turn, no attempt spent. Without `inFlight` it goes on.
   */
  slow(docId: string): void;
  health(): WorkerHealth;
}

/** Runs reconcile jobs. Errors of start: none while Redis is away; it waits for it. */
export function createReconcileWorker(options: ReconcileWorkerOptions): ReconcileWorker {
  const { namespace, logger, settings = {} } = options;
  const onError = (error: Error) => logger?.debug({ err: error }, 'redis connection');
  const redis = createRedis({ url: options.url, role: 'worker', onError });
  const crashes = createCrashCounter(redis, namespace, onError);
  const name = workerName();
  const heartbeat = createHeartbeat(redis, { namespace, name, onError });
  const stopped = new AbortController();
  let stopping = false;

  // Three parameters without defaults: BullMQ makes signals only for processors whose length is 3.
  const process: JobRunner['run'] = (job, token, signal) => runner.run(job, token, signal);
  const worker: Worker<ReconcileRequest | undefined, void> = new Worker(RECONCILE_QUEUE, process, {
    ...{ connection: redis, name },
    ...workerOptions(options),
  });
  worker.on('error', onError);
  worker.on('lockRenewalFailed', (ids) => {
    for (const id of ids) worker.cancelJob(id, 'the job was given to another worker');
  });
  const admission = createAdmission({
    redis,
    toKey: (key) => worker.toKey(key),
    concurrency: options.concurrency,
    limits: options.inFlight,
    heldMs: settings.heldMs,
    isStopping: () => stopping,
    cancel: (id, reason) => worker.cancelJob(id, reason),
  });
  const outages = createOutages(
    [
      { code: 'store_unavailable', service: 'store', probe: options.probeStore },
      { code: 'embed_failed', service: 'embedding endpoint', probe: options.probeEmbedder },
    ],
    {
      hold: () => worker.pause(true),
      release() {
        if (!stopping) void worker.resume();
      },
      ...(logger && { logger }),
      ...(settings.outageMs !== undefined && { firstWaitMs: settings.outageMs }),
    },
  );

  const runner = createJobRunner({
    ...{ redis, namespace, crashes, admission, outages, handle: options.handle, isStopping: () => stopping },
    ...{ firstWaitMs: settings.outageMs, logger },
  });
  const { running } = runner;

  return {
    async start() {
      heartbeat.start();
      void worker.run().catch(onError);
      void keepBringingForward({
        redis,
        prefix: worker.toKey(''),
        everyMs: settings.delayedMs ?? 5000,
        signal: stopped.signal,
        onMoved: (jobs) =>
          logger?.info({ jobs }, 'a clock is behind or was set back: jobs that would have waited for it are due'),
        onError,
      });
    },
    async stop({ deadlineMs = 10_000 } = {}) {
      stopping = true;
      stopped.abort();
      outages.stop();
      // Fetches nothing from here on; settled once the running jobs are noted as ended.
      const closed = worker.close();
      await Promise.race([closed, becomesTrue(() => running.size === 0, deadlineMs)]);
      if (running.size > 0) {
        worker.cancelAllJobs('the worker ends');
        await becomesTrue(() => running.size === 0, ABORT_GRACE_MS);
      }
      const deaf = [...running.values()];
      const given = deaf.map((own) => {
        crashes.end(own.uuid);
        return admission.giveBack(own);
      });
      await within(Promise.allSettled([...given, ...admission.release()]), ABORT_GRACE_MS);
      if (deaf.length === 0) await within(closed, ABORT_GRACE_MS);
      heartbeat.stop();
      await within(worker.disconnect(), ABORT_GRACE_MS);
      redis.disconnect();
    },
    slow(docId) {
      for (const own of running.values()) if (own.docId === docId) admission.makeSlow(own);
    },
    health: () => ({
      consuming: worker.isRunning() && !worker.isPaused() && redis.status === 'ready',
      active: running.size,
      ...(outages.since === undefined ? {} : { outageSince: outages.since }),
    }),
  };
}

/** `name`, which is not among them, tells the heartbeat and the connection of one worker to be of the same. */
function workerOptions({ namespace, concurrency, settings = {} }: ReconcileWorkerOptions) {
  return {
    prefix: namespace,
    autorun: false,
    concurrency,
    lockDuration: settings.lockMs ?? 30_000,
    stalledInterval: settings.stalledMs ?? 15_000,
    maxStalledCount: NO_STALL_LIMIT,
    // For what is left of removed jobs; ours say it themselves.
    removeOnComplete: { count: 0 },
    runRetryDelay: 1000,
    settings: {
      backoffStrategy: (attempt, _type, error, job) =>
        Math.max(backoffMs(backoffBase(job?.opts.backoff), attempt), retryAfterMs(error)),
    },
  } satisfies Partial<WorkerOptions>;
}

function backoffBase(backoff: unknown): number {
  return typeof backoff === 'object' && backoff !== null && 'delay' in backoff ? Number(backoff.delay) : 1000;
}

/** What a server that limits rates asked for, in the details of the fault. */
function retryAfterMs(error: unknown): number {
  return error instanceof SluiceError ? Number(error.details?.retry_after_ms ?? 0) : 0;
}

async function becomesTrue(condition: () => boolean, withinMs: number): Promise<boolean> {
  const end = performance.now() + withinMs;
  while (!condition()) {
    if (performance.now() >= end) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return true;
}

/** Waits for something no longer than told; its failure is no failure of ours. */
async function within(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work.catch(() => undefined), timeout]);
  clearTimeout(timer);
}
