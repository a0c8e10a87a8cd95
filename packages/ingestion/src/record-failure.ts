import { type Embedder, type ErrorCode, isReason, type ReasonCode, SluiceError, toSluiceError } from '@sluice/core';
import { isServing, type Target } from './attempt.js';
import type { IngestionDeps } from './deps.js';
import { type DiskState, whyUnreadable } from './observe.js';
import type { ReconcileOptions, ReconcileOutcome } from './outcome.js';
import type { ReadBuffer } from './read-buffer.js';
import { commitFailure } from './write-failure.js';

/** Faults that say nothing of the document: they are never recorded as its failure. */
const REQUEUED: ReadonlySet<string> = new Set(['outdated_attempt', 'queue_unavailable', 'not_stable'] satisfies ErrorCode[]);

const SKIPPED: ReadonlySet<string> = new Set(['unsupported_type', 'too_large'] satisfies ReasonCode[]);

/** Faults of a service that every document needs. It may answer again by the time that they reach `recordFailure`. */
const OUTAGES: ReadonlySet<string> = new Set(['embed_failed', 'store_unavailable'] satisfies ErrorCode[]);

/** The disk as the round under way has seen it: what a failure is about. */
export interface Looked {
  disk: DiskState | undefined;
  knownGone?: boolean;
}

/** What a job has tried again by itself. */
export interface Retries {
  /** The document was tried once more because a service had failed it. */
  afterOutage: boolean;
}

/** Whether an embedding endpoint is away for every text. */
async function isAway({ checkReady }: Embedder): Promise<boolean> {
  return (
    (await checkReady?.().then(
      () => false,
      () => true,
    )) ?? false
  );
}

/** A failure that is to last but could not be recorded, as while the store refuses writes: if its job ended, nothing would report it. */
export function unrecorded(thrown: unknown, docId: string): SluiceError {
  const { code, message } = toSluiceError(thrown, 'internal', docId);
  return new SluiceError(code, message, { docId, kind: 'transient', cause: thrown, details: { unrecorded: true } });
}

/**
 * Records what was thrown as the document's failure, or throws it on where the job is to be tried again.
 *
 * @throws SluiceError of kind transient
 */
export async function recordFailure(
  deps: IngestionDeps,
  target: Target,
  thrown: unknown,
  { reading, looked, options, retries }: { reading: ReadBuffer; looked: Looked; options: ReconcileOptions; retries: Retries },
): Promise<ReconcileOutcome | 'again'> {
  if (options.signal?.aborted) throw thrown;
  const error = toSluiceError(thrown, 'internal', target.docId);
  if (REQUEUED.has(error.code)) throw error;
  // A query that the store refuses may be its own trouble in words that are not known here. If it is still away, the record can't be written
  // either and the store's error comes of that: such a job waits for the store and never becomes a dead letter.
  const permanent = error.kind === 'permanent' && error.code !== 'store_unavailable';
  if (!permanent && !options.lastAttempt) throw asTransient(error);
  // Recorded it would be a dead letter, while the endpoint is only away: such a job waits for it.
  if (!permanent && error.code === 'embed_failed' && (await isAway(deps.embedder))) throw error;
  // Its last try may have been in an outage that has just ended: the failure is the document's own only if the service answers others.
  if (!permanent && OUTAGES.has(error.code) && !retries.afterOutage) {
    retries.afterOutage = true;
    return 'again';
  }
  if (error.code === 'unreadable') {
    const why = await whyUnreadable(deps, target.source, target.sourcePath);
    // A root that lets nothing be looked at is as good as lost: what is known of its documents stays as it is.
    if (why === 'root') return { outcome: 'suspended' };
    if (why === 'readable') return 'again';
  }
  const reason: ReasonCode = isReason(error.code) ? error.code : 'internal';
  const message = withoutRoot(error.message, target);
  try {
    const status = SKIPPED.has(reason) ? 'skipped' : 'failed';
    const failure = { status, reason, message, contentHash: reading.lastHash(), copy: options.rebuild === true } as const;
    const record = await commitFailure(deps, target, failure, looked.disk);
    if (record === 'again') return 'again';
    if (status === 'skipped') return { outcome: 'skipped', reason, message };
    return { outcome: 'failed', reason, message, error, serving: isServing(record) };
  } catch (cause) {
    throw unrecorded(cause, target.docId);
  }
}

function asTransient(error: SluiceError): SluiceError {
  if (error.kind !== 'permanent') return error;
  return new SluiceError(error.code, error.message, { kind: 'transient', cause: error });
}

/** A message with files named as documents are: its readers are not told where on this machine a source lies. */
function withoutRoot(message: string, { source: { name, root } }: Target): string {
  return message.replaceAll(`${root}/`, `${name}/`);
}
