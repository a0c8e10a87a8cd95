import { isAbsolute, relative, resolve, sep } from 'node:path';
import type { SourceConfig } from '@sluice/config';
import type { Files } from '@sluice/core';
import type { Policy } from '@sluice/ingestion';
import { frontMatterOf, parseSidecar, resolveMetadata, sidecarOf } from '@sluice/metadata';
import type { IgnoreVerdict, SourceView } from '@sluice/sources';

/** Bytes of a file that are looked at for front matter. */
const HEAD_BYTES = 65_536;

/** What the configuration and the file itself say of a path; what the store says is added by the route. */
export interface Explanation {
  source?: string;
  /** Relative to the source's root. */
  path?: string;
  exists: boolean;
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
    if (!isAbsolute(path)) return { exists: false, origins: {}, note: 'not an absolute path' };
    const stat = await files.stat(path).catch(() => undefined);
    const exists = stat !== undefined;
    for (const { name, path: root } of sources) {
      const inside = relative(root, path);
      if (inside === '' || inside === '..' || inside.startsWith(`..${sep}`) || resolve(root, inside) !== path) continue;
      const relPath = inside.split(sep).join('/');
      const ignored = await views.get(name)?.explain(relPath);
      const found: Explanation = {
        source: name,
        path: relPath,
        exists,
        origins: {},
        ...(ignored === undefined ? {} : { ignored }),
      };
      if (!exists) found.note = 'no such file on disk';
      else if (stat.kind !== 'file') found.note = `a ${stat.kind}, not a file`;
      else if (ignored === undefined) found.origins = await originsOf(name, relPath, path);
      return found;
    }
    const roots = sources.map(({ path: root }) => root).join(', ');
    return { exists, origins: {}, note: `lies in no source (sources: ${roots})` };
  };

  async function originsOf(source: string, relPath: string, path: string): Promise<Record<string, string>> {
    const { schema, matchingRules, source: said } = policy.of(source, relPath);
    try {
      const head = new TextDecoder().decode(await files.readHead(path, HEAD_BYTES));
      const frontMatter = frontMatterOf(head.replaceAll('\r\n', '\n'))?.data;
      const sidecarPath = sidecarOf(path);
      const hasSidecar = (await files.stat(sidecarPath)) !== undefined;
      const sidecar = hasSidecar ? parseSidecar(new TextDecoder().decode(await files.read(sidecarPath))) : undefined;
      const { origins } = resolveMetadata({
        sourcePath: relPath,
        schema,
        fields: said.fields,
        sourceMetadata: said.metadata,
        matchingRules,
        ...(frontMatter === undefined ? {} : { frontMatter }),
        ...(sidecar === undefined ? {} : { sidecar }),
      });
      return Object.fromEntries(Object.entries(origins));
    } catch {
      // Invalid metadata is the document's own reason, which is shown beside this.
      return {};
    }
  }
}
