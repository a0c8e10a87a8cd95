import {
  type CommitRecord,
  type Embedder,
  type ErrorCode,
  isReason,
  type ReasonCode,
  type ReconcileRequest,
  SluiceError,
  toSluiceError,
} from '@sluice/core';
import { narrowAccess } from '@sluice/metadata';
import { type Attempt, beginAttempt, isServing, type Target, targetOf } from './attempt.js';
import { bareMetadata, buildRecord, NOTHING_LIVE, reasonOf, sameAsBase } from './build-record.js';
import type { IngestionDeps } from './deps.js';
import { accessAfterFailure, accessNow, bareAccess, type FileState, isStricter, resolveDocument } from './document-metadata.js';
import { createLru } from './lru.js';
import { type DiskState, observeDisk, sameDisk, whyUnreadable } from './observe.js';
import { publish } from './publish.js';
import { createReadBuffer, type ReadBuffer } from './read-buffer.js';
import { recommitUnconfigured } from './recommit-unconfigured.js';
import { isWhole, MissingChunk, rewriteBase } from './rewrite.js';
import { findSettled, isOverLimits, isSameState, isSettled } from './settled.js';
import { createLookWhenStill } from './still.js';
import type { VectorCache } from './write-chunks.js';
import { LostChunks, writeDocument } from './write-document.js';
import { commitFailure } from './write-failure.js';

export interface ReconcileOptions {
  signal?: AbortSignal;
  /** A transient fault is then recorded as the document's failure instead of being thrown. */
  lastAttempt?: boolean;
  /** Commits the same state under a new fence, so that any sleeping writer is outdated and what is not named can be swept. */
  recommit?: boolean;
  /** Writes every chunk anew, keeping none of the stored ones: the repair of a document whose stored chunks are wrong. */
  rebuild?: boolean;
  onProgress?: (share: number) => void;
}

export type ReconcileOutcome =
  /** The store agreed with the disk already. */
  | { outcome: 'unchanged'; record?: CommitRecord }
  | { outcome: 'indexed' | 'empty'; chunks: number; computed: number; reused: number; warnings: string[] }
  | { outcome: 'deleted' }
  /** By type or size: no dead letter. */
  | { outcome: 'skipped'; reason: ReasonCode; message: string }
  /** A dead letter; `error` is what happened. */
  | { outcome: 'failed'; reason: ReasonCode; message: string; error: SluiceError; serving: boolean }
  /** The file is gone or refused, but so may be its whole root: nothing is deleted, and nothing recorded. */
  | { outcome: 'suspended' }
  /** The source is no longer configured: its documents are kept as they are. */
  | { outcome: 'unknown_source' };

/** Vectors kept in memory for texts that repeat: 4,096 of 384 floats are 6 MB. */
const CACHED_VECTORS = 4096;

/** Faults that say nothing of the document: they are never recorded as its failure. */
const REQUEUED: ReadonlySet<string> = new Set(['outdated_attempt', 'queue_unavailable', 'not_stable'] satisfies ErrorCode[]);

const SKIPPED: ReadonlySet<string> = new Set(['unsupported_type', 'too_large'] satisfies ReasonCode[]);

export interface Reconciler {
  /**
   * Makes the store agree with the disk for one path, whatever event led to it.
   *
   * @throws SluiceError of kind transient (the job is tried again); of a permanent fault and on the last attempt only what could not be
   * recorded, marked so in its details (`unrecorded: true`).
   */
  reconcile(request: ReconcileRequest, options?: ReconcileOptions): Promise<ReconcileOutcome>;
  /**
   * Records a permanent fault without looking into the file: of a document over which workers die. A file that is gone or unreadable, or was changed after
   * `unlessChangedSinceMs` (Unix milliseconds), is not the one that they died of: it is reconciled as usual.
   */
  fail(
    request: ReconcileRequest,
    error: SluiceError,
    options: ReconcileOptions & { unlessChangedSinceMs: number },
  ): Promise<ReconcileOutcome>;
}

export function createReconciler(deps: IngestionDeps): Reconciler {
  const vectors: VectorCache = createLru(CACHED_VECTORS);
  const reconciler: Reconciler = {
    async reconcile(request, options = {}) {
      const source = deps.source(request.source);
      if (source === undefined) {
        if (options.recommit) await recommitUnconfigured(deps, request, { copy: options.rebuild === true });
        return { outcome: 'unknown_source' };
      }
      const target = targetOf(source, request.path);
      const reading = createReadBuffer(deps, target);
      try {
        for (let round = 0; round < deps.settings.maxRounds; round += 1) {
          // The watcher waited before it told of it; what comes later it has not seen.
          const looked: Looked = { disk: undefined, knownGone: round === 0 && request.cause === 'unlink' };
          const outcome = await runRounds(deps, vectors, target, request, reading, looked, options).catch((thrown: unknown) =>
            recordFailure(deps, target, thrown, reading, looked, options),
          );
          if (outcome !== 'again') return outcome;
        }
        throw keepsChanging(target);
      } catch (thrown) {
        const isNotStable = thrown instanceof SluiceError && thrown.code === 'not_stable';
        throw options.lastAttempt && !isNotStable ? unrecorded(thrown, target.docId) : thrown;
      }
    },
    async fail(request, error, options) {
      const source = deps.source(request.source);
      if (source === undefined) return { outcome: 'unknown_source' };
      const target = targetOf(source, request.path);
      // What can't be looked at can't be read either, so no worker dies of it: the usual way says what is wrong.
      const disk = await observeDisk(deps, source, request.path).catch((): DiskState => ({ kind: 'gone' }));
      if (disk.kind === 'gone' || changedMs(disk) > options.unlessChangedSinceMs) return reconciler.reconcile(request, options);
      const reading = createReadBuffer(deps, target);
      try {
        const outcome = await recordFailure(deps, target, error, reading, { disk }, { lastAttempt: true });
        if (outcome === 'again') throw keepsChanging(target);
        return outcome;
      } catch (thrown) {
        throw unrecorded(thrown, target.docId);
      }
    },
  };
  return reconciler;
}

/** When the file last changed in any way, Unix milliseconds. */
function changedMs(disk: FileState): number {
  return Number(BigInt(disk.stat.ctimeNs) / 1_000_000n);
}

/** The disk as the round under way has seen it: what a failure is about. */
interface Looked {
  disk: DiskState | undefined;
  knownGone?: boolean;
}

/** A file that changes while it is read is parsed this often by a job; then it waits its turn again. */
const MOST_CHANGES = 2;

function notStable({ docId }: Target): SluiceError {
  return new SluiceError('not_stable', `${docId} is still being written; it will be tried again`, { docId });
}

function keepsChanging({ docId }: Target): SluiceError {
  return new SluiceError('outdated_attempt', `${docId} kept changing while it was read; it will be tried again`, { docId });
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

/** A failure that is to last but could not be recorded, as while the store refuses writes: if its job ended, nothing would tell of it. */
function unrecorded(thrown: unknown, docId: string): SluiceError {
  const { code, message } = toSluiceError(thrown, 'internal', docId);
  return new SluiceError(code, message, { docId, kind: 'transient', cause: thrown, details: { unrecorded: true } });
}

async function runRounds(
  deps: IngestionDeps,
  vectors: VectorCache,
  target: Target,
  request: ReconcileRequest,
  reading: ReadBuffer,
  looked: Looked,
  options: ReconcileOptions,
): Promise<ReconcileOutcome> {
  const look = createLookWhenStill(deps, target.source, target.sourcePath);
  let seen = await look({ knownGone: looked.knownGone === true, signal: options.signal });
  looked.disk = seen;
  // Of a file that the watcher saw for the first time there is no record, as a rule: it is compared with what the attempt reads anyway.
  const isNew = request.cause === 'add' && seen.kind === 'file' && !options.recommit && !options.rebuild;
  const settled = isNew ? undefined : await findSettled(deps, target, request, seen, options);
  if (settled !== undefined) return settled;

  let keep = !options.rebuild;
  let isLost = false;
  let wrote = false;
  for (let round = 0; round < deps.settings.maxRounds; round += 1) {
    // A file that went while it was committed is deleted though the job was given away: who has it may have found nothing yet. Reading and
    // embedding end by themselves.
    if (!wrote) options.signal?.throwIfAborted();
    const attempt = await beginAttempt(deps, target);
    looked.disk = undefined;
    const hadSidecar = [seen.kind === 'file' ? seen.sidecarStat : '', attempt.base?.sidecar_stat ?? ''].some(
      (stat) => stat !== '',
    );
    const disk = await look({ before: seen, hadSidecar, signal: wrote ? undefined : options.signal });
    seen = disk;
    looked.disk = disk;
    const { top } = attempt;
    if (isNew && round === 0 && disk.kind === 'file' && top !== undefined && (await isSettled(deps, request, disk, top)))
      return { outcome: 'unchanged', record: top };
    try {
      // What an earlier round wrote but did not commit only a tombstone licenses to delete.
      const recommit = options.recommit === true || wrote;
      wrote ||= disk.kind === 'file';
      const outcome =
        disk.kind === 'gone'
          ? await deleteDocument(deps, target, attempt, disk, { recommit })
          : await writeFile(deps, vectors, target, attempt, disk, reading, { keep, isLost }, options);
      if (outcome !== 'again') return outcome;
      if (reading.changes() >= MOST_CHANGES) throw notStable(target);
    } catch (cause) {
      if (!(cause instanceof LostChunks || cause instanceof MissingChunk)) throw cause;
      deps.logger.warn({ doc_id: target.docId, cause: cause.message }, 'chunks were lost; the document is written anew');
      keep = false;
      isLost = true;
    }
  }
  throw keepsChanging(target);
}

/** A delete is a commit with nothing live. */
async function deleteDocument(
  deps: IngestionDeps,
  target: Target,
  attempt: Attempt,
  disk: DiskState,
  options: Pick<ReconcileOptions, 'recommit'>,
): Promise<ReconcileOutcome | 'again'> {
  const { base, top } = attempt;
  // Without a record there is nothing to take back, unless a crash left chunks that only a tombstone licenses to delete.
  if (top === undefined && !options.recommit) return { outcome: 'unchanged' };
  if (top !== undefined && top.status !== 'deleted' && !(await target.source.mayDelete())) return { outcome: 'suspended' };
  const record = buildRecord(deps, target, attempt, disk, {
    ...NOTHING_LIVE,
    kind: 'commit',
    status: 'deleted',
    content_hash: '',
    fingerprint: '',
    format: '',
    metadata: bareMetadata(base === undefined ? { security_level: 5 } : bareAccess(base)),
    warnings: [],
  });
  return (await publish(deps, target, attempt, disk, record)) === 'done' ? { outcome: 'deleted' } : 'again';
}

/**
 * Formats whose smallest file has bytes. 0 bytes over one that was read are a copy that has begun, or that failed: the last good revision
 * is served on. A file that never had another content is `empty`.
 */
const NEVER_EMPTY: ReadonlySet<string> = new Set([
  'pdf',
  'docx',
  'pptx',
  'xlsx',
  'odt',
  'ods',
  'odp',
  'epub',
  'encrypted-office',
]);

async function writeFile(
  deps: IngestionDeps,
  vectors: VectorCache,
  target: Target,
  attempt: Attempt,
  disk: FileState,
  reading: ReadBuffer,
  { keep, isLost }: { keep: boolean; isLost: boolean },
  options: ReconcileOptions,
): Promise<ReconcileOutcome | 'again'> {
  const { base } = attempt;
  const access = await accessNow(deps, target, disk);
  // A base of which something is lost can't be copied: the new content, or the failure, then brings the access.
  if (isServing(base) && !isLost && isStricter(base, access)) {
    // Stricter access first, whatever becomes of the content. The empty stat says that the file itself is still to be read.
    // The old text is narrowed only: where the new state opens it to others, they wait for the new content.
    const { allowed_groups: _old, ...rest } = base.metadata;
    const rewritten = await rewriteBase(
      deps,
      target,
      { ...attempt, base },
      { ...rest, ...narrowAccess(bareAccess(base), access) },
    );
    const { kind, status, content_hash, fingerprint, format, warnings } = base;
    const record = {
      ...buildRecord(deps, target, attempt, disk, {
        kind,
        status,
        content_hash,
        fingerprint,
        format,
        warnings,
        ...reasonOf(base),
        ...rewritten,
      }),
      stat: '',
    };
    await publish(deps, target, attempt, disk, record);
    return 'again';
  }
  if (options.recommit && keep && isSameState(base, disk)) return recommit(deps, target, attempt, base, disk);

  const read = await reading.read(disk, options);
  if (read === 'changed') return 'again';
  const { bytes, format: found } = read.result;
  if (bytes === 0 && NEVER_EMPTY.has(found) && isServing(base) && base.chunks > 0) {
    throw new SluiceError('corrupt', `${target.docId} has 0 bytes, which no ${found} file has; copy it again`);
  }
  const resolved = resolveDocument(target, disk, read.result, read.sidecar);
  const written = await writeDocument(deps, vectors, target, attempt, disk, read.result, resolved, {
    keep,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
  });
  if (written.published === 'again') return 'again';
  observeDelay(deps, disk);
  const { status, chunks, counts, warnings } = written;
  return { outcome: status, chunks, computed: counts.computed, reused: counts.reused, warnings };
}

/**
 * The same state under a new fence; what was lost of it is written again from the file. Many attempts become one here, in the background:
 * an edit should not pay for it, and the file need not be read.
 */
async function recommit(
  deps: IngestionDeps,
  target: Target,
  attempt: Attempt,
  base: CommitRecord,
  disk: FileState,
): Promise<ReconcileOutcome | 'again'> {
  if (isServing(base) && !(await isWhole(deps, base)))
    throw new LostChunks(`${target.docId}: not every chunk that the commit names is stored`);
  const { kind, status, content_hash, fingerprint, format, metadata, warnings } = base;
  const isCopied = isServing(base) && isOverLimits(deps, base);
  const record = buildRecord(deps, target, attempt, disk, {
    kind,
    status,
    content_hash,
    fingerprint,
    format,
    metadata,
    warnings,
    ...reasonOf(base),
    ...(isCopied ? await rewriteBase(deps, target, { ...attempt, base }, metadata) : sameAsBase(base)),
  });
  return (await publish(deps, target, attempt, disk, record)) === 'done' ? { outcome: 'unchanged', record } : 'again';
}

/** Only changes of the last hour: a scan that finds a year-old file measures the scan, not the pipeline. */
function observeDelay(deps: IngestionDeps, disk: FileState): void {
  const seconds = (deps.clock.now() - changedMs(disk)) / 1000;
  if (seconds >= 0 && seconds < 3600) deps.metrics.changeToSearchable.observe(seconds);
}

async function recordFailure(
  deps: IngestionDeps,
  target: Target,
  thrown: unknown,
  reading: ReadBuffer,
  looked: Looked,
  options: ReconcileOptions,
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
  if (error.code === 'unreadable') {
    const why = await whyUnreadable(deps, target.source, target.sourcePath);
    // A root that lets nothing be looked at is as good as lost: what is known of its documents stays as it is.
    if (why === 'root') return { outcome: 'suspended' };
    if (why === 'mended') return 'again';
  }
  const reason: ReasonCode = isReason(error.code) ? error.code : 'internal';
  const message = withoutRoot(error.message, target);
  try {
    if (SKIPPED.has(reason)) return await commitSkipped(deps, target, reason, message, reading.lastHash(), looked);
    const record = await commitFailure(
      deps,
      target,
      { reason, message, contentHash: reading.lastHash(), copy: options.rebuild === true },
      looked.disk,
    );
    if (record === 'again') return 'again';
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

/** A document that is left out by type or size serves nothing. */
async function commitSkipped(
  deps: IngestionDeps,
  target: Target,
  reason: ReasonCode,
  message: string,
  contentHash: string,
  looked: Looked,
): Promise<ReconcileOutcome | 'again'> {
  for (let round = 0; round < deps.settings.maxRounds; round += 1) {
    const attempt = await beginAttempt(deps, target);
    const disk = await observeDisk(deps, target.source, target.sourcePath);
    // The reason tells of the bytes that were read, so it is not recorded of others.
    if (disk.kind === 'gone' || (looked.disk !== undefined && !sameDisk(looked.disk, disk))) return 'again';
    const record = buildRecord(deps, target, attempt, disk, {
      ...NOTHING_LIVE,
      kind: 'commit',
      status: 'skipped',
      reason,
      message,
      content_hash: contentHash,
      fingerprint: disk.policy.fingerprint(''),
      format: '',
      metadata: bareMetadata(await accessAfterFailure(deps, target, disk, undefined)),
      warnings: [],
    });
    if ((await publish(deps, target, attempt, disk, record)) === 'done') return { outcome: 'skipped', reason, message };
  }
  throw keepsChanging(target);
}
