import type { ReconcileRequest } from '@sluice/core';
import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { documentOf, partsOfJobId, reconcileSchema } from './jobs.js';

export interface PendingDocument extends ReconcileRequest {
  docId: string;
  state: 'active' | 'waiting' | 'delayed';
}

const LISTS = ['active', 'wait', 'prioritized', 'delayed'] as const;
/** Jobs read in one round trip; between two of them others get a turn. */
const SLICE = 500;

/** Documents with work, running ones first. */
export async function pendingDocuments(
  redis: Redis,
  queue: Queue,
  { source, limit = 100 }: { source?: string; limit?: number } = {},
): Promise<PendingDocument[]> {
  const found: PendingDocument[] = [];
  for (const { state, ids } of await idsByList(redis, queue)) {
    const wanted = ids.filter((id) => source === undefined || partsOfJobId(id)?.source === source);
    const taken = wanted.slice(0, limit - found.length);
    for (let from = 0; from < taken.length; from += SLICE) {
      const batch = redis.pipeline();
      for (const id of taken.slice(from, from + SLICE)) batch.hget(queue.toKey(id), 'data');
      for (const [error, data] of (await batch.exec()) ?? []) {
        if (error !== null) throw error;
        // A job that ended meanwhile has no data any more.
        const request = typeof data === 'string' ? reconcileSchema.safeParse(JSON.parse(data)).data : undefined;
        if (request !== undefined) found.push({ ...request, docId: documentOf(request).docId, state });
      }
    }
  }
  return found;
}

/** Ids of all jobs that are not finished, by list, without reading a job. */
async function idsByList(redis: Redis, queue: Queue): Promise<{ state: PendingDocument['state']; ids: string[] }[]> {
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
