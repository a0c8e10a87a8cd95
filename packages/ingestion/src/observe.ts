import { dirname, join } from 'node:path';
import { type EntryStat, type Files, fileFaultKind, isAbsence, SluiceError, sidecarKey, statKey } from '@sluice/core';
import { sidecarsOf } from '@sluice/metadata';
import type { IngestionDeps, SourceView } from './deps.js';
import type { DocumentPolicy } from './policy.js';

/** What the disk says of a path at one moment. */
export type DiskState =
  | { kind: 'gone' }
  | ({ kind: 'file'; path: string; stat: EntryStat; statKey: string; policy: DocumentPolicy } & SidecarState);

export interface SidecarState {
  /** What stands under the names of a sidecar: one path, or none; more are a fault of whoever wrote them. */
  sidecarPaths: string[];
  /** Undefined where none is, more than one, or what is there is no file. */
  sidecar?: EntryStat;
  /** sidecarKey: '' without one. */
  sidecarStat: string;
}

/** Where a path of a source is on disk. A path that may leave its root is never looked at, whoever asks. */
export function pathIn({ root }: Pick<SourceView, 'root'>, path: string): string | undefined {
  const parts = path.split('/');
  return parts.some((part) => part === '' || part === '.' || part === '..') ? undefined : join(root, ...parts);
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
  const path = pathIn(source, sourcePath);
  if (path === undefined) return { kind: 'gone' };
  const stat = await lookAt(deps.files, path);
  if (stat === undefined) {
    if (await isInvalidName(deps.files, path)) {
      throw new SluiceError('invalid_path', `${sourcePath}: the file's name is not valid UTF-8; rename it`);
    }
    return { kind: 'gone' };
  }
  if (stat.kind !== 'file' || !(await source.accepts(sourcePath)) || !(await isOwnSpelling(deps.files, source, path)))
    return { kind: 'gone' };
  const sidecar = await lookAtSidecar(deps.files, path, stat);
  return { kind: 'file', path, stat, statKey: statKey(stat), ...sidecar, policy: deps.policy.of(source.name, sourcePath) };
}

/**
 * Checks a path again that was checked before in the same job. A file whose own stat is the same (inode, size and stamps) is still
 * the same document: the ignore rules and the way to it are not checked again. A change of those is reported by the watcher, whose job
 * checks in full. So a recheck costs two stats instead of two, two resolved paths and one more per folder level.
 *
 * @throws SluiceError as observeDisk
 */
export async function observeAgain(
  deps: Pick<IngestionDeps, 'files' | 'policy'>,
  { source, sourcePath }: { source: SourceView; sourcePath: string },
  known: DiskState | undefined,
): Promise<DiskState> {
  if (known?.kind !== 'file') return observeDisk(deps, source, sourcePath);
  const [stat, sidecar] = await Promise.all([
    lookAt(deps.files, known.path, known.stat),
    lookAtSidecar(deps.files, known.path, known.stat),
  ]);
  if (stat?.kind !== 'file' || statKey(stat) !== known.statKey) return observeDisk(deps, source, sourcePath);
  const { path, statKey: key } = known;
  return { kind: 'file', path, stat, statKey: key, ...sidecar, policy: deps.policy.of(source.name, sourcePath) };
}

/** What stands in the place of a file's sidecar. */
export async function lookAtSidecar(files: Files, path: string, known?: EntryStat): Promise<SidecarState> {
  const paths = sidecarsOf(path);
  const stats = await Promise.all(paths.map((sidecar) => lookAt(files, sidecar, known)));
  const sidecarPaths = paths.filter((_, at) => stats[at] !== undefined);
  const sidecar = sidecarPaths.length === 1 ? stats.find((stat) => stat !== undefined) : undefined;
  return {
    sidecarPaths,
    ...(sidecar?.kind === 'file' ? { sidecar } : {}),
    sidecarStat: sidecarKey(stats),
  };
}

/** Any name will do: what counts is whether the root lets names be looked for. */
const PROBE = '.sluice-probe';

/**
 * What a path that was refused says of its document: nothing where the root refuses every look (`root`) or the path can be read by now
 * (`readable`), else that this very document cannot be read.
 */
export async function whyUnreadable(
  deps: Pick<IngestionDeps, 'files' | 'policy'>,
  source: SourceView,
  sourcePath: string,
): Promise<'root' | 'readable' | 'document'> {
  const isRefused = await deps.files.stat(join(source.root, PROBE)).then(
    () => false,
    () => true,
  );
  if (isRefused) return 'root';
  try {
    const disk = await observeDisk(deps, source, sourcePath);
    if (disk.kind === 'file') await deps.files.readHead(disk.path, 1);
    if (disk.kind === 'file') for (const sidecar of disk.sidecarPaths) await deps.files.readHead(sidecar, 1);
    return 'readable';
  } catch {
    return 'document';
  }
}

export function sameDisk(a: DiskState, b: DiskState): boolean {
  if (a.kind !== 'file' || b.kind !== 'file') return a.kind === b.kind;
  return a.statKey === b.statKey && a.sidecarStat === b.sidecarStat && a.policy.configHash === b.policy.configHash;
}

async function lookAt(files: Files, path: string, known?: EntryStat): ReturnType<Files['stat']> {
  try {
    return await files.stat(path, known);
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

/** Real paths of roots, as last resolved. */
const realRoots = new WeakMap<SourceView, string>();

/** The real path must be the one asked for: else it leads through a link, or the disk folds case and holds another spelling. */
async function isOwnSpelling(files: Files, source: SourceView, path: string): Promise<boolean> {
  const relative = path.slice(source.root.length);
  try {
    const real = await files.realpath(path);
    const known = realRoots.get(source);
    if (known !== undefined && real === join(known, relative)) return true;
    // The root may be a link that leads elsewhere by now.
    const root = await files.realpath(source.root);
    realRoots.set(source, root);
    return real === join(root, relative);
  } catch (cause) {
    if (isAbsence(cause)) return false;
    // Any other fault says nothing about the spelling: taken for another one, it would delete the document.
    throw unreadable(path, cause);
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

/** The error for a path that the file system refused: transient where the cause passes by itself, else permanent. */
export function unreadable(path: string, cause: unknown): SluiceError {
  const kind = fileFaultKind(cause);
  const hint = kind === 'transient' ? 'check its disk or mount' : 'check its permissions';
  return new SluiceError('unreadable', `${path} cannot be read (${codeOf(cause)}); ${hint}`, { kind, cause });
}
