import { type Caller, type CommitRecord, docUuid, SluiceError } from '@sluice/core';
import { mayKnow, mayKnowOf } from '@sluice/retrieval';
import type { ApiDeps } from '../deps.js';
import type { DocumentView } from '../schemas/documents.js';
import { type DocumentState, documentState } from './state.js';
import { pendingView, viewOf } from './view.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** UUID of a document that a request names by doc_id or by UUID; a doc_id always holds a slash. */
export function uuidOf(idOrDocId: string): string {
  return UUID.test(idOrDocId) ? idOrDocId.toLowerCase() : docUuid(idOrDocId);
}

function notFound(idOrDocId: string): SluiceError {
  return new SluiceError('not_found', `No document ${idOrDocId}.`);
}

/** Jobs of the documents, or none when Redis does not answer: what is stored is still worth showing. */
async function pendingAmong(deps: Pick<ApiDeps, 'queue' | 'logger'>, uuids: readonly string[]): Promise<Set<string>> {
  try {
    return await deps.queue.pending(uuids);
  } catch (error) {
    deps.logger.warn({ err: error }, 'the queue does not answer: pending documents show their stored status');
    return new Set();
  }
}

type FindDeps = Pick<ApiDeps, 'store' | 'queue' | 'accessOfNewFile' | 'logger'>;

/**
 * One document as a caller may see it. The queue is asked before the store: a job that ends in between has its commit in what is
 * read after.
 * @throws SluiceError `not_found`, also for a document that the caller may not know of
 */
export async function findDocument(deps: FindDeps, caller: Caller, idOrDocId: string): Promise<DocumentView> {
  const uuid = uuidOf(idOrDocId);
  const pending = (await pendingAmong(deps, [uuid])).has(uuid);
  const records = (await deps.store.recordsOf([uuid])).get(uuid) ?? [];
  const state = documentState(records, pending);
  if (state !== undefined) {
    if (!mayKnow(caller, records)) throw notFound(idOrDocId);
    return viewOf(state);
  }
  const slash = idOrDocId.indexOf('/');
  if (!pending || slash <= 0) throw notFound(idOrDocId);
  const source = idOrDocId.slice(0, slash);
  const path = idOrDocId.slice(slash + 1);
  if (!mayKnowOf(caller, source, await deps.accessOfNewFile(source, path))) throw notFound(idOrDocId);
  return pendingView(source, path);
}

/**
 * The revision of a document that answers queries. Errors: `not_found` when none does, `revision_outdated` when it is not the one asked for.
 */
export async function findServing(
  deps: Pick<ApiDeps, 'store'>,
  caller: Caller,
  idOrDocId: string,
  revision?: string,
): Promise<CommitRecord> {
  const uuid = uuidOf(idOrDocId);
  const records = (await deps.store.recordsOf([uuid])).get(uuid) ?? [];
  const state: DocumentState | undefined = documentState(records, false);
  if (state === undefined || !mayKnow(caller, records)) throw notFound(idOrDocId);
  if (state.serving === undefined) {
    throw new SluiceError('not_found', `${state.top.doc_id} is ${state.status}: no revision of it is served.`);
  }
  if (revision !== undefined && revision !== state.serving.revision) {
    throw new SluiceError('revision_outdated', `${state.top.doc_id} has changed since revision ${revision}.`, {
      details: { revision: state.serving.revision },
    });
  }
  return state.serving;
}
