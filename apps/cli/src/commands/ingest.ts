import { realpath, stat } from 'node:fs/promises';
import { relative, resolve, sep } from 'node:path';
import { dataOf } from '@sluice/client';
import { SluiceError } from '@sluice/core';
import type { Command } from 'commander';
import { allDocuments } from '../all-documents.js';
import type { Context, Run } from '../context.js';
import { EXIT } from '../exit.js';
import { seconds } from '../options.js';
import type { Api, DocumentView, Reconciled, Status } from '../responses.js';
import { waitFor } from '../wait.js';
import { isCovered } from './status.js';

interface Options {
  wait?: boolean;
  timeout?: number;
}

/** A path of the command line, as the source it lies in sees it. */
interface Place {
  source: string;
  /** Relative, with forward slashes; '' for the source's own folder. */
  path: string;
  folder: boolean;
}

export function ingestCommand(program: Command, run: Run): void {
  program
    .command('ingest')
    .description('have files or folders of a source looked at again, ahead of all others')
    .argument('<path...>')
    .option('--wait', 'wait until they are done (exit 1 when one of them failed)')
    .option('--timeout <seconds>', 'give up waiting after this long (exit 4)', seconds)
    .action(
      run(async (context, options: Options, paths: string[]) => {
        const api = await context.api();
        const { sources } = dataOf(await api.GET('/ops/api/status'));
        const places = await Promise.all(paths.map((path) => placeOf(resolve(context.cwd, path), sources)));
        const asked = await askFor(api, places);
        if (options.wait !== true) {
          context.output.value(asked);
          context.output.line(`${asked.documents.length} documents and ${asked.scans.length} scans queued`);
          return EXIT.done;
        }
        const documents = await waitForPlaces(context, api, places, asked, options.timeout);
        if (documents === undefined) {
          context.output.note(`Not done after ${options.timeout} s.`);
          return EXIT.timedOut;
        }
        context.output.value({ documents });
        for (const document of documents) context.output.line(lineOf(document));
        return documents.some(({ status }) => status === 'failed') ? EXIT.wrong : EXIT.done;
      }),
    );
}

async function placeOf(path: string, sources: Status['sources']): Promise<Place> {
  const info = await stat(path).catch((cause: unknown) => {
    throw new SluiceError('invalid_request', `${path} can't be read`, { cause });
  });
  // A root may be named through a link, a path inside may not be followed out of it.
  const real = await realpath(path);
  for (const { name, path: root, configured } of sources) {
    if (!configured) continue;
    const realRoot = await realpath(root).catch(() => root);
    for (const [candidate, base] of [
      [path, root],
      [real, realRoot],
    ] as const) {
      const inside = relative(base, candidate);
      if (inside === '..' || inside.startsWith(`..${sep}`) || resolve(base, inside) !== candidate) continue;
      return { source: name, path: inside.split(sep).join('/'), folder: info.isDirectory() };
    }
  }
  throw new SluiceError(
    'not_in_a_source',
    `${path} lies in no source. Sources: ${sources.map((source) => source.path).join(', ')}`,
  );
}

async function askFor(api: Api, places: readonly Place[]): Promise<Reconciled> {
  const answers: Reconciled[] = [];
  const docIds = places.filter(({ folder }) => !folder).map(({ source, path }) => `${source}/${path}`);
  if (docIds.length > 0) answers.push(dataOf(await api.POST('/ops/api/reconcile', { body: { doc_ids: docIds } })));
  for (const source of new Set(places.filter(({ folder }) => folder).map(({ source }) => source))) {
    answers.push(dataOf(await api.POST('/ops/api/reconcile', { body: { source } })));
  }
  return { scans: answers.flatMap(({ scans }) => scans), documents: answers.flatMap(({ documents }) => documents) };
}

async function waitForPlaces(
  context: Context,
  api: Api,
  places: readonly Place[],
  asked: Reconciled,
  timeoutSeconds: number | undefined,
): Promise<DocumentView[] | undefined> {
  return waitFor(context, timeoutSeconds === undefined ? undefined : timeoutSeconds * 1000, async () => {
    if (asked.scans.length > 0) {
      // Whole folders: their scan first, then all that it found.
      const status = dataOf(await api.GET('/ops/api/status'));
      const { sources } = status;
      const pending = sources.reduce((sum, { documents }) => sum + documents.pending, 0);
      context.output.progress(`${pending} documents to do`);
      if (!isCovered(status, asked.scans)) return undefined;
    }
    const documents: DocumentView[] = [];
    for (const { doc_id } of asked.documents) documents.push(await documentOf(api, doc_id));
    for (const { source, path, folder } of places) if (folder) documents.push(...(await documentsBelow(api, source, path)));
    const left = documents.filter(({ status }) => status === 'pending').length;
    context.output.progress(`${documents.length - left} of ${documents.length} documents done`);
    return left === 0 ? documents : undefined;
  });
}

/** A file that is no document (ignored by name) never gets a status; that is a failure of what was asked. */
async function documentOf(api: Api, docId: string): Promise<DocumentView> {
  try {
    return dataOf(await api.GET('/v1/documents/{doc_id}', { params: { path: { doc_id: docId } } }));
  } catch (error) {
    if (error instanceof SluiceError && error.code === 'not_found') {
      throw new SluiceError('not_found', `${docId} is no document: "sluice why" tells what ignores it.`, { cause: error });
    }
    throw error;
  }
}

async function documentsBelow(api: Api, source: string, path: string): Promise<DocumentView[]> {
  const documents = await allDocuments(api, { source });
  return path === '' ? documents : documents.filter(({ source_path }) => source_path.startsWith(`${path}/`));
}

function lineOf({ doc_id, status, chunks, reason, message }: DocumentView): string {
  if (status === 'indexed') return `${doc_id} indexed, ${chunks} chunks`;
  return `${doc_id} ${status}${reason === undefined ? '' : `: ${reason}: ${message ?? ''}`}`;
}
