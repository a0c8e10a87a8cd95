import { type CommitRecord, type DocumentMetadata, type Files, type ReadResult, SluiceError } from '@sluice/core';
import {
  type DocumentAccess,
  decodeYamlBytes,
  frontMatterOf,
  MAX_SIDECAR_BYTES,
  type MetadataInput,
  mayHaveFrontMatter,
  narrowAccess,
  parseSidecar,
  refuseUnreadAccess,
  resolveAccess,
  resolveMetadata,
} from '@sluice/metadata';
import type { Target } from './attempt.js';
import type { IngestionDeps, SourceView } from './deps.js';
import { codeOf, type DiskState, lookAtSidecar, observeDisk, type SidecarState, unreadable } from './observe.js';

export type Access = DocumentAccess;
export type FileState = Extract<DiskState, { kind: 'file' }>;

export interface ResolvedDocument {
  metadata: DocumentMetadata;
  warnings: string[];
  extra: Record<string, unknown>;
}

/** Bytes read for the front matter; four bytes a character at most, so the longest that is accepted fits. */
const HEAD_BYTES = 1_048_576;

/** Access of a document whose level or groups are invalid: hidden from all but the highest clearance. */
const HIDDEN: Access = { security_level: 5 };

/** The sidecar's mapping; undefined without one. */
export async function readSidecar(
  deps: Pick<IngestionDeps, 'files'>,
  disk: SidecarState,
): Promise<Record<string, unknown> | undefined> {
  const [path, ...others] = disk.sidecarPaths;
  if (path === undefined) return undefined;
  // Whoever put it there meant to say something of the document, and it may be who may see it.
  if (others.length > 0) throw unclearSidecar(`${disk.sidecarPaths.join(' and ')} speak of the same file; keep one of them`);
  if (disk.sidecar === undefined)
    throw unclearSidecar(`${path} is no file; a sidecar is read from a file itself, never through a link`);
  try {
    return parseSidecar(decodeYamlBytes(await deps.files.readHead(path, MAX_SIDECAR_BYTES, disk.sidecar)));
  } catch (cause) {
    if (cause instanceof SluiceError)
      throw new SluiceError(cause.code, `${path}: ${cause.message}`, {
        cause,
        ...(cause.details === undefined ? {} : { details: cause.details }),
      });
    // Gone since it was looked at: the check after the commit sees that, and the reconcile runs again.
    if (codeOf(cause) === 'ENOENT') return undefined;
    throw unreadable(path, cause);
  }
}

function unclearSidecar(message: string): SluiceError {
  return new SluiceError('invalid_metadata', message, { details: { field: 'sidecar', access: true } });
}

/**
 * Who may see the document as the disk stands, found without parsing it.
 *
 * @throws SluiceError `invalid_metadata` with `details.access` when level or groups are invalid; `unreadable`
 */
export async function accessNow(deps: IngestionDeps, target: Target, disk: FileState): Promise<Access> {
  return accessBy(target, disk, await readBoth(deps, disk));
}

/** What the front matter and the sidecar of a file say, read as an ingest reads them. Throws as accessNow does. */
export async function readOwnMetadata(files: Files, path: string): Promise<Pick<MetadataInput, 'frontMatter' | 'sidecar'>> {
  return readBoth({ files }, { path, ...(await lookAtSidecar(files, path)) });
}

async function readBoth(
  deps: Pick<IngestionDeps, 'files'>,
  disk: SidecarState & { path: string },
): Promise<Pick<MetadataInput, 'frontMatter' | 'sidecar'>> {
  const { readable, faults } = await readEach(deps, disk);
  if (faults.length > 0) throw faults.find(concernsAccess) ?? faults[0];
  return readable;
}

/** Front matter and sidecar, each read on its own: what is wrong with one takes nothing from the other. */
async function readEach(
  deps: Pick<IngestionDeps, 'files'>,
  disk: SidecarState & { path: string },
): Promise<{ readable: Pick<MetadataInput, 'frontMatter' | 'sidecar'>; faults: unknown[] }> {
  const [sidecar, frontMatter] = await Promise.allSettled([readSidecar(deps, disk), readFrontMatter(deps, disk.path)]);
  return {
    readable: {
      ...(sidecar.status === 'rejected' || sidecar.value === undefined ? {} : { sidecar: sidecar.value }),
      ...(frontMatter.status === 'rejected' || frontMatter.value === undefined ? {} : { frontMatter: frontMatter.value }),
    },
    faults: [sidecar, frontMatter].flatMap((part) => (part.status === 'rejected' ? [part.reason as unknown] : [])),
  };
}

/** False where what is wrong is known to have nothing to do with level and groups. */
function concernsAccess(fault: unknown): boolean {
  return !(fault instanceof SluiceError && fault.code === 'invalid_metadata' && fault.details?.access === false);
}

function accessBy(
  target: Pick<Target, 'sourcePath'>,
  disk: FileState,
  said: Pick<MetadataInput, 'frontMatter' | 'sidecar'>,
): Access {
  const { origins: _origins, ...access } = resolveAccess(inputOf(target, disk, said));
  return access;
}

/**
 * Who may see the old text of a document whose new state failed: nobody who could not see it before, and nobody whom the new state shuts
 * out. A level or groups that are themselves invalid, or that cannot be read, hide it (level 5).
 */
export async function accessAfterFailure(
  deps: IngestionDeps,
  target: Target,
  disk: DiskState,
  base: CommitRecord | undefined,
): Promise<Access> {
  if (disk.kind !== 'file') return HIDDEN;
  const { readable, faults } = await readEach(deps, disk);
  if (faults.some(concernsAccess)) return HIDDEN;
  let now: Access;
  try {
    now = accessBy(target, disk, readable);
  } catch {
    return HIDDEN;
  }
  return base === undefined ? now : narrowAccess(bareAccess(base), now);
}

/**
 * Who may know of a file of which nothing is stored yet: what its own metadata says counts. Where that is not known, or no file is
 * there, only the highest clearance may.
 */
export async function accessOfNewFile(
  deps: Pick<IngestionDeps, 'files' | 'policy'>,
  source: SourceView,
  sourcePath: string,
): Promise<Access> {
  try {
    const disk = await observeDisk(deps, source, sourcePath);
    if (disk.kind !== 'file') return HIDDEN;
    return accessBy({ sourcePath }, disk, await readBoth(deps, disk));
  } catch {
    return HIDDEN;
  }
}

async function readFrontMatter(deps: Pick<IngestionDeps, 'files'>, path: string): Promise<Record<string, unknown> | undefined> {
  const readHead = (bytes: number) => deps.files.readHead(path, bytes);
  try {
    if (mayHaveFrontMatter(path)) return frontMatterOf(decodeYamlBytes(await readHead(HEAD_BYTES)))?.data;
    await refuseUnreadAccess(path, readHead);
    return undefined;
  } catch (cause) {
    if (cause instanceof SluiceError) throw cause;
    if (codeOf(cause) === 'ENOENT') return undefined;
    throw unreadable(path, cause);
  }
}

/** Metadata of a document that was read, by precedence. */
export function resolveDocument(
  target: Target,
  disk: FileState,
  read: ReadResult,
  sidecar: Record<string, unknown> | undefined,
): ResolvedDocument {
  return resolveMetadata(
    inputOf(target, disk, {
      self: read.metadata,
      ...(read.frontMatter === undefined ? {} : { frontMatter: read.frontMatter }),
      ...(sidecar === undefined ? {} : { sidecar }),
      ...(read.lang === undefined ? {} : { lang: read.lang }),
    }),
  );
}

function inputOf(
  target: Pick<Target, 'sourcePath'>,
  disk: FileState,
  said: Pick<MetadataInput, 'frontMatter' | 'sidecar' | 'self' | 'lang'>,
): MetadataInput {
  const { policy } = disk;
  return {
    sourcePath: target.sourcePath,
    schema: policy.schema,
    fields: policy.source.fields,
    sourceMetadata: policy.source.metadata,
    matchingRules: policy.matchingRules,
    ...(policy.source.createdAt === 'mtime' ? { mtimeMs: Number(BigInt(disk.stat.mtimeNs) / 1_000_000n) } : {}),
    ...said,
  };
}

export function bareAccess(record: Pick<CommitRecord, 'security_level' | 'allowed_groups'>): Access {
  return {
    security_level: record.security_level,
    ...(record.allowed_groups === undefined ? {} : { allowed_groups: record.allowed_groups }),
  };
}

export function sameAccess(a: Access, b: Access): boolean {
  return (
    a.security_level === b.security_level && JSON.stringify(a.allowed_groups ?? null) === JSON.stringify(b.allowed_groups ?? null)
  );
}

/** Whether somebody who may see `base` may not see `next`. */
export function isStricter(base: Access, next: Access): boolean {
  if (next.security_level > base.security_level) return true;
  if (next.allowed_groups === undefined) return false;
  if (base.allowed_groups === undefined) return true;
  const allowed = new Set(next.allowed_groups);
  return base.allowed_groups.some((group) => !allowed.has(group));
}
