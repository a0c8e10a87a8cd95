import { type Caller, type CommitRecord, docUuid, makeDocId } from '@sluice/core';
import { mayKnow, mayKnowOf } from '@sluice/retrieval';
import type { ApiDeps } from '../deps.js';
import type { DocumentView } from '../schemas/documents.js';
import { type DocumentState, documentState } from './state.js';
import { pendingView, viewOf } from './view.js';

/** Jobs that a listing looks at. More than that wait only while a big source is new, and they come up as they are taken. */
const PENDING_LIMIT = 100_000;

type ListDeps = Pick<ApiDeps, 'store' | 'queue' | 'accessOfNewFile' | 'configuredAccess' | 'logger'>;

/** A document in a listing: its state, or only the path that a job waits for. */
export interface Listed {
  uuid: string;
  source: string;
  path: string;
  state: DocumentState | undefined;
}

export interface ListRequest {
  caller: Caller;
  /** Which ones are wanted. */
  accept(listed: Listed): boolean;
  limit: number;
  cursor?: string | undefined;
  /** Only documents with a job: saves the walk over all others. */
  pendingOnly?: boolean;
}

/** A page of documents in the order of their UUIDs, those that only wait in the queue among them. */
export async function listDocuments(
  deps: ListDeps,
  request: ListRequest,
): Promise<{ listed: Listed[]; next_cursor?: string; pendingKnown: boolean }> {
  const after = request.cursor ?? '';
  const { jobs, pendingKnown } = await pendingJobs(deps);
  const listed: Listed[] = [];
  for await (const document of merge(deps, jobs, after, request.pendingOnly === true)) {
    if (!request.accept(document) || !(await isVisible(deps, request.caller, document))) continue;
    if (listed.length === request.limit) {
      // There is one more: the page before ends at the last one taken.
      const last = listed.at(-1);
      return { listed, pendingKnown, ...(last === undefined ? {} : { next_cursor: last.uuid }) };
    }
    listed.push(document);
  }
  return { listed, pendingKnown };
}

export function listedView({ state, source, path }: Listed): DocumentView {
  return state === undefined ? pendingView(source, path) : viewOf(state);
}

type Job = { source: string; path: string };

async function pendingJobs(deps: ListDeps): Promise<{ jobs: Map<string, Job>; pendingKnown: boolean }> {
  const jobs = new Map<string, Job>();
  try {
    for (const { source, path } of await deps.queue.pendingDocuments(PENDING_LIMIT)) {
      jobs.set(docUuid(makeDocId(source, path)), { source, path });
    }
    return { jobs, pendingKnown: true };
  } catch (error) {
    deps.logger.warn({ err: error }, 'the queue does not answer: pending documents show their stored status');
    return { jobs, pendingKnown: false };
  }
}

type Found = Listed & { records: readonly CommitRecord[] };

/** Stored documents and queued ones, each once, in the order of their UUIDs, behind `after`. */
async function* merge(deps: ListDeps, jobs: Map<string, Job>, after: string, pendingOnly: boolean): AsyncGenerator<Found> {
  const waiting = [...jobs.keys()].filter((uuid) => uuid > after).sort();
  if (pendingOnly) {
    for (let from = 0; from < waiting.length; from += 100) {
      const batch = waiting.slice(from, from + 100);
      const stored = await deps.store.recordsOf(batch);
      for (const uuid of batch) {
        const found = joined(uuid, stored.get(uuid) ?? [], jobs.get(uuid));
        if (found !== undefined) yield found;
      }
    }
    return;
  }
  let next = 0;
  for await (const records of deps.store.walkRecords(after === '' ? {} : { after })) {
    const uuid = records[0]?.doc_uuid;
    if (uuid === undefined || uuid <= after) continue;
    for (; (waiting[next] ?? uuid) < uuid; next += 1) {
      const early = waiting[next] ?? '';
      const found = joined(early, [], jobs.get(early));
      if (found !== undefined) yield found;
    }
    if (waiting[next] === uuid) next += 1;
    const found = joined(uuid, records, jobs.get(uuid));
    if (found !== undefined) yield found;
  }
  for (; next < waiting.length; next += 1) {
    const late = waiting[next] ?? '';
    const found = joined(late, [], jobs.get(late));
    if (found !== undefined) yield found;
  }
}

function joined(uuid: string, records: readonly CommitRecord[], job: Job | undefined): Found | undefined {
  const state = documentState(records, job !== undefined);
  const place = state === undefined ? job : { source: state.top.source, path: state.top.source_path };
  return place === undefined ? undefined : { uuid, ...place, state, records };
}

/** Of a file without a record the configuration is asked first: most are decided without a look at the disk. */
async function isVisible(deps: ListDeps, caller: Caller, { state, source, path, records }: Found): Promise<boolean> {
  if (state !== undefined) return mayKnow(caller, records);
  const knows = (access: Parameters<typeof mayKnowOf>[2]) => mayKnowOf(caller, source, access);
  return knows(deps.configuredAccess(source, path)) && knows(await deps.accessOfNewFile(source, path));
}
