import { dirname, join } from 'node:path';
import { type FileStat, type Files, SluiceError, sidecarKey, statKey } from '@sluice/core';
import { sidecarOf } from '@sluice/metadata';
import type { IngestionDeps, SourceView } from './deps.js';
import type { DocumentPolicy } from './policy.js';

/** What the disk says of a path at one moment. */
export type DiskState =
  | { kind: 'gone' }
  | ({ kind: 'file'; path: string; stat: FileStat; statKey: string; policy: DocumentPolicy } & SidecarState);

export interface SidecarState {
  sidecarPath: string;
  /** Undefined where none is, or what is there is no file. */
  sidecar?: FileStat;
  /** sidecarKey: '' without one. */
  sidecarStat: string;
}

/** A path that may leave its root is never looked at, whoever asks. */
function isInside(path: string): boolean {
  return path !== '' && !path.startsWith('/') && !path.split('/').some((part) => part === '' || part === '.' || part === '..');
}

/**
 * Looks at the disk. A path that the rules ignore, a folder, a link, and a path through a link all count as gone.
 *
 * @throws SluiceError `invalid_path` for a name that is not UTF-8, `unreadable` when the file system refuses the look.
 */
export async function observeDisk(
  deps: Pick<IngestionDeps, 'files' | 'policy'>,
  source: SourceView,
  sourcePath: string,
): Promise<DiskState> {
  if (!isInside(sourcePath)) return { kind: 'gone' };
  const path = join(source.root, ...sourcePath.split('/'));
  const stat = await lookAt(deps.files, path);
  if (stat === undefined) {
    if (await isInvalidName(deps.files, path)) {
      throw new SluiceError('invalid_path', `${sourcePath}: the file's name is not valid UTF-8; rename it`);
    }
    return { kind: 'gone' };
  }
  if (stat.kind !== 'file' || !(await source.accepts(sourcePath)) || !(await isOwnSpelling(deps.files, source.root, path)))
    return { kind: 'gone' };
  const sidecar = await lookAtSidecar(deps.files, path);
  return { kind: 'file', path, stat, statKey: statKey(stat), ...sidecar, policy: deps.policy.of(source.name, sourcePath) };
}

/** What stands in the place of a file's sidecar. */
export async function lookAtSidecar(files: Files, path: string): Promise<SidecarState> {
  const sidecarPath = sidecarOf(path);
  const sidecar = await lookAt(files, sidecarPath);
  return { sidecarPath, ...(sidecar?.kind === 'file' ? { sidecar } : {}), sidecarStat: sidecarKey(sidecar) };
}

/** Any name will do: what counts is whether the root lets names be looked for. */
const PROBE = '.sluice-probe';

/**
 * What a path that was refused says of its document: nothing where the root refuses every look (`root`) or the path can be read by now
 * (`mended`), else that this very document cannot be read.
 */
export async function whyUnreadable(
  deps: Pick<IngestionDeps, 'files' | 'policy'>,
  source: SourceView,
  sourcePath: string,
): Promise<'root' | 'mended' | 'document'> {
  const isRefused = await deps.files.stat(join(source.root, PROBE)).then(
    () => false,
    () => true,
  );
  if (isRefused) return 'root';
  try {
    const disk = await observeDisk(deps, source, sourcePath);
    if (disk.kind === 'file') await deps.files.readHead(disk.path, 1);
    if (disk.kind === 'file' && disk.sidecar !== undefined) await deps.files.readHead(disk.sidecarPath, 1);
    return 'mended';
  } catch {
    return 'document';
  }
}

export function sameDisk(a: DiskState, b: DiskState): boolean {
  if (a.kind !== 'file' || b.kind !== 'file') return a.kind === b.kind;
  return a.statKey === b.statKey && a.sidecarStat === b.sidecarStat && a.policy.configHash === b.policy.configHash;
}

async function lookAt(files: Files, path: string): ReturnType<Files['stat']> {
  try {
    return await files.stat(path);
  } catch (cause) {
    throw new SluiceError('unreadable', `${path} cannot be looked at (${codeOf(cause)}); check its permissions`, { cause });
  }
}

/** The real path must be the one asked for: else it leads through a link, or the disk folds case and holds another spelling. */
async function isOwnSpelling(files: Files, root: string, path: string): Promise<boolean> {
  try {
    const [realRoot, realPath] = await Promise.all([files.realpath(root), files.realpath(path)]);
    return realPath === join(realRoot, path.slice(root.length));
  } catch {
    return false;
  }
}

async function isInvalidName(files: Files, path: string): Promise<boolean> {
  if (!path.includes('\uFFFD')) return false;
  const entries = await files.list(dirname(path)).catch(() => []);
  return entries.some((entry) => !entry.validName && join(dirname(path), entry.name) === path);
}

export function codeOf(cause: unknown): string {
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code;
  return cause instanceof Error ? cause.message : String(cause);
}

/** Whole seconds are what FAT (two of them), HFS+, ext3 and some network shares keep. */
const SECOND_NS = 1_000_000_000n;
const COARSE_MS = 2_000;

/** The later of a file's stamps, Unix milliseconds: not each file system sets ctime with every write. */
function newestStampMs({ mtimeNs, ctimeNs }: FileStat): number {
  const stamps = [mtimeNs, ctimeNs].map((ns) => Number(BigInt(ns) / 1_000_000n));
  return Math.max(...stamps);
}

/** How long a file must have been still before it is read: at least as long as a second write might leave its stamp as it is. */
function stillMs(source: SourceView, { mtimeNs, ctimeNs }: FileStat): number {
  const isCoarse = BigInt(mtimeNs) % SECOND_NS === 0n && BigInt(ctimeNs) % SECOND_NS === 0n;
  return isCoarse ? Math.max(COARSE_MS, source.stabilityMs) : source.stabilityMs;
}

/**
 * Waits until a file just written has been still for the source's stability time, and longer where its stamps are coarse. The watcher
 * waits too; this covers jobs that come another way. Gives up after a minute: then the check after the commit decides.
 */
export async function waitUntilStill(
  deps: Pick<IngestionDeps, 'files' | 'policy' | 'clock'>,
  source: SourceView,
  sourcePath: string,
  seen: DiskState,
  signal?: AbortSignal,
): Promise<DiskState> {
  let state = seen;
  const deadline = deps.clock.monotonic() + 60_000;
  while (state.kind === 'file' && deps.clock.monotonic() < deadline) {
    const now = deps.clock.now();
    const waits = [state.stat, ...(state.sidecar === undefined ? [] : [state.sidecar])].map((stat) => ({
      age: now - newestStampMs(stat),
      needed: stillMs(source, stat),
    }));
    const { age, needed } = waits.reduce((a, b) => (b.needed - b.age > a.needed - a.age ? b : a));
    if (age >= needed) return state;
    // A change time in the future (another machine's clock) says nothing of the age: wait the whole time once and compare.
    const wait = age < 0 ? needed : needed - age;
    await deps.clock.sleep(Math.max(1, wait), signal);
    const next = await observeDisk(deps, source, sourcePath);
    if (age < 0 && sameDisk(state, next)) return next;
    state = next;
  }
  return state;
}
