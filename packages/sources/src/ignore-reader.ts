import { type Files, statKey } from '@sluice/core';
import {
  createIgnoreRules,
  foldersAbove,
  IGNORE_FILE,
  type IgnoreSettings,
  type IgnoreVerdict,
  readIgnoreFile,
} from './ignore-rules.js';
import { absolutePath, childPath } from './paths.js';

/** Answers for single paths, reading only the ignore files above each; their texts are kept while their stat stays the same. */
export interface IgnoreReader {
  explain(relPath: string, kind?: 'file' | 'folder'): Promise<IgnoreVerdict | undefined>;
}

/** Folders whose ignore file's text is remembered. */
const MAX_CACHED = 10_000;

export function createIgnoreReader(options: { files: Files; root: string; settings: IgnoreSettings }): IgnoreReader {
  const rules = createIgnoreRules(options.settings);
  const known = new Map<string, string>();

  async function load(folder: string): Promise<void> {
    const path = absolutePath(options.root, childPath(folder, IGNORE_FILE));
    const stat = await options.files.stat(path);
    const key = stat === undefined ? '' : statKey(stat);
    if (known.get(folder) === key) return;
    rules.setIgnoreFile(folder, stat === undefined ? undefined : await readIgnoreFile(options.files, path, stat.kind));
    if (known.size >= MAX_CACHED) {
      for (const other of known.keys()) rules.setIgnoreFile(other, undefined);
      known.clear();
    }
    known.set(folder, key);
  }

  return {
    async explain(relPath, kind = 'file') {
      for (const folder of ['', ...foldersAbove(relPath)]) {
        if (folder !== '') {
          // Asked before its ignore file is read: what lies in an ignored folder has no say.
          const verdict = rules.explainEntry(folder, 'folder');
          if (verdict !== undefined) return verdict;
        }
        await load(folder);
      }
      return rules.explainEntry(relPath, kind);
    },
  };
}
