import { type FileStat, type Files, type FolderEntry, isAbsence, sidecarKey } from '@sluice/core';
import { isSidecar, ownerOf, sidecarsOf } from '@sluice/metadata';
import {
  createIgnoreRules,
  IGNORE_FILE,
  type IgnoreRules,
  type IgnoreSettings,
  type IgnoreVerdict,
  readIgnoreFile,
} from './ignore-rules.js';
import { absolutePath, childPath } from './paths.js';

/** One finding of a walk. Paths are relative to the root, with forward slashes, in the on-disk spelling. */
export type Listed =
  | { kind: 'file'; path: string; stat: FileStat; sidecarStat: string }
  /** A name that is not UTF-8; `path` holds replacement marks. */
  | { kind: 'invalid_name'; path: string; folder: boolean }
  | { kind: 'ignored'; path: string; folder: boolean; verdict: IgnoreVerdict }
  /** A file or folder that is there but could not be asked: nothing at or below this path may be taken for missing. */
  | { kind: 'error'; path: string; error: unknown };

export interface ListOptions {
  files: Files;
  /** Absolute path of the source's root. */
  root: string;
  settings: IgnoreSettings;
  /** Only this folder (relative to the root) and what is below it. Ignore files above it must then be in `rules`. */
  below?: string;
  /** Rules to fill with the ignore files that the walk meets; default new ones. */
  rules?: IgnoreRules;
  signal?: AbortSignal;
}

/** Folders listed, and files asked for their stat, at a time. */
const FOLDERS_AT_ONCE = 8;
const FILES_AT_ONCE = 256;
/** Deeper than any real tree: what stops a file system that contains itself. */
const MAX_DEPTH = 256;

/**
 * Walks a source and yields what it finds in batches of at most 256. Links are never followed, so a walk ends; memory is bounded
 * by the largest folder. Ignored folders are not entered. Never throws for a single file or folder: those are findings of kind `error`.
 */
export async function* listSource(options: ListOptions): AsyncGenerator<Listed[]> {
  const rules = options.rules ?? createIgnoreRules(options.settings);
  const stack: string[] = [options.below ?? ''];
  while (stack.length > 0) {
    options.signal?.throwIfAborted();
    const folders = stack.splice(-FOLDERS_AT_ONCE);
    const listings = await Promise.all(folders.map((folder) => listFolder(options, rules, folder)));
    // Reversed, so that the walk goes on with the first folder's children.
    for (const listing of listings.reverse()) {
      for (const folder of listing.folders.reverse()) stack.push(folder);
      if (listing.findings.length > 0) yield listing.findings;
      for (let at = 0; at < listing.files.length; at += FILES_AT_ONCE) {
        options.signal?.throwIfAborted();
        const batch = listing.files.slice(at, at + FILES_AT_ONCE);
        const found = await Promise.all(batch.map((file) => statFile(options, file.path, file.hasSidecar)));
        yield found.filter((item) => item !== undefined);
      }
    }
  }
}

interface Listing {
  folders: string[];
  files: { path: string; hasSidecar: boolean }[];
  findings: Listed[];
}

async function listFolder(options: ListOptions, rules: IgnoreRules, folder: string): Promise<Listing> {
  const listing: Listing = { folders: [], files: [], findings: [] };
  let entries: FolderEntry[];
  try {
    if (folder.split('/').length > MAX_DEPTH) throw new Error(`folders are nested more than ${MAX_DEPTH} deep`);
    entries = await options.files.list(absolutePath(options.root, folder));
    const ignoreFile = entries.find((entry) => entry.name === IGNORE_FILE);
    const ignorePath = absolutePath(options.root, childPath(folder, IGNORE_FILE));
    // An ignore file that cannot be read makes the folder unreadable: without its rules more might be shown than is meant to be.
    const text = ignoreFile && (await readIgnoreFile(options.files, ignorePath, ignoreFile.kind));
    rules.setIgnoreFile(folder, text);
  } catch (error) {
    // Gone since its parent was listed. Not so the root: a missing root is never an empty one.
    if (folder !== '' && isAbsence(error)) return listing;
    listing.findings.push({ kind: 'error', path: folder, error });
    return listing;
  }
  const sidecars = new Set(entries.flatMap(({ name }) => (isSidecar(name) ? [ownerOf(name)] : [])));
  for (const entry of entries) {
    const path = childPath(folder, entry.name);
    if (!entry.validName) {
      const verdict = rules.explainEntry(path, entry.kind === 'folder' ? 'folder' : 'file');
      if (verdict === undefined && (entry.kind === 'file' || entry.kind === 'folder'))
        listing.findings.push({ kind: 'invalid_name', path, folder: entry.kind === 'folder' });
      continue;
    }
    if (entry.kind === 'link' || entry.kind === 'other') {
      const verdict: IgnoreVerdict =
        entry.kind === 'link'
          ? { rule: 'link', pattern: 'a link is never a document', path }
          : { rule: 'not_a_file', pattern: 'neither a file nor a folder', path };
      listing.findings.push({ kind: 'ignored', path, folder: false, verdict });
      continue;
    }
    const verdict = rules.explainEntry(path, entry.kind);
    if (verdict !== undefined) listing.findings.push({ kind: 'ignored', path, folder: entry.kind === 'folder', verdict });
    else if (entry.kind === 'folder') listing.folders.push(path);
    else listing.files.push({ path, hasSidecar: sidecars.has(entry.name) });
  }
  return listing;
}

async function statFile(options: ListOptions, path: string, hasSidecar: boolean): Promise<Listed | undefined> {
  try {
    const stat = await options.files.stat(absolutePath(options.root, path));
    // Gone, or replaced by a folder or link, since the folder was listed: the event of that change, or the next walk, tells.
    if (stat === undefined || stat.kind !== 'file') return undefined;
    const names = hasSidecar ? sidecarsOf(path) : [];
    const sidecars = await Promise.all(names.map((name) => options.files.stat(absolutePath(options.root, name))));
    return { kind: 'file', path, stat, sidecarStat: sidecarKey(sidecars) };
  } catch (error) {
    return { kind: 'error', path, error };
  }
}
