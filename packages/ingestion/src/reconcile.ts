import { type CommitRecord, type ReconcileRequest, SluiceError } from '@sluice/core';
import { narrowAccess } from '@sluice/metadata';
import { type Attempt, beginAttempt, isServing, mayDelete, type Target, targetOf } from './attempt.js';
import { buildRecord, contentOf, deletedAs, sameAsBase } from './build-record.js';
import type { IngestionDeps } from './deps.js';
import { accessNow, bareAccess, type FileState, isStricter, resolveDocument } from './document-metadata.js';
import { createLru } from './lru.js';
import { type DiskState, observeDisk } from './observe.js';
import type { ReconcileOptions, ReconcileOutcome } from './outcome.js';
import { publish } from './publish.js';
import { createReadBuffer, type ReadBuffer } from './read-buffer.js';
import { recommitUnconfigured } from './recommit-unconfigured.js';
import { type Looked, type Retries, recordFailure, unrecorded } from './record-failure.js';
import { isWhole, MissingChunk, rewriteBase } from './rewrite.js';
import { findSettled, isOverLimits, isSameState } from './settled.js';
import { createLookWhenStill } from './still.js';
import type { ChunkOptions } from './write-chunks.js';
import { LostChunks, writeDocument } from './write-document.js';
import { keepsChanging } from './write-failure.js';

/** Vectors kept in memory for texts that repeat: 4,096 of 384 floats are 6 MB. */
const CACHED_VECTORS = 4096;

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
  const vectors: ChunkOptions['vectors'] = createLru(CACHED_VECTORS);
  const reconciler: Reconciler = {
    async reconcile(request, options = {}) {
      const source = deps.source(request.source);
      if (source === undefined) {
        if (options.recommit) await recommitUnconfigured(deps, request, { copy: options.rebuild === true });
        return { outcome: 'unknown_source' };
      }
      const target = targetOf(source, request.path);
      const reading = createReadBuffer(deps, target);
      const retries: Retries = { afterOutage: false };
      try {
        for (let round = 0; round < deps.settings.maxRounds; round += 1) {
          // The watcher waited before it reported it; what comes later it has not seen.
          const looked: Looked = { disk: undefined, knownGone: round === 0 && request.cause === 'unlink' };
          const outcome = await runRounds(deps, target, { request, reading, looked, options, vectors }).catch((thrown: unknown) =>
            recordFailure(deps, target, thrown, { reading, looked, options, retries }),
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
        const outcome = await recordFailure(deps, target, error, {
          reading,
          looked: { disk },
          options: { lastAttempt: true },
          retries: { afterOutage: true },
        });
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

/** A file that changes while it is read is parsed this often by a job; then it waits its turn again. */
const MOST_CHANGES = 2;

function notStable({ docId }: Target): SluiceError {
  return new SluiceError('not_stable', `${docId} is still being written; it will be tried again`, { docId });
}

/** What one job of a document is given, and what it has seen so far. */
interface Job {
  request: ReconcileRequest;
  reading: ReadBuffer;
  looked: Looked;
  options: ReconcileOptions;
  vectors: ChunkOptions['vectors'];
}

async function runRounds(deps: IngestionDeps, target: Target, job: Job): Promise<ReconcileOutcome> {
  const { request, reading, looked, options } = job;
  const look = createLookWhenStill(deps, target.source, target.sourcePath);
  // Of a file that the watcher saw for the first time there is no record, as a rule: the attempt's own readings describe it too.
  const isNew = request.cause === 'add' && !options.recommit && !options.rebuild;
  let seen: DiskState | undefined;
  if (!isNew) {
    seen = await look({ knownGone: looked.knownGone === true, signal: options.signal });
    looked.disk = seen;
    const settled = await findSettled(deps, target, { request, disk: seen, options });
    if (settled !== undefined) return settled;
  }

  let keep = !options.rebuild;
  let isLost = false;
  let wrote = false;
  for (let round = 0; round < deps.settings.maxRounds; round += 1) {
    // A file that went while it was committed is deleted though the job was given away: who has it may have found nothing yet. Reading and
    // embedding end by themselves.
    if (!wrote) options.signal?.throwIfAborted();
    const attempt = await beginAttempt(deps, target);
    looked.disk = undefined;
    const hadSidecar = [seen?.kind === 'file' ? seen.sidecarStat : '', attempt.base?.sidecar_stat ?? ''].some(
      (stat) => stat !== '',
    );
    const disk = await look({ before: seen, hadSidecar, signal: wrote ? undefined : options.signal });
    seen = disk;
    looked.disk = disk;
    const settled = isNew && round === 0 ? await findSettled(deps, target, { request, disk, options, attempt }) : undefined;
    if (settled !== undefined) return settled;
    try {
      // What an earlier round wrote but did not commit only a tombstone licenses to delete.
      const recommit = options.recommit === true || wrote;
      wrote ||= disk.kind === 'file';
      const outcome =
        disk.kind === 'gone'
          ? await deleteDocument(deps, attempt, { recommit })
          : await writeFile(deps, attempt, disk, { ...job, keep, isLost });
      if (outcome !== 'again') return outcome;
      if (reading.changes() >= MOST_CHANGES) throw notStable(target);
    } catch (cause) {
      if (!(cause instanceof LostChunks || cause instanceof MissingChunk)) throw cause;
      deps.logger.warn({ doc_id: target.docId, cause: cause.message }, 'chunks were lost; the document is written again');
      keep = false;
      isLost = true;
    }
  }
  throw keepsChanging(target);
}

/** A delete is a commit with nothing live. */
async function deleteDocument(
  deps: IngestionDeps,
  attempt: Attempt,
  options: Pick<ReconcileOptions, 'recommit'>,
): Promise<ReconcileOutcome | 'again'> {
  const { base, top } = attempt;
  const disk: DiskState = { kind: 'gone' };
  // Without a record there is nothing to take back, unless a crash left chunks that only a tombstone licenses to delete.
  if (top === undefined && !options.recommit) return { outcome: 'unchanged' };
  if (!(await mayDelete(attempt))) return { outcome: 'suspended' };
  const content = deletedAs(base === undefined ? { security_level: 5 } : bareAccess(base));
  const published = await publish(deps, attempt, disk, buildRecord(deps, attempt, disk, content));
  return published === 'done' ? { outcome: 'deleted' } : 'again';
}

async function writeFile(
  deps: IngestionDeps,
  attempt: Attempt,
  disk: FileState,
  { reading, keep, isLost, options, vectors }: Job & { keep: boolean; isLost: boolean },
): Promise<ReconcileOutcome | 'again'> {
  const { base, target } = attempt;
  // A base of which something is lost can't be copied: the new content, or the failure, then brings the access.
  if (isServing(base) && !isLost) {
    const access = await accessNow(deps, target, disk);
    if (isStricter(base, access)) {
      // Stricter access first, whatever becomes of the content. The empty stat says that the file itself is still to be read.
      // The old text is narrowed only: where the new state opens it to others, they wait for the new content.
      const { allowed_groups: _old, ...rest } = base.metadata;
      const narrowed = { ...rest, ...narrowAccess(bareAccess(base), access) };
      const content = { ...contentOf(base), ...(await rewriteBase(deps, { ...attempt, base }, narrowed)) };
      await publish(deps, attempt, disk, { ...buildRecord(deps, attempt, disk, content), stat: '' });
      return 'again';
    }
  }
  if (options.recommit && keep && isSameState(base, disk)) return recommit(deps, { ...attempt, base }, disk);

  const read = await reading.read(disk, options);
  if (read === 'changed') return 'again';
  // The last good revision is served on. A file that never had another content is `empty`.
  if (read.result.unfinished && isServing(base) && base.chunks > 0) {
    throw new SluiceError('corrupt', `${target.docId} has 0 bytes, which no ${read.result.format} file has; copy it again`);
  }
  const resolved = resolveDocument(target, disk, read.result, read.sidecar);
  const written = await writeDocument(deps, { attempt, disk, read: read.result, resolved }, { ...options, keep, vectors });
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
  attempt: Attempt & { base: CommitRecord },
  disk: FileState,
): Promise<ReconcileOutcome | 'again'> {
  const { base } = attempt;
  if (isServing(base) && !(await isWhole(deps, base)))
    throw new LostChunks(`${base.doc_id}: not every chunk that the commit names is stored`);
  const isCopied = isServing(base) && isOverLimits(deps, base);
  const record = buildRecord(deps, attempt, disk, {
    ...contentOf(base),
    ...(isCopied ? await rewriteBase(deps, attempt, base.metadata) : sameAsBase(base)),
  });
  return (await publish(deps, attempt, disk, record)) === 'done' ? { outcome: 'unchanged', record } : 'again';
}

/** Only changes of the last hour: a scan that finds a year-old file measures the scan, not the pipeline. */
function observeDelay(deps: IngestionDeps, disk: FileState): void {
  const seconds = (deps.clock.now() - changedMs(disk)) / 1000;
  if (seconds >= 0 && seconds < 3600) deps.metrics.changeToSearchable.observe(seconds);
}
