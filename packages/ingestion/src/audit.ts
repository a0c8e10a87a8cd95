import { splitDocId, topCommit, topRecord } from '@sluice/core';
import { isBetween, readRecords } from './attempt.js';
import type { IngestionDeps } from './deps.js';
import type { Reconciler } from './reconcile.js';
import { isOverLimits } from './settled.js';
import { collectStrays, deleteStrays, totalOf } from './strays.js';
import { type Sweeper, unnamed } from './sweep.js';
import { type DocumentObjects, readAgain, walkDocuments } from './walk-documents.js';

interface AuditDeps extends IngestionDeps {
  reconciler: Reconciler;
  sweeper: Sweeper;
  /** Which of these documents have a job that waits or runs: that job repairs them. */
  pending(docUuids: readonly string[]): Promise<ReadonlySet<string>>;
  /** Frees deduplication keys whose job is in no list; returns how many. */
  freeStuckKeys(): Promise<number>;
}

interface AuditReport {
  documents: number;
  swept: number;
  recommitted: number;
  tombstones: number;
  /** Objects of no document that were deleted. */
  strays: number;
  freedKeys: number;
}

/**
 * The net under the writers: finds what a crash, a flush or a lost hint left behind, and hands it to the sweep or to a reconcile.
 * Compares the store with itself; that the disk agrees is the scan's part.
 */
export async function audit(deps: AuditDeps, signal?: AbortSignal): Promise<AuditReport> {
  const report: AuditReport = {
    documents: 0,
    swept: 0,
    recommitted: 0,
    tombstones: 0,
    strays: 0,
    freedKeys: await deps.freeStuckKeys(),
  };
  const drift = { orphan_chunk: 0, missing_chunk: 0, wrong_metadata: 0 };
  const strays = collectStrays();
  // Repairs wait for the end of the walk: it is no snapshot, and the longer it takes the less it is one.
  const found: { document: DocumentObjects; finding: Repairable }[] = [];
  for await (const document of walkDocuments(deps.store, strays.onStray)) {
    if (signal?.aborted) break;
    report.documents += 1;
    const finding = judge(deps, document);
    const top = topCommit(document.records);
    if (finding === 'sweep' && top !== undefined) {
      // A document's own job sweeps nothing where it finds nothing changed, and may wait behind thousands.
      deps.sweeper.note(top);
      report.swept += 1;
    } else if (finding !== 'fine' && finding !== 'sweep' && found.length < MOST_REPAIRS) found.push({ document, finding });
  }
  for (const { document, finding } of found) {
    if (signal?.aborted) break;
    if (!(await isConfirmed(deps, document, finding))) continue;
    if (finding === 'tombstone') {
      if (await dropTombstone(deps, document)) report.tombstones += 1;
      continue;
    }
    drift[DRIFT_OF[finding]] += 1;
    await repair(deps, document, finding, signal);
    report.recommitted += 1;
  }
  report.strays = await deleteStrays(deps, strays);
  drift.orphan_chunk += totalOf(strays);
  for (const [kind, count] of Object.entries(drift)) deps.metrics.drift.set({ kind }, count);
  return report;
}

const DRIFT_OF = { orphan: 'orphan_chunk', incomplete: 'missing_chunk', wrong: 'wrong_metadata' } as const;

type Repairable = keyof typeof DRIFT_OF | 'tombstone';
type Finding = 'fine' | 'sweep' | Repairable;

/** Documents repaired by one audit; the next one has those beyond. */
const MOST_REPAIRS = 1_000;

/** Whether a finding of the walk still holds: by a second reading under one top record, while no job of the document waits or runs. */
async function isConfirmed(deps: AuditDeps, document: DocumentObjects, finding: Repairable): Promise<boolean> {
  // A document's own job repairs it.
  if ((await deps.pending([document.docUuid])).has(document.docUuid)) return false;
  // The walk has asked for the records of one that nobody is shown again.
  if (document.unseen !== undefined) return true;
  const again = await readAgain(deps.store, document);
  const after = topRecord(await readRecords(deps, document.docUuid));
  return after?.id === topRecord(again.records)?.id && judge(deps, again) === finding;
}

async function repair(
  deps: AuditDeps,
  document: DocumentObjects,
  finding: keyof typeof DRIFT_OF,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { source, sourcePath } = splitDocId(document.docId);
  // A commit that can't be seen must not come out above the one that repairs.
  if (document.unseen !== undefined) await deps.fences.take(document.docUuid, document.unseen.fence);
  await deps.reconciler
    .reconcile(
      { source, path: sourcePath, cause: 'scan' },
      { recommit: true, rebuild: finding === 'wrong', ...(signal === undefined ? {} : { signal }) },
    )
    .catch((cause: unknown) => {
      deps.logger.warn(
        { doc_id: document.docId, cause: String(cause) },
        'the audit could not repair a document; it is tried again',
      );
    });
}

function judge(deps: IngestionDeps, document: DocumentObjects): Finding {
  if (document.unseen !== undefined) return 'orphan';
  const top = topCommit(document.records);
  if (top === undefined) return document.chunks.length + document.pages.length > 0 ? 'orphan' : 'fine';
  const objects = [
    ...document.chunks,
    ...document.pages,
    ...document.records.map((record) => ({
      collection: 'commits' as const,
      id: record.id,
      fence: record.fence,
      attempt: record.attempt,
    })),
  ];
  const extra = unnamed(objects, top);
  const isExtra = new Set(extra.map((object) => object.id));
  const live = document.chunks.filter((chunk) => !isExtra.has(chunk.id));
  if (live.length !== top.chunks) return live.length < top.chunks ? 'incomplete' : 'orphan';
  const pages = new Set(document.pages.map((page) => page.id));
  if (top.pages.some((page) => !pages.has(page))) return 'incomplete';
  if (live.some((chunk) => chunk.metadataHash !== undefined && chunk.metadataHash !== top.chunk_metadata_hash)) return 'wrong';
  if (extra.length > 0 || isOverLimits(deps, top) || document.records.some((record) => isBetween(record, top))) return 'sweep';
  if (top.status === 'deleted' && deps.clock.now() - Date.parse(top.committed_at) > deps.settings.tombstoneMs) return 'tombstone';
  return 'fine';
}

/** A tombstone goes last, alone, and only when a fresh listing shows no other object of the document. */
async function dropTombstone(deps: IngestionDeps, document: DocumentObjects): Promise<boolean> {
  const objects = await deps.store.listObjects(document.docUuid);
  const [only] = objects;
  const top = topCommit(document.records);
  if (objects.length !== 1 || only === undefined || only.id !== top?.id) return false;
  await deps.store.deleteObjects([only]);
  return true;
}

interface AuditLoop {
  start(): void;
  stop(): Promise<void>;
}

/** Audits at start, since a crash may have left something, and then again and again; a long audit makes for long pauses. */
export function createAuditLoop(deps: AuditDeps): AuditLoop {
  const stopping = new AbortController();
  let running: Promise<void> | undefined;
  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const began = deps.clock.monotonic();
      try {
        const report = await audit(deps, stopping.signal);
        deps.logger.debug(report, 'audit');
      } catch (cause) {
        deps.logger.warn(
          { cause: cause instanceof Error ? cause.message : String(cause) },
          'an audit failed; the next one tries again',
        );
      }
      const took = deps.clock.monotonic() - began;
      await deps.clock.sleep(Math.max(deps.settings.auditIntervalMs, 20 * took), stopping.signal).catch(() => {});
    }
  }
  return {
    start() {
      running ??= run();
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
