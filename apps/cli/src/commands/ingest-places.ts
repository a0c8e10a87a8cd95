import { realpath, stat } from 'node:fs/promises';
import { relative, resolve, sep } from 'node:path';
import { dataOf } from '@sluice/client';
import { isAbsence, SluiceError } from '@sluice/core';
import { allDocuments } from '../all-documents.js';
import type { Api, DocumentView, Status } from '../responses.js';

/** A path of the command line, as the source it lies in sees it. */
export interface Place {
  source: string;
  /** Relative, with forward slashes; '' for the source's own folder. */
  path: string;
  folder: boolean;
  /** No longer on disk, while documents of it are known. */
  gone: boolean;
}

/**
 * Finds the source of a path, and what it is there: a file, a folder, or something that is gone and has left documents.
 *
 * @throws SluiceError `not_in_a_source`; `invalid_request` for a path that is neither on disk nor has documents
 */
export async function findPlace(api: Api, path: string, sources: Status['sources']): Promise<Place> {
  const info = await stat(path).catch((cause: unknown) => {
    if (isAbsence(cause)) return undefined;
    throw new SluiceError('invalid_request', `${path} can't be read (${messageOf(cause)})`, { cause });
  });
  const found = await sourceOf(path, sources);
  if (found === undefined) {
    if (info === undefined) throw new SluiceError('invalid_request', `${path} is not there`);
    throw new SluiceError(
      'not_in_a_source',
      `${path} lies in no source. Sources: ${sources.map((source) => source.path).join(', ')}`,
    );
  }
  if (info !== undefined) return { ...found, folder: info.isDirectory(), gone: false };
  const { source, path: inside } = found;
  if ((await findDocument(api, `${source}/${inside}`)) !== undefined) return { ...found, folder: false, gone: true };
  if ((await documentsBelow(api, source, inside)).length > 0) return { ...found, folder: true, gone: true };
  throw new SluiceError('invalid_request', `${path} is not there, and no document of it is known`);
}

async function sourceOf(path: string, sources: Status['sources']): Promise<Pick<Place, 'source' | 'path'> | undefined> {
  // A root may be named through a link, a path inside may not be followed out of it.
  const real = await realpath(path).catch(() => undefined);
  for (const { name, path: root, configured } of sources) {
    if (!configured) continue;
    const realRoot = await realpath(root).catch(() => root);
    for (const [candidate, base] of [
      [path, root],
      [real ?? path, realRoot],
    ] as const) {
      const inside = relative(base, candidate);
      if (inside === '..' || inside.startsWith(`..${sep}`) || resolve(base, inside) !== candidate) continue;
      return { source: name, path: inside.split(sep).join('/') };
    }
  }
  return undefined;
}

/** A document as the caller may know of it, or undefined. */
export async function findDocument(api: Api, docId: string): Promise<DocumentView | undefined> {
  try {
    return dataOf(await api.GET('/v1/documents/{doc_id}', { params: { path: { doc_id: docId } } }));
  } catch (error) {
    if (error instanceof SluiceError && error.code === 'not_found') return undefined;
    throw error;
  }
}

export async function documentsBelow(api: Api, source: string, path: string): Promise<DocumentView[]> {
  const documents = await allDocuments(api, { source });
  return path === '' ? documents : documents.filter(({ source_path }) => source_path.startsWith(`${path}/`));
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
