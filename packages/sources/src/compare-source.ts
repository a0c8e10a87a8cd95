import { type Cause, type FileStat, type Files, sameStat, statKey } from '@sluice/core';
import type { IgnoreSettings } from './ignore-rules.js';
import { createIgnoreRules } from './ignore-rules.js';
import type { KnownDocument, KnownDocuments } from './known-documents.js';
import { type Listed, listSource } from './list-source.js';
import { mapLimited } from './map-limited.js';
import { absolutePath } from './paths.js';
import type { RootGuard, RootState } from './root-guard.js';
import type { VerifiedStats } from './verified-stats.js';

/** A path whose stored state is not that of the disk. */
export interface Difference {
  path: string;
  /** `scan` for one that is new, changed or gone; `config` where settings or rules changed; `retry` for a failure to try again. */
  cause: Extract<Cause, 'scan' | 'config' | 'retry'>;
  /** Nothing is there that is a document: the job will delete. */
  gone: boolean;
}

export interface ComparePolicy {
  /** Hash of parser, chunker and embedder with their settings for this path. */
  fingerprint: string;
  configHash: string;
}

export interface CompareOptions {
  root: string;
  files: Files;
  settings: IgnoreSettings;
  known: KnownDocuments;
  /** @param format the format that the document's record names; `''` for none */
  policyFor(path: string, format: string): ComparePolicy;
  guard: Pick<RootGuard, 'check'>;
  verified: VerifiedStats;
  /** At start and after a flush: failures that may have passed by themselves are tried again. */
  retryTransient: boolean;
  /** The source reads created_at from mtime, so a new mtime is a change even when the content is the same. */
  mtimeMatters?: boolean;
  /** Called with each batch of files compared. */
  onFiles?: (count: number) => void;
  /** Called with each document path that is there. */
  onSeen?: (path: string) => void;
  signal?: AbortSignal;
}

export interface CompareSummary {
  files: number;
  root: RootState;
  /** Files and folders that could not be asked, with the reason: nothing at or below them was taken for missing. At most 20. */
  errors: { path: string; error: unknown }[];
  errorCount: number;
}

const BATCH = 256;
/** Files hashed at a time: small ones are read whole. */
const HASHES_AT_ONCE = 16;
const KEPT_ERRORS = 20;

/**
 * Compares the disk with the store and yields differences in batches: first what is there, then what is gone. The summary is what the
 * generator returns.
 *
 * A document is unchanged when stat, sidecar, fingerprint and configuration are those of its record, or when the stat differs and the
 * content's hash does not. What is gone is told only while the root is `ok`, after a second look at each path.
 */
export async function* compareSource(options: CompareOptions): AsyncGenerator<Difference[], CompareSummary> {
  const errors: { path: string; error: unknown }[] = [];
  const summary: CompareSummary = { files: 0, root: await options.guard.check(livePaths(options.known)), errors, errorCount: 0 };
  if (summary.root.state === 'missing' || summary.root.state === 'unreadable') return summary;
  const seen = new Set<string>();
  const unreachable: string[] = [];
  const rules = createIgnoreRules(options.settings);
  const walk = listSource({ ...pick(options), rules });

  async function judge(item: Listed): Promise<Difference | undefined> {
    switch (item.kind) {
      case 'ignored':
        return undefined;
      case 'error':
        unreachable.push(item.path);
        summary.errorCount++;
        if (errors.length < KEPT_ERRORS) errors.push({ path: item.path, error: item.error });
        return undefined;
      case 'invalid_name': {
        seen.add(item.path);
        const before = options.known.get(item.path);
        const told = before?.status === 'failed' && before.reason === 'invalid_path';
        return told ? undefined : { path: item.path, cause: 'scan', gone: false };
      }
      case 'file': {
        seen.add(item.path);
        options.onSeen?.(item.path);
        const cause = await judgeFile(options, item.path, item.stat, item.sidecarStat);
        return cause === undefined ? undefined : { path: item.path, cause, gone: false };
      }
    }
  }

  for await (const batch of walk) {
    const judged = await mapLimited(batch, HASHES_AT_ONCE, (item) => judge(item));
    const files = batch.filter((item) => item.kind === 'file').length;
    summary.files += files;
    options.onFiles?.(files);
    const differences = judged.filter((difference) => difference !== undefined);
    if (differences.length > 0) yield differences;
  }

  // The root may have gone while it was walked.
  summary.root = await options.guard.check(livePaths(options.known));
  const candidates: Difference[] = [];
  for (const [path, before] of options.known) {
    if (seen.has(path)) continue;
    if (before.status === 'deleted' || unreachable.some((folder) => isAtOrBelow(path, folder))) continue;
    const ignored = rules.explain(path) !== undefined;
    // An ignored document is not gone from the disk: a rule says so, and the rules were read, so the root is there.
    if (summary.root.state !== 'ok' && !ignored) continue;
    options.verified.delete(path);
    candidates.push({ path, cause: ignored ? 'config' : 'scan', gone: true });
  }
  for (let at = 0; at < candidates.length; at += BATCH) {
    options.signal?.throwIfAborted();
    const batch = await Promise.all(
      candidates.slice(at, at + BATCH).map(async (candidate) => {
        if (candidate.cause === 'config') return candidate;
        return (await isGone(options, candidate.path)) ? candidate : undefined;
      }),
    );
    yield batch.filter((difference) => difference !== undefined);
  }
  await options.verified.save();
  return summary;
}

function pick(options: CompareOptions) {
  const { files, root, settings, signal } = options;
  return signal === undefined ? { files, root, settings } : { files, root, settings, signal };
}

/** Documents that were there when last seen: tombstones would speak for a root that lost everything. */
function* livePaths(known: KnownDocuments): Iterable<string> {
  for (const [path, document] of known) if (document.status !== 'deleted') yield path;
}

function isAtOrBelow(path: string, folder: string): boolean {
  return folder === '' || path === folder || path.startsWith(`${folder}/`);
}

/** A path may have been moved to where the walk had been already, or its folder was away for a moment. */
async function isGone(options: CompareOptions, path: string): Promise<boolean> {
  try {
    return (await options.files.stat(absolutePath(options.root, path)))?.kind !== 'file';
  } catch {
    return false;
  }
}

/** Why a file that is there must be reconciled; undefined when its record describes its present state. */
async function judgeFile(
  options: CompareOptions,
  path: string,
  stat: FileStat,
  sidecarStat: string,
): Promise<Difference['cause'] | undefined> {
  const before = options.known.get(path);
  if (before === undefined || before.status === 'deleted') return 'scan';
  if (before.sidecarStat !== sidecarStat) return 'scan';
  const key = statKey(stat);
  if (before.stat !== key) {
    if (options.mtimeMatters === true && mtimeOf(before.stat) !== stat.mtimeNs) return 'scan';
    // A failure is tried again when the stat changed; one that was discarded only when the content did.
    if (before.status === 'failed' && !before.discarded) return 'scan';
    if (!(await hasContent(options, path, stat, before))) return 'scan';
  }
  if (before.discarded) return undefined;
  const policy = options.policyFor(path, before.format);
  if (before.fingerprint !== policy.fingerprint || before.configHash !== policy.configHash) return 'config';
  return options.retryTransient && before.status === 'failed' && mayPass(before) ? 'retry' : undefined;
}

function mtimeOf(stat: string): string | undefined {
  return stat.split(':')[1];
}

/** INTERFACES, status: reasons that may have passed by themselves. */
function mayPass(document: KnownDocument): boolean {
  const { reason } = document;
  return reason === 'embed_failed' || reason === 'llm_failed' || reason === 'internal' || reason?.startsWith('store_') === true;
}

async function hasContent(options: CompareOptions, path: string, stat: FileStat, before: KnownDocument): Promise<boolean> {
  const key = statKey(stat);
  if (before.contentHash === '') return false;
  if (options.verified.has(path, key, before.contentHash)) return true;
  try {
    const absolute = absolutePath(options.root, path);
    const hash = await options.files.hash(absolute);
    // The stat must have stood still while the content was read, else it may stand for other bytes.
    if (hash !== before.contentHash || !sameStat(stat, await options.files.stat(absolute))) return false;
    options.verified.set(path, key, hash);
    return true;
  } catch {
    // The job will say what is wrong with the file.
    return false;
  }
}
