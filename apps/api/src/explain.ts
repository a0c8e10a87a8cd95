import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { SourceConfig } from '@sluice/config';
import type { Files } from '@sluice/core';
import { type Policy, readOwnMetadata } from '@sluice/ingestion';
import { resolveMetadata } from '@sluice/metadata';
import type { IgnoreVerdict, SourceView } from '@sluice/sources';

/** What the configuration and the file itself say of a path; what the store says is added by the route. */
export interface Explanation {
  source?: string;
  /** Relative to the source's root; undefined where the path can be no document: a root, a folder, a link, what lies behind one. */
  path?: string;
  ignored?: IgnoreVerdict;
  /** Who said each metadata field, as `source` or `rule finance/**`. */
  origins: Record<string, string>;
  note?: string;
}

export interface ExplainDeps {
  files: Files;
  sources: readonly SourceConfig[];
  views: ReadonlyMap<string, Pick<SourceView, 'explain'>>;
  policy: Policy;
}

/** Makes the function that tells why a path is, or is not, a document, by names and configuration. */
export function createExplain({ files, sources, views, policy }: ExplainDeps): (path: string) => Promise<Explanation> {
  return async (path) => {
    if (!isAbsolute(path)) return { origins: {}, note: 'not an absolute path' };
    for (const { name, path: root } of sources) {
      const inside = relative(root, path);
      if (inside === '..' || inside.startsWith(`..${sep}`) || resolve(root, inside) !== path) continue;
      if (inside !== '') return explainWithin(name, root, inside.split(sep).join('/'));
      const exists = (await stat(root)) !== undefined;
      return { source: name, origins: {}, note: `the folder of source "${name}"${exists ? '' : ', which is away'}` };
    }
    const roots = sources.map(({ path: root }) => root).join(', ');
    return { origins: {}, note: `lies in no source (sources: ${roots})` };
  };

  function stat(path: string) {
    return files.stat(path).catch(() => undefined);
  }

  async function explainWithin(source: string, root: string, relPath: string): Promise<Explanation> {
    const link = await firstLink(root, relPath);
    if (link !== undefined) return explainLink(source, root, relPath, link);
    const path = join(root, relPath);
    const found = await stat(path);
    const folder = found?.kind === 'folder';
    let ignored: IgnoreVerdict | undefined;
    try {
      ignored = await views.get(source)?.explain(relPath, folder ? 'folder' : 'file');
    } catch (cause) {
      // An ignore file, or the folder it would be in, is closed to this process: what holds for the path is then not known.
      return { source, path: relPath, origins: {}, note: `its folder can't be read (${codeOf(cause)}): check its permissions` };
    }
    const verdict = ignored === undefined ? {} : { ignored };
    if (folder) return { source, origins: {}, ...verdict, note: 'a folder, not a file' };
    if (found === undefined) return { source, path: relPath, origins: {}, ...verdict, note: 'no such file on disk' };
    if (found.kind !== 'file') return { source, origins: {}, ...verdict, note: 'neither a file nor a folder' };
    return { source, path: relPath, origins: ignored === undefined ? await originsOf(source, relPath, path) : {}, ...verdict };
  }

  /** The first part of a path that is a link, relative to the root: nothing at or behind it is a document. */
  async function firstLink(root: string, relPath: string): Promise<string | undefined> {
    const parts = relPath.split('/');
    for (let count = 1; count <= parts.length; count += 1) {
      const part = parts.slice(0, count).join('/');
      if ((await stat(join(root, part)))?.kind === 'link') return part;
    }
    return undefined;
  }

  async function explainLink(source: string, root: string, relPath: string, link: string): Promise<Explanation> {
    const what = link === relPath ? 'a link, which is never a document itself' : `lies behind the link ${source}/${link}`;
    return {
      source,
      origins: {},
      ignored: { rule: 'link', pattern: 'a link is never a document', path: link },
      note: `${what}: ${await placeOfTarget(source, root, relPath)}`,
    };
  }

  async function placeOfTarget(source: string, root: string, relPath: string): Promise<string> {
    const [realRoot, target] = await Promise.all([
      files.realpath(root).catch(() => root),
      files.realpath(join(root, relPath)).catch(() => undefined),
    ]);
    if (target === undefined) return 'nothing is there';
    const inside = relative(realRoot, target);
    if (inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)) return 'what it leads to lies outside the source';
    return `what it leads to is looked at as ${source}${inside === '' ? '' : `/${inside.split(sep).join('/')}`}`;
  }

  function codeOf(cause: unknown): string {
    return cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  }

  async function originsOf(source: string, relPath: string, path: string): Promise<Record<string, string>> {
    const { schema, matchingRules, source: said } = policy.of(source, relPath);
    try {
      const { origins } = resolveMetadata({
        sourcePath: relPath,
        schema,
        fields: said.fields,
        sourceMetadata: said.metadata,
        matchingRules,
        ...(await readOwnMetadata(files, path)),
      });
      return Object.fromEntries(Object.entries(origins));
    } catch {
      // Invalid metadata is the document's own reason, which is shown beside this.
      return {};
    }
  }
}
