import { type ReconcileRequest, SluiceError, toSluiceError } from '@sluice/core';
import type { Logger } from '@sluice/telemetry';
import { DelayedError, UnrecoverableError, WaitingError } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Admission, ReconcileJob, RunningJob } from './admission.js';
import { backoffMs } from './backoff.js';
import type { CrashCounter, Crashes } from './crash-counter.js';
import { createExclusiveLock } from './exclusive-lock.js';
import { forceNotes } from './force-notes.js';
import { documentOf, reconcileSchema } from './jobs.js';
import type { Outages } from './outages.js';

/** A document whose work never ended this often runs alone, so that the next crash is blamed on it and on no neighbour. */
const CRASHES_UNTIL_ALONE = 2;
/** Faults of the installation, and files that are being written, are no fault of a document: its attempts are not used up. */
const UNCOUNTED = new Set(['queue_unavailable', 'model_unavailable', 'not_ready', 'not_stable']);
const LONGEST_UNCOUNTED_MS = 30_000;
/** Progress is shown this often at most: a document that is done sooner costs no command and no event. */
const PROGRESS_MS = 1000;

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

/**
 * Reconciles one document; a failure that is to last (permanent, or on the last attempt) is recorded by it before it throws.
 * A permanent SluiceError ends the job, others are tried again with back-off. One with `details.unrecorded` spends no attempt: the job
 * waits and is run again, since its end would be reported nowhere.
 */
export type HandleJob = (request: ReconcileRequest, context: JobContext) => Promise<void>;

export interface JobRunnerOptions {
  redis: Redis;
  namespace: string;
  crashes: CrashCounter;
  admission: Admission;
  outages: Outages;
  handle: HandleJob;
  isStopping(): boolean;
  /** First wait of a job that spends no attempt, milliseconds; default 1 s. */
  firstWaitMs?: number | undefined;
  logger?: Logger | undefined;
}

export interface JobRunner {
  /** Jobs under way, by id. */
  readonly running: ReadonlyMap<string, RunningJob>;
  /** BullMQ's processor. It throws the error that says what becomes of the job. */
  run(job: ReconcileJob, token: string | undefined, signal: AbortSignal | undefined): Promise<void>;
}

/** Runs the jobs that a worker is given: those that are admitted, each once the crashes of its document are known. */
export function createJobRunner(options: JobRunnerOptions): JobRunner {
  const { redis, namespace, crashes, admission, outages, isStopping } = options;
  const notes = forceNotes(redis, namespace);
  const lock = createExclusiveLock();
  const running = new Map<string, RunningJob>();
  return { running, run: process };

  async function process(job: ReconcileJob, token: string | undefined, signal: AbortSignal | undefined): Promise<void> {
    if (token === undefined || signal === undefined)
      throw new Error('a processor with three parameters is given a token and a signal');
    // The job was removed before it was taken: what is left of it has neither name nor data.
    if (job.name === undefined || job.data === undefined) return;
    const parsed = reconcileSchema.safeParse(job.data);
    if (!parsed.success) throw new UnrecoverableError(`not a reconcile job: ${parsed.error.message}`);
    const { docId, uuid } = documentOf(parsed.data);
    // It was on its way when the worker was told to stop, which waits for those that run.
    if (isStopping()) {
      await admission.giveBack({ job, token });
      throw new WaitingError();
    }
    const own: RunningJob = { job, token, docId, uuid, bytes: 0, freeRoom: () => undefined, putBack: false };
    running.set(job.id ?? '', own);
    try {
      await admission.enter(own, parsed.data);
      await attempt(own, signal, parsed.data);
    } finally {
      own.freeRoom();
      running.delete(job.id ?? '');
    }
  }

  async function attempt(own: RunningJob, signal: AbortSignal, request: ReconcileRequest): Promise<void> {
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
      await endFailed(options, own, signal, fault);
    } finally {
      own.entry?.leave();
      end();
    }
  }
}

/** Ends a job that failed in the way its fault asks for: by the error that it throws. */
async function endFailed(
  { admission, outages, isStopping, firstWaitMs, logger }: JobRunnerOptions,
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
    const wait = Math.min(LONGEST_UNCOUNTED_MS, backoffMs(firstWaitMs ?? 1000, Math.max(1, job.attemptsStarted)));
    await job.moveToDelayed(Date.now() + wait, token);
    throw new DelayedError();
  }
  logger?.debug({ docId: fault.docId, code: fault.code, attempt: job.attemptsMade + 1 }, 'job failed');
  // The queue keeps the code alone: the message may name what not every operator may see, and the document's record has it.
  const text = `${fault.code}; sluice dlq show tells more`;
  if (fault.kind === 'permanent') throw new UnrecoverableError(text);
  throw new SluiceError(fault.code, text, { kind: fault.kind, cause: fault, ...(fault.details && { details: fault.details }) });
}

/** A text that an endpoint refuses is its document's fault alone; the store's words for its own trouble may be permanent in kind. */
function isOwnFault({ code, kind }: SluiceError): boolean {
  return code === 'embed_failed' && kind === 'permanent';
}
