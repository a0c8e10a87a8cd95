import { resolve } from 'node:path';
import { dataOf } from '@sluice/client';
import type { Command } from 'commander';
import type { Context, Run } from '../context.js';
import { EXIT, failure } from '../exit.js';
import { seconds } from '../options.js';
import type { Api, DocumentView, Reconciled } from '../responses.js';
import { waitFor } from '../wait.js';
import { documentsBelow, findDocument, findPlace, type Place } from './ingest-places.js';
import { isCovered } from './status.js';

interface Options {
  wait?: boolean;
  timeout?: number;
}

/** What became of the paths, as `--wait --json` tells it. */
interface Outcome {
  documents: DocumentView[];
  /** doc_ids of files that are gone from disk, and of which no document is left. */
  deleted?: string[];
  /** doc_ids that never became a document the caller may know of. */
  not_found?: string[];
}

export function ingestCommand(program: Command, run: Run): void {
  program
    .command('ingest')
    .description('have files or folders of a source looked at again, ahead of scans; what is gone is removed')
    .argument('<path...>')
    .option('--wait', 'wait until they are done (exit 1 when one of them failed)')
    .option('--timeout <seconds>', 'give up waiting after this long (exit 4)', seconds)
    .action(
      run(async (context, options: Options, paths: string[]) => {
        const { output } = context;
        const api = await context.api();
        const { sources } = dataOf(await api.GET('/ops/api/status'));
        const places = await Promise.all(paths.map((path) => findPlace(api, resolve(context.cwd, path), sources)));
        const asked = await askFor(api, places);
        for (const { source, path } of places.filter(({ gone }) => gone)) {
          output.note(`${source}/${path} is gone from disk: what was indexed of it is removed`);
        }
        if (options.wait !== true) {
          output.value(asked);
          output.line(`${asked.documents.length} documents and ${asked.scans.length} scans queued`);
          return EXIT.done;
        }
        const timeoutMs = options.timeout === undefined ? undefined : options.timeout * 1000;
        const last: { outcome?: Outcome } = {};
        const outcome = await waitFor(context, timeoutMs, () => lookAt(context, api, places, asked, last));
        const known = outcome ?? last.outcome ?? { documents: [] };
        const late = `Not done after ${options.timeout} s.`;
        output.value({ ...known, ...(outcome === undefined ? failure('timed_out', late) : {}) });
        for (const document of known.documents) output.line(lineOf(document));
        for (const docId of known.deleted ?? []) output.line(`${docId} deleted`);
        for (const docId of known.not_found ?? []) {
          output.note(`${docId} is no document that you may know of: "sluice why" tells what ignores it, or who may see it`);
        }
        if (outcome === undefined) {
          output.note(late);
          return EXIT.timedOut;
        }
        const isWrong = known.not_found !== undefined || known.documents.some(({ status }) => status === 'failed');
        return isWrong ? EXIT.wrong : EXIT.done;
      }),
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

/** How far the paths are; undefined while there is something to do. `last` keeps what was seen, for a wait that is given up. */
async function lookAt(
  { output }: Context,
  api: Api,
  places: readonly Place[],
  asked: Reconciled,
  last: { outcome?: Outcome },
): Promise<Outcome | undefined> {
  if (asked.scans.length > 0) {
    // Whole folders: their scan first, then all that it found.
    const status = dataOf(await api.GET('/ops/api/status'));
    const pending = status.sources.reduce((sum, { documents }) => sum + documents.pending, 0);
    output.progress(`${pending} documents to do`);
    if (!isCovered(status, asked.scans)) return undefined;
  }
  const documents: DocumentView[] = [];
  const deleted: string[] = [];
  const notFound: string[] = [];
  for (const { source, path, folder, gone } of places) {
    const docId = `${source}/${path}`;
    const found = folder ? await documentsBelow(api, source, path) : [await findDocument(api, docId)];
    const known = found.filter((document) => document !== undefined);
    documents.push(...known);
    if (known.length === 0 && gone) deleted.push(docId);
    else if (known.length === 0 && !folder) notFound.push(docId);
  }
  const isLeft = ({ status }: DocumentView) => status === 'pending';
  const done = documents.filter((document) => !isLeft(document)).length;
  output.bar(done + deleted.length, documents.length + deleted.length, 'documents');
  last.outcome = {
    documents,
    ...(deleted.length === 0 ? {} : { deleted }),
    ...(notFound.length === 0 ? {} : { not_found: notFound }),
  };
  return documents.some(isLeft) ? undefined : last.outcome;
}

function lineOf({ doc_id, status, chunks, reason, message }: DocumentView): string {
  if (status === 'indexed') return `${doc_id} indexed, ${chunks} chunks`;
  return `${doc_id} ${status}${reason === undefined ? '' : `: ${reason}: ${message ?? ''}`}`;
}
