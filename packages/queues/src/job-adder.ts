import { randomBytes } from 'node:crypto';
import type { ReconcileRequest, Urgency } from '@sluice/core';
import type { Job, Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { willBegin } from './dedup-keys.js';
import { reservePriorities, urgencyOf } from './fairness.js';
import { forceNotes } from './force-notes.js';
import { documentOf, jobDataOf, makeJobId, RECONCILE_QUEUE } from './jobs.js';

export type AddJobs = (requests: readonly ReconcileRequest[], urgency: Urgency, delayMs?: number) => Promise<void>;

/** Adds jobs in one round trip, at most one that waits for a document; each takes its turn among those of its flow. */
export function createJobAdder(redis: Redis, namespace: string, queue: Queue): AddJobs {
  const places = { prioritized: queue.toKey('prioritized'), namespace };
  const notes = forceNotes(redis, namespace);
  return addSlice;

  async function addSlice(requests: readonly ReconcileRequest[], urgency: Urgency, delayMs = 0): Promise<void> {
    let wanted = requests.map((request) => ({ request: jobDataOf(request), uuid: documentOf(request).uuid }));
    await Promise.all(requests.flatMap(({ force }, index) => (force ? [notes.leave(wanted[index]?.uuid ?? '', force)] : [])));
    if (urgency === 'bulk') {
      const covered = await willBegin(
        redis,
        queue.toKey(''),
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
  async function raise(job: Job, priority: number): Promise<void> {
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
