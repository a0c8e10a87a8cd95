import { docUuid, makeDocId, type ReconcileRequest, SluiceError } from '@sluice/core';
import { z } from 'zod';

/**
 * The one queue: "make the store agree with the disk for this path". A job carries the path and the cause, never content, hash or
 * size: the worker looks at the disk when it runs, so a job that waited is never out of date.
 */
export const RECONCILE_QUEUE = 'reconcile';

/** Checked on both sides: a job may have been written by another version. */
export const reconcileSchema = z.strictObject({
  source: z.string().regex(/^[a-z0-9_-]+$/),
  path: z.string().min(1),
  cause: z.enum(['add', 'change', 'unlink', 'rename', 'scan', 'retry', 'config']),
}) satisfies z.ZodType<Omit<ReconcileRequest, 'force'>>;

/** The data of a job for a request; `force` travels beside it, see force-notes.ts. Error: `invalid_request`. */
export function jobDataOf({ force: _, ...request }: ReconcileRequest): z.infer<typeof reconcileSchema> {
  const parsed = reconcileSchema.safeParse(request);
  if (!parsed.success) throw new SluiceError('invalid_request', `not a reconcile request: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

export function documentOf(request: Pick<ReconcileRequest, 'source' | 'path'>): { docId: string; uuid: string } {
  const docId = makeDocId(request.source, request.path);
  return { docId, uuid: docUuid(docId) };
}

/** Parts a job's id into the source and the document it was made for; undefined for a job that we did not make. */
export function partsOfJobId(id: string): { source: string; uuid: string } | undefined {
  const [source, uuid, unique] = id.split('~');
  return source !== undefined && uuid !== undefined && unique !== undefined ? { source, uuid } : undefined;
}

/**
 * An id that is new with every add, so it never drops one (deduplication is by document, see reconcile-queue.ts). It names source
 * and document, so that what is pending can be counted from the lists of ids alone.
 */
export function makeJobId(source: string, uuid: string, unique: string): string {
  return `${source}~${uuid}~${unique}`;
}
