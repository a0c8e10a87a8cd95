import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { dataOf } from '@sluice/client';
import { SluiceError } from '@sluice/core';
import {
  comparisonHtml,
  comparisonMarkdown,
  type Dataset,
  type IngestPoint,
  loadDataset,
  type MeasuredPoint,
  makeComparison,
  readGrid,
  type ScratchSources,
  type SearchPoint,
  scratchConfiguration,
} from '@sluice/evaluation';
import { allDocuments } from './all-documents.js';
import type { EvalOptions } from './commands/eval.js';
import type { Context } from './context.js';
import { runOnInstance } from './evaluate.js';
import { EXIT, type ExitCode } from './exit.js';
import { removeScratch, startScratch } from './scratch-instance.js';
import { configOf } from './settings.js';

/** Where a comparison without `--out` is kept. */
const DEFAULT_FOLDER = 'comparison';

/**
 * Measures every point of a grid and reports them together: the work of `sluice eval --compare`. A point that was measured before, in the
 * same folder and with the same questions, is not measured again, so that an interrupted comparison goes on where it was.
 */
export async function compareGrid(context: Context, options: EvalOptions, path: string): Promise<ExitCode> {
  const { output, cwd } = context;
  const gridFile = resolve(cwd, options.compare ?? '');
  const grid = readGrid(await readText(gridFile), gridFile);
  const dataset = await loadDataset(resolve(cwd, path));
  const folder = resolve(cwd, options.out ?? DEFAULT_FOLDER);
  const points = join(folder, 'points');
  await mkdir(points, { recursive: true });
  const sources = await sourcesOf(context, dataset, folder);
  const run = createHash('sha256')
    .update(JSON.stringify([dataset.questions, sources]))
    .digest('hex')
    .slice(0, 8);
  const measured: MeasuredPoint[] = [];
  const count = grid.ingest.length * grid.search.length;
  for (const ingest of grid.ingest) {
    const fileOf = (search: SearchPoint) => join(points, `${ingest.id}-${search.id}-${run}.json`);
    const known = new Map<string, MeasuredPoint>();
    for (const search of grid.search) {
      const point = await readPoint(fileOf(search));
      if (point !== undefined) known.set(search.id, point);
    }
    if (known.size < grid.search.length) {
      output.note(`[${measured.length + 1} of ${count}] ${ingest.name}: ingesting`);
      const missing = grid.search.filter(({ id }) => !known.has(id));
      await measureCollection({ context, dataset, sources, ingest, folder }, missing, async (search, point) => {
        known.set(search.id, point);
        await writeWhole(fileOf(search), JSON.stringify(point));
      });
    }
    measured.push(...grid.search.flatMap(({ id }) => known.get(id) ?? []));
  }
  const comparison = makeComparison(measured, new Date());
  await writeFile(join(folder, 'comparison.json'), `${JSON.stringify(comparison, null, 1)}\n`);
  await writeFile(join(folder, 'comparison.md'), comparisonMarkdown(comparison));
  await writeFile(join(folder, 'comparison.html'), comparisonHtml(comparison));
  output.note(`comparison.json, comparison.md and comparison.html are in ${folder}`);
  output.value(comparison);
  output.line(comparisonMarkdown(comparison));
  return EXIT.done;
}

interface Collection {
  context: Context;
  dataset: Dataset;
  sources: ScratchSources;
  ingest: IngestPoint;
  /** Of the comparison. */
  folder: string;
}

/** Ingests once, and searches in every way. What was ingested is removed once all are measured; an interrupted comparison finds it again. */
async function measureCollection(
  { context, dataset, sources, ingest, folder }: Collection,
  searches: readonly SearchPoint[],
  keep: (search: SearchPoint, point: MeasuredPoint) => Promise<void>,
): Promise<void> {
  const scratch = join(folder, 'scratch', ingest.id);
  const instance = await startScratch(context, scratch, scratchConfiguration(sources, ingest));
  try {
    const documents = await allDocuments(instance.api, {});
    const chunks = documents.reduce((sum, document) => sum + document.chunks, 0);
    for (const search of searches) {
      context.output.note(`${ingest.name}; ${search.name}: ${dataset.questions.length} questions over ${chunks} chunks`);
      const report = await runOnInstance(context, instance.api, dataset, search.settings);
      await keep(search, { ingest: ingest.name, search: search.name, chunks, report });
    }
  } finally {
    await instance.stop();
  }
  await removeScratch(context, scratch);
}

/** What a comparison ingests: the documents that the data set brings along, else those of the configuration, else those of the live instance. */
async function sourcesOf(context: Context, dataset: Dataset, folder: string): Promise<ScratchSources> {
  const { documents } = dataset;
  if (documents !== undefined) {
    if ('folder' in documents) return { folders: { corpus: documents.folder } };
    const corpus = join(folder, 'corpus');
    await mkdir(corpus, { recursive: true });
    for (const { name, text } of documents.texts) await writeFile(join(corpus, name), text);
    return { folders: { corpus } };
  }
  const { file } = await configOf(context);
  if (file !== undefined) return { file, text: await readText(file) };
  const { sources } = dataOf(await (await context.api()).GET('/ops/api/status'));
  return { folders: Object.fromEntries(sources.map(({ name, path }) => [name, path])) };
}

async function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((cause: unknown) => {
    throw new SluiceError('invalid_request', `${file} cannot be read`, { cause });
  });
}

async function readPoint(file: string): Promise<MeasuredPoint | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as MeasuredPoint); // written whole, by this command
}

/** A file that is there is whole. */
async function writeWhole(file: string, text: string): Promise<void> {
  await writeFile(`${file}.part`, text);
  await rename(`${file}.part`, file);
}
