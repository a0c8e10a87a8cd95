import {
  type CommitRecord,
  docUuid,
  isDocId,
  makeDocId,
  type ReconcileRequest,
  SluiceError,
  splitDocId,
  topCommit,
  topRecord,
} from '@sluice/core';
import type { IngestionDeps, SourceView } from './deps.js';
import { type DiskState, observeDisk } from './observe.js';
import { collectStrays, deleteStrays, type Strays, totalOf } from './strays.js';
import { unnamed } from './sweep.js';
import { type DocumentObjects, readAgain, type StoredChunkFacts, walkDocuments } from './walk-documents.js';

/** Ways in which disk and store may differ. */
export const DRIFT_KINDS = [
  'missing_document',
  'stale_document',
  'unexpected_document',
  'missing_chunk',
  'orphan_chunk',
  'duplicate_chunk',
  'wrong_metadata',
] as const;

type DriftKind = (typeof DRIFT_KINDS)[number];

/** INTERFACES: `verify --json`, with what was left out because a job was at work. */
export interface VerifyReport {
  differences: number;
  by_kind: Record<DriftKind, number>;
  /** Failed documents whose last good revision answers queries. */
  failed_serving_old: number;
  /** Superseded objects that wait for their grace. */
  in_grace: number;
  /** Documents that differ while a job of theirs waits or runs: no difference. */
  in_flight: number;
  /** Sources whose root could not be read: their documents were not compared with the disk. */
  unreachable_sources: string[];
  /** Files and folders within sources that could not be read; what is known of them was kept, and what they newly hold was not compared. */
  unreadable_paths: number;
  checked: { files: number; documents: number; chunks: number };
  examples: { kind: DriftKind; doc_id: string }[];
  /** Documents that --repair wrote again or removed, and objects of no document that it deleted. */
  repaired?: number;
}

interface VerifyDeps extends Pick<IngestionDeps, 'store' | 'logger' | 'files' | 'policy' | 'source' | 'clock' | 'settings'> {
  /** Has a document repaired: committed again, or, with `rebuild`, every chunk of it written again. May only enqueue that. */
  repair(request: ReconcileRequest & { force: 'recommit' | 'rebuild' }): Promise<void>;
  /** The configured sources. */
  sources(): readonly SourceView[];
  /**
   * Paths of every document file of a source, by its ignore rules. Rejects when the root cannot be read; what else cannot be is told to
   * `onUnreadable`, and left out.
   */
  listFiles(source: SourceView, onUnreadable: () => void): AsyncIterable<string>;
  pending(docUuids: readonly string[]): Promise<ReadonlySet<string>>;
}

interface VerifyOptions {
  repair?: boolean;
  /** Which documents the examples may name; default all. The numbers are always those of the whole store. */
  mayName?(document: { docId: string; records: readonly CommitRecord[] }): boolean | Promise<boolean>;
  signal?: AbortSignal;
  /** Number of documents compared so far. */
  onProgress?: (documents: number) => void;
}

/**
 * How long the sweep may take over all it has noted, ms, before an object that waits for it counts as an orphan: beside the interval of
 * the audit, which alone knows of what a killed worker left, and a second grace, where a document had to be committed again first.
 */
const SWEEP_SLACK_MS = 30_000;

const MOST_EXAMPLES = 20;

/**
 * Compares disk, records and chunks three ways, while the system runs. What differs in the walk, which is no snapshot, is read again
 * (top, chunks, top), and counts only when both tops agree and no job of the document waits or runs.
 */
export async function verify(deps: VerifyDeps, options: VerifyOptions = {}): Promise<VerifyReport> {
  const report: VerifyReport = {
    differences: 0,
    by_kind: {
      missing_document: 0,
      stale_document: 0,
      unexpected_document: 0,
      missing_chunk: 0,
      orphan_chunk: 0,
      duplicate_chunk: 0,
      wrong_metadata: 0,
    },
    failed_serving_old: 0,
    in_grace: 0,
    in_flight: 0,
    unreachable_sources: [],
    unreadable_paths: 0,
    checked: { files: 0, documents: 0, chunks: 0 },
    examples: [],
  };
  const onDisk = await listDisk(deps, report);
  const strays = collectStrays();
  for await (const document of walkDocuments(deps.store, strays.onStray)) {
    options.signal?.throwIfAborted();
    onDisk.delete(document.docId);
    await checkDocument(deps, document, report, options);
    options.onProgress?.(report.checked.documents);
  }
  // What is left on the list has no object in the store at all.
  for (const docId of onDisk) {
    options.signal?.throwIfAborted();
    await checkDocument(deps, { docId, docUuid: docUuid(docId), records: [], chunks: [], pages: [] }, report, options);
  }
  await checkStrays(deps, strays, report, options);
  return report;
}

/** No job of a document reaches what none can have written, and no reader shows it: it differs at sight, and needs no second look to go. */
async function checkStrays(deps: VerifyDeps, strays: Strays, report: VerifyReport, options: VerifyOptions): Promise<void> {
  report.differences += totalOf(strays);
  report.by_kind.orphan_chunk += totalOf(strays);
  report.checked.chunks += strays.count.chunks;
  for (const { docId } of strays.held) {
    if (report.examples.length >= MOST_EXAMPLES) break;
    if (docId === undefined || !isDocId(docId)) continue;
    const uuid = docUuid(docId);
    const records = (await deps.store.recordsOf([uuid])).get(uuid) ?? [];
    if ((await options.mayName?.({ docId, records })) ?? true) report.examples.push({ kind: 'orphan_chunk', doc_id: docId });
  }
  if (options.repair && strays.held.length > 0) report.repaired = (report.repaired ?? 0) + (await deleteStrays(deps, strays));
}

async function listDisk(deps: VerifyDeps, report: VerifyReport): Promise<Set<string>> {
  const onDisk = new Set<string>();
  for (const source of deps.sources()) {
    if (!(await source.mayDelete())) {
      report.unreachable_sources.push(source.name);
      continue;
    }
    try {
      const onUnreadable = () => {
        report.unreadable_paths += 1;
      };
      for await (const path of deps.listFiles(source, onUnreadable)) {
        onDisk.add(makeDocId(source.name, path));
        report.checked.files += 1;
      }
    } catch {
      report.unreachable_sources.push(source.name);
    }
  }
  return onDisk;
}

async function checkDocument(
  deps: VerifyDeps,
  document: DocumentObjects,
  report: VerifyReport,
  options: VerifyOptions,
): Promise<void> {
  // What a record says that nobody is shown is not what is served.
  const listed = document.unseen === undefined ? document : await readAgain(deps.store, document);
  const top = topRecord(listed.records);
  if (top !== undefined && top.status !== 'deleted') report.checked.documents += 1;
  report.checked.chunks += document.chunks.length;
  if (top?.status === 'failed' && (topCommit(listed.records)?.chunks ?? 0) > 0) report.failed_serving_old += 1;

  const first = await compare(deps, listed, report);
  report.in_grace += first.inGrace;
  if (first.differences.size === 0) return;
  if (await isInFlight(deps, document.docUuid)) {
    report.in_flight += 1;
    return;
  }
  const again = await readAgain(deps.store, document);
  const second = await compare(deps, again, report);
  const after = topRecord((await deps.store.recordsOf([document.docUuid])).get(document.docUuid) ?? []);
  if (after?.id !== topRecord(again.records)?.id || (await isInFlight(deps, document.docUuid))) {
    report.in_flight += 1;
    return;
  }
  const mayName = report.examples.length < MOST_EXAMPLES && ((await options.mayName?.(again)) ?? true);
  for (const [kind, count] of second.differences) {
    report.by_kind[kind] += count;
    report.differences += count;
    if (mayName && report.examples.length < MOST_EXAMPLES) report.examples.push({ kind, doc_id: document.docId });
  }
  if (options.repair && second.differences.size > 0) await repair(deps, document.docId, second, report);
}

async function isInFlight(deps: VerifyDeps, documentUuid: string): Promise<boolean> {
  return (await deps.pending([documentUuid])).has(documentUuid);
}

interface Comparison {
  differences: Map<DriftKind, number>;
  inGrace: number;
  /** The file has other bytes under the very stat of its record: only reading it again tells. */
  isUnseen: boolean;
}

async function compare(deps: VerifyDeps, document: DocumentObjects, report: VerifyReport): Promise<Comparison> {
  const differences = new Map<DriftKind, number>();
  const add = (kind: DriftKind, count = 1) => {
    if (count > 0) differences.set(kind, (differences.get(kind) ?? 0) + count);
  };
  const top = topCommit(document.records);
  const newest = topRecord(document.records);

  let isUnseen = false;
  const source = deps.source(splitDocId(document.docId).source);
  if (source !== undefined && !report.unreachable_sources.includes(source.name)) {
    const drift = await compareDisk(deps, source, document.docId, newest);
    if (drift !== undefined) add(drift.kind);
    isUnseen = drift?.isUnseen ?? false;
  }

  const extra = top === undefined ? [] : unnamed(document.chunks, top);
  const isExtra = new Set(extra.map((object) => object.id));
  const live = top === undefined ? [] : document.chunks.filter((chunk) => !isExtra.has(chunk.id));
  const unexplained = top === undefined ? document.chunks : extra;
  let inGrace = 0;
  for (const chunk of unexplained) {
    if (isInGrace(deps, chunk.fence, top)) inGrace += 1;
    else add('orphan_chunk');
  }
  if (top !== undefined && top.chunks > 0) {
    const isWhole = live.length === top.chunks && top.pages.every((page) => document.pages.some((other) => other.id === page));
    if (!isWhole) for (const [kind, count] of await compareManifest(deps, top, live, document)) add(kind, count);
    add(
      'wrong_metadata',
      live.filter((chunk) => chunk.metadataHash !== undefined && chunk.metadataHash !== top.chunk_metadata_hash).length,
    );
  }
  return { differences, inGrace, isUnseen };
}

/** A fence is the time of its attempt in microseconds, so it tells an object's age. */
function isInGrace(deps: VerifyDeps, fence: number, top: CommitRecord | undefined): boolean {
  const supersededMs = Math.max(fence / 1000, (top?.fence ?? 0) / 1000);
  const { readerGraceMs, auditIntervalMs } = deps.settings;
  return deps.clock.now() < supersededMs + 2 * readerGraceMs + auditIntervalMs + SWEEP_SLACK_MS;
}

async function compareManifest(
  deps: VerifyDeps,
  top: CommitRecord,
  live: readonly StoredChunkFacts[],
  document: DocumentObjects,
): Promise<[DriftKind, number][]> {
  const stored = new Set(document.pages.map((page) => page.id));
  if (top.pages.some((page) => !stored.has(page))) return [['missing_chunk', top.chunks]];
  const { entries } = await deps.store.readManifest(top);
  const named = new Map(entries.map((entry) => [entry.id, entry.text_hash]));
  const present = new Set(live.map((chunk) => chunk.id));
  const hashes = new Set(named.values());
  const surplus = live.filter((chunk) => !named.has(chunk.id));
  const duplicates = surplus.filter((chunk) => chunk.textHash !== undefined && hashes.has(chunk.textHash)).length;
  return [
    ['missing_chunk', entries.filter((entry) => !present.has(entry.id)).length],
    ['duplicate_chunk', duplicates],
    ['orphan_chunk', surplus.length - duplicates],
  ];
}

async function compareDisk(
  deps: VerifyDeps,
  source: SourceView,
  docId: string,
  newest: CommitRecord | undefined,
): Promise<{ kind: DriftKind; isUnseen?: boolean } | undefined> {
  const { sourcePath } = splitDocId(docId);
  let disk: DiskState;
  try {
    disk = await observeDisk(deps, source, sourcePath);
  } catch (cause) {
    // A name that is not UTF-8, or a file that may not be looked at: right as long as the failure is recorded. What a folder holds that
    // refuses every look is kept as it was last seen.
    const isKept = isStored(newest) && cause instanceof SluiceError && cause.code === 'unreadable';
    return isKept || newest?.status === 'failed' ? undefined : { kind: 'missing_document' };
  }
  if (disk.kind === 'gone') return isStored(newest) ? { kind: 'unexpected_document' } : undefined;
  if (!isStored(newest)) return { kind: 'missing_document' };
  const stale = { kind: 'stale_document' } as const;
  if (newest.sidecar_stat !== disk.sidecarStat) return stale;
  // One that was discarded waits for a change of its file.
  const { configHash, fingerprint } = disk.policy;
  if (!newest.discarded && (newest.config_hash !== configHash || newest.fingerprint !== fingerprint(newest.format))) return stale;
  if (newest.content_hash === '') return newest.stat === disk.statKey ? undefined : stale;
  const hash = await deps.files.hash(disk.path).catch(() => '');
  return hash === newest.content_hash ? undefined : { ...stale, isUnseen: newest.stat === disk.statKey };
}

function isStored(newest: CommitRecord | undefined): newest is CommitRecord {
  return newest !== undefined && newest.status !== 'deleted';
}

async function repair(
  deps: VerifyDeps,
  docId: string,
  { differences, isUnseen }: Comparison,
  report: VerifyReport,
): Promise<void> {
  const { source, sourcePath } = splitDocId(docId);
  const rebuild =
    isUnseen || ['missing_chunk', 'duplicate_chunk', 'wrong_metadata'].some((kind) => differences.has(kind as DriftKind));
  await deps.repair({ source, path: sourcePath, cause: 'retry', force: rebuild ? 'rebuild' : 'recommit' });
  report.repaired = (report.repaired ?? 0) + 1;
}
