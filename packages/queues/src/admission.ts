import type { ReconcileRequest } from '@sluice/core';
import { DelayedError, type Job, WaitingError } from 'bullmq';
import type { Redis } from 'ioredis';
import { makeDue } from './delayed-jobs.js';
import type { Entry } from './exclusive-lock.js';
import { urgencyOf } from './fairness.js';
import { createInFlight, type InFlightLimits, type Share } from './in-flight.js';

export type ReconcileJob = Job<ReconcileRequest | undefined, void>;

/** A job that is worked on. */
export interface RunningJob {
  job: ReconcileJob;
  token: string;
  docId: string;
  uuid: string;
  bytes: number;
  share?: Share;
  /** Its place beside others, or alone. */
  entry?: Entry;
  freeRoom: () => void;
  /** It is to give its slot back, and to wait among the large ones. */
  putBack: boolean;
}

export interface AdmissionLimits extends InFlightLimits {
  /** Bytes of the file that a request is about; 0 where there is none, or it cannot be asked. */
  sizeOf: (request: ReconcileRequest) => Promise<number>;
  /** Whether a document is known to be slow: it counts as large. */
  isSlow?: (docId: string) => boolean;
}

/** Which of the jobs that a worker was given it works on. One that finds no room waits outside the worker, no attempt spent. */
export interface Admission {
  /** Throws where there is no room now. */
  enter(own: RunningJob, request: ReconcileRequest): Promise<void>;
  /** Whether a job has the room of large and slow documents. */
  isLarge(own: RunningJob): boolean;
  /** A slow document leaves the room of the light ones, for that of the large ones or for none. */
  makeSlow(own: RunningJob): void;
  /** Has a job wait outside until the large ones have room for it. */
  hold(own: RunningJob): Promise<never>;
  /** Back to its place in the queue, no attempt spent. */
  giveBack(own: Pick<RunningJob, 'job' | 'token'>): Promise<void>;
  /** Nobody will call those that found no room: they are for any worker to take. */
  release(): Promise<unknown>[];
}

export function createAdmission(options: {
  redis: Redis;
  /** Key of the queue with this name. */
  toKey(name: string): string;
  concurrency: number;
  limits: AdmissionLimits | undefined;
  heldMs?: number | undefined;
  isStopping(): boolean;
  cancel(jobId: string, reason: string): void;
}): Admission {
  const { redis, toKey, limits, heldMs, isStopping } = options;
  const call = (id: string) => makeDue(redis, toKey(''), id, Date.now());
  const inFlight = limits && createInFlight(limits, options.concurrency, { call, ...(heldMs === undefined ? {} : { heldMs }) });

  async function holdIn({ job, token, bytes }: RunningJob, share: Share): Promise<never> {
    await job.moveToDelayed(Date.now() + share.holdMs(), token);
    share.hold(job.id ?? '', urgencyOf(job.priority), bytes);
    throw new DelayedError();
  }

  async function giveBack({ job, token }: Pick<RunningJob, 'job' | 'token'>): Promise<void> {
    await job.moveToWait(token);
    // BullMQ wakes nobody for a prioritized job that comes back: the marker is what idle workers wait for.
    await redis.zadd(toKey('marker'), 0, '0');
  }

  return {
    async enter(own, request) {
      const { job } = own;
      if (inFlight === undefined || limits === undefined || job.id === undefined) return;
      own.bytes = await limits.sizeOf(request);
      const isLarge = inFlight.large.knows(job.id) || limits.isSlow?.(own.docId) === true;
      const share = isLarge ? inFlight.large : inFlight.shareOf(own.bytes);
      own.share = share;
      const freeRoom = share.enter(job.id, urgencyOf(job.priority), own.bytes);
      if (freeRoom === undefined) {
        if (!isStopping()) return holdIn(own, share);
        await giveBack(own);
        throw new WaitingError();
      }
      own.freeRoom = freeRoom;
    },
    isLarge: ({ share }) => share !== undefined && share === inFlight?.large,
    makeSlow(own) {
      const { job, bytes, share } = own;
      if (inFlight === undefined || share === undefined || share === inFlight.large || job.id === undefined) return;
      own.share = inFlight.large;
      own.entry?.becomeLong();
      const freeRoom = inFlight.large.enter(job.id, urgencyOf(job.priority), bytes);
      own.freeRoom();
      own.freeRoom = freeRoom ?? (() => undefined);
      if (freeRoom !== undefined) return;
      own.putBack = true;
      options.cancel(job.id, 'large documents have no room for it');
    },
    async hold(own) {
      if (inFlight === undefined) throw new Error('nothing is held where nothing is bounded');
      return holdIn(own, inFlight.large);
    },
    giveBack,
    release: () => inFlight?.held().map(call) ?? [],
  };
}
