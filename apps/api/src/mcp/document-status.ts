import { setTimeout as delay } from 'node:timers/promises';
import { type Caller, SluiceError } from '@sluice/core';
import type { ApiDeps } from '../deps.js';
import { findDocument } from '../documents/find.js';
import type { DocumentView } from '../schemas/documents.js';

const POLL_MS = 250;

/**
 * A document once it is settled: known, and not `pending`. After `waitMs` it is answered as it is. One that the caller may not know of
 * is waited for like one that does not exist.
 * @throws SluiceError `not_found`
 */
export async function settledDocument(
  deps: ApiDeps,
  caller: Caller,
  { docId, waitMs, signal }: { docId: string; waitMs: number; signal: AbortSignal },
): Promise<DocumentView> {
  const end = deps.clock.monotonic() + waitMs;
  for (;;) {
    const left = end - deps.clock.monotonic();
    const document = await findDocument(deps, caller, docId).catch((error: unknown) => {
      if (left > 0 && error instanceof SluiceError && error.code === 'not_found') return undefined;
      throw error;
    });
    if (document !== undefined && (left <= 0 || document.status !== 'pending')) return document;
    await delay(Math.min(POLL_MS, left), undefined, { signal });
  }
}
