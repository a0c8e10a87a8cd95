import { type ReconcileRequest, SluiceError, toSluiceError } from '@sluice/core';
import type { Logger } from '@sluice/telemetry';
import { DelayedError, UnrecoverableError, WaitingError, Worker } from 'bullmq';
import { type Admission, type AdmissionLimits, createAdmission, type ReconcileJob, type RunningJob } from './admission.js';
import { backoffMs } from './backoff.js';
import { type Crashes, createCrashCounter } from './crash-counter.js';
import { keepBringingForward } from './delayed-jobs.js';
import { createExclusiveLock } from './exclusive-lock.js';
import { forceNotes } from './force-notes.js';
import { createHeartbeat, workerName } from './heartbeat.js';
import { documentOf, RECONCILE_QUEUE, reconcileSchema } from './jobs.js';
import { createOutages, type Outages } from './outages.js';
import { createRedis } from './redis.js';

/** BullMQ fails a job for good once its worker was lost this often; crashes are counted per document instead. */
const NO_STALL_LIMIT = 1_000_000;
/** A document whose work never ended this often runs alone, so that the next crash is blamed on it and on no neighbour. */
const CRASHES_UNTIL_ALONE = 2;
/** Faults of the installation, and files that are being written, are no fault of a document: its attempts are not used up. */
const UNCOUNTED = new Set(['queue_unavailable', 'model_unavailable', 'not_ready', 'not_stable']);
const LONGEST_UNCOUNTED_MS = 30_000;
/** Progress is shown this often at most: a document that is done sooner costs no command and no event. */
const PROGRESS_MS = 1000;
/** Time that handlers have to end after their signal, and that BullMQ has to note the end. */
const ABORT_GRACE_MS = 2000;

export interface JobContext {
  docId: string;
  docUuid: string;
  /** Failed attempts before this one. */
  attemptsMade: number;
  /** No attempt follows if this one fails: record the failure. A `permanent` fault ends it at once, whatever is left. */
  isLastAttempt: boolean;
  /** Times in a row that work on this document began and its worker was lost. */
  crashes: number;
  /** Unix milliseconds at which the last of those began; 0 when there is none. */
  crashedMs: number;
  /** Aborted when the job was given to another worker, and when the worker must end. */
  signal: AbortSignal;
  /** 0..1, for operators to see. */
  progress(share: number): Promise<void>;
}

export interface ReconcileWorkerOptions {
  url: string;
  /** Prefix of the instance's keys. */
  namespace: string;
  /** Documents at a time. */
  concurrency: number;
  /**
   * Reconciles one document; a failure that is to last (permanent, or on the last attempt) is recorded by it before it throws.
   * A permanent SluiceError ends the job, others are tried again with back-off. One with `details.unrecorded` spends no attempt: the job waits
   * and is run again, since its end would be reported nowhere.
   */
  handle: (request: ReconcileRequest, context: JobContext) => Promise<void>;
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
  const notes = forceNotes(redis, namespace);
  const name = workerName();
  const heartbeat = createHeartbeat(redis, { namespace, name, onError });
  const lock = createExclusiveLock();
  const running = new Map<string, RunningJob>();
  const stopped = new AbortController();
  let stopping = false;

  // Three parameters without defaults: BullMQ makes signals only for processors whose length is 3.
  const process = async (job: ReconcileJob, token: string | undefined, signal: AbortSignal | undefined): Promise<void> => {
    if (token === undefined || signal === undefined)
      throw new Error('a processor with three parameters is given a token and a signal');
    // The job was removed before it was taken: what is left of it has neither name nor data.
    if (job.name === undefined || job.data === undefined) return;
    const parsed = reconcileSchema.safeParse(job.data);
    if (!parsed.success) throw new UnrecoverableError(`not a reconcile job: ${parsed.error.message}`);
    const { docId, uuid } = documentOf(parsed.data);
    // It was on its way when the worker was told to stop, which waits for those that run.
    if (stopping) {
      await admission.giveBack({ job, token });
      throw new WaitingError();
    }
    const own: RunningJob = { job, token, docId, uuid, bytes: 0, freeRoom: () => undefined, putBack: false };
    running.set(job.id ?? '', own);
    try {
      await admission.enter(own, parsed.data);
      await run(own, signal, parsed.data);
    } finally {
      own.freeRoom();
      running.delete(job.id ?? '');
    }
  };

  async function run(own: RunningJob, signal: AbortSignal, request: ReconcileRequest): Promise<void> {
    const { job, docId, uuid } = own;
    let shownMs = Date.now();
    let lost: Crashes = { count: 0, beganMs: 0 };
    let end: () => void = () => crashes.end(uuid);
    try {
      const [crashed = null, note = null] = await redis.mget(crashes.key(uuid), notes.key(uuid));
      lost = crashes.read(crashed);
      own.entry = lock.enter({ exclusive: lost.count >= CRASHES_UNTIL_ALONE, long: admission.isLarge(own) });
      await own.entry.admitted;
      signal.throwIfAborted();
      crashes.begin(uuid, lost.count);
      const force = notes.read(note);
      await options.handle(force === undefined ? request : { ...request, force }, {
        docId,
        docUuid: uuid,
        attemptsMade: job.attemptsMade,
        isLastAttempt: job.attemptsMade + 1 >= (job.opts.attempts ?? 1),
        crashes: lost.count,
        crashedMs: lost.beganMs,
        signal,
        async progress(share) {
          const now = Date.now();
          if (now - shownMs < PROGRESS_MS) return;
          shownMs = now;
          await job.updateProgress(share);
        },
      });
      outages.worked();
      if (note !== null) await notes.clear(uuid, note);
    } catch (thrown) {
      const fault = toSluiceError(thrown, 'internal', docId);
      // That workers died of a document must not be forgotten before it is recorded.
      if ((own.putBack || fault.details?.unrecorded === true) && lost.count > 0) end = () => crashes.restore(uuid, lost);
      await endFailed({ admission, outages, isStopping: () => stopping, settings, logger }, own, signal, fault);
    } finally {
      own.entry?.leave();
      end();
    }
  }

  const worker: Worker<ReconcileRequest | undefined, void> = new Worker(RECONCILE_QUEUE, process, {
    connection: redis,
    prefix: namespace,
    autorun: false,
    // By which the heartbeat and the connection are known to be of one worker.
    name,
    concurrency: options.concurrency,
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

/** What the end of a job depends on beside its fault. */
interface Surroundings {
  admission: Admission;
  outages: Outages;
  isStopping(): boolean;
  settings: Pick<NonNullable<ReconcileWorkerOptions['settings']>, 'outageMs'>;
  logger: Logger | undefined;
}

/** Ends a job that failed in the way its fault asks for: by the error that it throws. */
async function endFailed(
  { admission, outages, isStopping, settings, logger }: Surroundings,
  own: RunningJob,
  signal: AbortSignal,
  fault: SluiceError,
): Promise<never> {
  const { job, token, uuid } = own;
  if (isStopping() && signal.aborted) {
    // It may have been given back already, when it did not end in time.
    await admission.giveBack(own).catch(() => undefined);
    throw new WaitingError();
  }
  if (own.putBack) return admission.hold(own);
  const isRecorded = job.attemptsMade + 1 >= (job.opts.attempts ?? 1) && fault.details?.unrecorded !== true;
  const outcome = isRecorded || isOwnFault(fault) ? undefined : await outages.confirm(fault.code, uuid);
  if (outcome === 'away') {
    await job.moveToWait(token);
    throw new WaitingError();
  }
  // In a storm others get their turn first: moveToWait would put it before all of them.
  if (outcome === 'storm' || UNCOUNTED.has(fault.code) || fault.details?.unrecorded === true) {
    const wait = Math.min(LONGEST_UNCOUNTED_MS, backoffMs(settings.outageMs ?? 1000, Math.max(1, job.attemptsStarted)));
    await job.moveToDelayed(Date.now() + wait, token);
    throw new DelayedError();
  }
  logger?.debug({ docId: fault.docId, code: fault.code, attempt: job.attemptsMade + 1 }, 'job failed');
  // The queue keeps the code alone: the message may name what not every operator may see, and the document's record has it.
  const text = `${fault.code}; sluice dlq show tells more`;
  if (fault.kind === 'permanent') throw new UnrecoverableError(text);
  throw new SluiceError(fault.code, text, { kind: fault.kind, cause: fault, ...(fault.details && { details: fault.details }) });
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

/** A text that an endpoint refuses is its document's fault alone; the store's words for its own trouble may be permanent in kind. */
function isOwnFault({ code, kind }: SluiceError): boolean {
  return code === 'embed_failed' && kind === 'permanent';
}
