import type { Files, FolderEntry } from '@sluice/core';
import { compileGlob, isReadSidecar, isSidecar } from '@sluice/metadata';
import picomatch from 'picomatch';
import { compileIgnoreFile, type IgnoreLine } from './gitignore.js';
import { junkKind } from './junk.js';

/** Name of the files that hold ignore rules in gitignore syntax, at any level of a source. */
export const IGNORE_FILE = '.sluiceignore';

/** Longest ignore file, bytes: every path is tested by each of its lines. */
const MAX_IGNORE_FILE = 65_536;

/**
 * The text of an ignore file. Throws where it is a link or the like, or too long: taken for none, it would have files shown that it is
 * meant to hide.
 */
export async function readIgnoreFile(files: Pick<Files, 'readHead'>, path: string, kind: FolderEntry['kind']): Promise<string> {
  if (kind !== 'file') throw refused(`${path} is no file (${kind}); rules are read from a file itself, never through a link`);
  const bytes = await files.readHead(path, MAX_IGNORE_FILE + 1);
  if (bytes.length > MAX_IGNORE_FILE) throw refused(`${path} is longer than ${MAX_IGNORE_FILE} bytes`);
  return new TextDecoder().decode(bytes);
}

function refused(message: string): Error {
  return Object.assign(new Error(`EINVAL: ${message}`), { code: 'EINVAL' });
}

/** Why a path is no document. */
export interface IgnoreVerdict {
  rule: 'builtin' | 'include' | 'exclude' | 'ignore_file' | 'sidecar' | 'link' | 'not_a_file';
  /** The pattern, or the kind of junk, that decided. */
  pattern: string;
  /** The ignore file that holds the pattern, relative to the root, and its line from 1. */
  file?: string;
  line?: number;
  /** The part of the path that matched: the path itself, or a folder above it. */
  path: string;
}

export interface IgnoreSettings {
  /** Globs of which a document matches one. A pattern without wildcards includes all below the folder it names. Default: everything. */
  include?: readonly string[];
  /** Globs; one that matches a folder excludes everything below it. */
  exclude?: readonly string[];
}

export interface IgnoreRules {
  /** Which rule makes a path no document; undefined for a document. Folders above the path are asked first. */
  explain(relPath: string, kind?: 'file' | 'folder'): IgnoreVerdict | undefined;
  /** As explain(), for a path whose folders above are known not to be ignored. */
  explainEntry(relPath: string, kind: 'file' | 'folder'): IgnoreVerdict | undefined;
  /** Sets (or with undefined takes away) the text of the ignore file of a folder; `''` is the root. */
  setIgnoreFile(folder: string, text: string | undefined): void;
}

interface Glob {
  pattern: string;
  matches: (path: string) => boolean;
  /** Set for a pattern without wildcards: the folder that it may name. */
  folder: string | undefined;
}

function prepareGlob(written: string): Glob {
  const pattern = written.replace(/^\.\//, '').replace(/^\/+/, '').replace(/\/+$/, '');
  const magic = picomatch.scan(pattern).isGlob || written.endsWith('/');
  // Hidden names are refused by the built-in rules already; `dot` keeps globs from having a second opinion.
  return {
    pattern: written,
    matches: compileGlob(pattern),
    folder: magic && !written.endsWith('/') ? undefined : pattern,
  };
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`);
}

/**
 * The rules of a source: built-in junk, include and exclude globs, and ignore files in gitignore syntax.
 * Pure: the caller reads the ignore files (see listSource and createIgnoreReader).
 *
 * @param settings.ignoreFiles texts of ignore files by their folder, relative to the root
 */
export function createIgnoreRules(settings: IgnoreSettings & { ignoreFiles?: ReadonlyMap<string, string> } = {}): IgnoreRules {
  const include = (settings.include ?? ['**/*']).map(prepareGlob);
  const exclude = (settings.exclude ?? []).map(prepareGlob);
  const ignoreFiles = new Map<string, IgnoreLine[]>();
  for (const [folder, text] of settings.ignoreFiles ?? []) ignoreFiles.set(folder, compileIgnoreFile(text));

  function byIgnoreFile(relPath: string, kind: 'file' | 'folder'): IgnoreVerdict | undefined {
    if (ignoreFiles.size === 0) return undefined;
    // The deepest file with a matching line decides, as in git.
    for (let folder = parentOf(relPath); ; folder = parentOf(folder)) {
      const lines = ignoreFiles.get(folder);
      if (lines !== undefined) {
        const path = folder === '' ? relPath : relPath.slice(folder.length + 1);
        for (let at = lines.length - 1; at >= 0; at--) {
          const line = lines[at];
          if (line === undefined || (line.foldersOnly && kind !== 'folder') || !line.matches(path)) continue;
          if (line.negated) return undefined;
          const file = folder === '' ? IGNORE_FILE : `${folder}/${IGNORE_FILE}`;
          return { rule: 'ignore_file', pattern: line.text, file, line: line.line, path: relPath };
        }
      }
      if (folder === '') return undefined;
    }
  }

  function explainEntry(relPath: string, kind: 'file' | 'folder'): IgnoreVerdict | undefined {
    const name = relPath.slice(relPath.lastIndexOf('/') + 1);
    const junk = junkKind(name, kind);
    if (junk !== undefined) return { rule: 'builtin', pattern: junk, path: relPath };
    if (kind === 'file' && isSidecar(name)) {
      const pattern = isReadSidecar(name)
        ? 'metadata of another file'
        : 'named like a sidecar, and not read; its ending must be .meta.yaml';
      return { rule: 'sidecar', pattern, path: relPath };
    }
    const excluded = exclude.find((glob) => glob.matches(relPath));
    if (excluded !== undefined) return { rule: 'exclude', pattern: excluded.pattern, path: relPath };
    const ignored = byIgnoreFile(relPath, kind);
    if (ignored !== undefined || kind === 'folder') return ignored;
    const included = include.some(
      (glob) => glob.matches(relPath) || (glob.folder !== undefined && isBelow(relPath, glob.folder)),
    );
    if (included) return undefined;
    return { rule: 'include', pattern: include.map((glob) => glob.pattern).join(', '), path: relPath };
  }

  return {
    explainEntry,
    explain(relPath, kind = 'file') {
      for (const folder of foldersAbove(relPath)) {
        const verdict = explainEntry(folder, 'folder');
        if (verdict !== undefined) return verdict;
      }
      return explainEntry(relPath, kind);
    },
    setIgnoreFile(folder, text) {
      if (text === undefined) ignoreFiles.delete(folder);
      else ignoreFiles.set(folder, compileIgnoreFile(text));
    },
  };
}

/** The folder of a relative path; `''` for one at the root. */
export function parentOf(relPath: string): string {
  const slash = relPath.lastIndexOf('/');
  return slash < 0 ? '' : relPath.slice(0, slash);
}

/** Folders above a relative path, outermost first, the root left out. */
export function foldersAbove(relPath: string): string[] {
  const folders: string[] = [];
  for (let slash = relPath.indexOf('/'); slash >= 0; slash = relPath.indexOf('/', slash + 1))
    folders.push(relPath.slice(0, slash));
  return folders;
}
