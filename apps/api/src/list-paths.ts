import type { Files } from '@sluice/core';
import { type IgnoreSettings, listSource } from '@sluice/sources';

/** Paths of every document file of a source. Rejects when the root can't be read; what else can't be is told to `onUnreadable`. */
export async function* listPaths(
  files: Files,
  { name, root }: { name: string; root: string },
  sources: readonly (IgnoreSettings & { name: string })[],
  onUnreadable: () => void,
): AsyncGenerator<string> {
  const { include, exclude } = sources.find((source) => source.name === name) ?? {};
  const settings = { ...(include === undefined ? {} : { include }), ...(exclude === undefined ? {} : { exclude }) };
  for await (const batch of listSource({ files, root, settings })) {
    for (const found of batch) {
      if (found.kind === 'error' && found.path === '') throw found.error;
      if (found.kind === 'error') onUnreadable();
      if (found.kind === 'file') yield found.path;
    }
  }
}
