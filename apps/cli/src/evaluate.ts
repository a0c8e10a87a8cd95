import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { SluiceError, VERSION } from '@sluice/core';
import {
  type Baseline,
  baselineOf,
  compareReports,
  type Dataset,
  judge,
  loadDataset,
  makeReport,
  type Question,
  type Report,
  readBaseline,
  resolveDocuments,
  runDataset,
  toHtml,
  toMarkdown,
  toSvg,
} from '@sluice/evaluation';
import { allDocuments } from './all-documents.js';
import type { EvalOptions } from './commands/eval.js';
import type { Context } from './context.js';
import { EXIT, type ExitCode } from './exit.js';
import { given } from './given.js';
import type { Api } from './responses.js';
import { configOf } from './settings.js';

/** Measures that a comparison tests. */
const COMPARED = ['ndcg@10', 'mrr@10', 'recall@5', 'recall@10', 'map@100'];

/** Asks, measures, reports, compares, judges: the work of `sluice eval`. */
export async function evaluate(context: Context, options: EvalOptions, path: string): Promise<ExitCode> {
  const { output, cwd } = context;
  // What can't be read fails before the questions are asked.
  const thresholds = options.gate === true ? await thresholdsOf(context) : {};
  const file = options.baseline === undefined ? (await configOf(context)).eval.baseline : resolve(cwd, options.baseline);
  const baseline = file === undefined ? undefined : await readBaselineFile(file);
  const dataset = await loadDataset(resolve(cwd, path));
  const { mode, alpha, expand, rerank } = options;
  const report = await runOnInstance(context, await context.api(), dataset, given({ mode, alpha, expand, rerank }));
  const measures = [...new Set([...COMPARED, ...Object.keys(thresholds)])];
  const comparison =
    baseline === undefined ? undefined : { before: baseline.run, measures: compareReports(baseline, report, measures) };
  const failures = options.gate === true ? judge(report, thresholds, baseline) : [];
  if (options.out !== undefined) {
    const folder = resolve(cwd, options.out);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'report.json'), `${JSON.stringify(report, null, 1)}\n`);
    await writeFile(join(folder, 'report.md'), toMarkdown(report, comparison));
    await writeFile(join(folder, 'report.html'), toHtml(report));
    await writeFile(join(folder, 'report.svg'), toSvg(report));
    output.note(`report.json, report.md, report.html and report.svg are in ${folder}`);
  }
  if (options.writeBaseline !== undefined) {
    await writeFile(resolve(cwd, options.writeBaseline), baselineText(baselineOf(report, measures)));
  }
  output.value({ ...report, ...given({ comparison }), ...(options.gate === true ? { gate: { failures } } : {}) });
  output.line(toMarkdown(report, comparison));
  for (const { measure, value, least, from, p } of failures) {
    const certainty = p === undefined ? '' : `, p ${p.toFixed(4)}`;
    output.note(`gate: ${measure} is ${value.toFixed(4)}, below ${least.toFixed(4)} (${from}${certainty})`);
  }
  return failures.length > 0 ? EXIT.wrong : EXIT.done;
}

/**
 * Asks a running instance every question of a data set.
 *
 * @param settings of the searches, beside question, filter and limit
 */
export async function runOnInstance(
  { output }: Pick<Context, 'output'>,
  api: Api,
  dataset: Dataset,
  settings: Readonly<Record<string, unknown>>,
): Promise<Report> {
  const docIds = (await allDocuments(api, {})).map(({ doc_id }) => doc_id);
  const documents = resolveDocuments(dataset.questions, docIds);
  const named = new Set(dataset.questions.flatMap(({ relevant }) => relevant.map(({ document }) => document)));
  const missingDocuments = [...named].filter((name) => !documents.has(name));
  if (missingDocuments.length === named.size && named.size > 0) {
    throw new SluiceError('invalid_request', `none of the ${named.size} documents that ${dataset.name} names is indexed`);
  }
  const results = await runDataset(dataset, {
    documents,
    search: async ({ text, filter }: Question, { by, limit }) => {
      const body = { query: text, ...settings, ...given({ filter, limit }), ...(by === 'document' ? { group_by: by } : {}) };
      return (await api.search(body)).results;
    },
    now: () => performance.now(),
    onProgress: (done, total) => output.bar(done, total, 'questions'),
  });
  return makeReport({
    dataset,
    run: nameOf(settings),
    version: VERSION,
    madeAt: new Date(),
    settings,
    missingDocuments,
    results,
  });
}

function nameOf(settings: Record<string, unknown>): string {
  const parts = Object.entries(settings).map(([name, value]) => `${name} ${String(value)}`);
  return parts.length === 0 ? 'defaults' : parts.join(', ');
}

async function thresholdsOf(context: Context): Promise<Record<string, number>> {
  const { gate } = (await configOf(context)).eval;
  if (Object.keys(gate).length > 0) return gate;
  throw new SluiceError('invalid_configuration', '--gate needs thresholds: set eval.gate in sluice.yaml, as "ndcg@10: 0.6"');
}

async function readBaselineFile(file: string): Promise<Baseline> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(file, 'utf8'));
  } catch (cause) {
    throw new SluiceError('invalid_request', `${file} is no report of "sluice eval"`, { cause });
  }
  const baseline = readBaseline(value);
  if (baseline === undefined) throw new SluiceError('invalid_request', `${file} is no report of this version of "sluice eval"`);
  return baseline;
}

/** One line a question, so that a change of the file shows which questions changed. */
function baselineText({ results, ...rest }: Baseline): string {
  const lines = results.map((result) => `  ${JSON.stringify(result)}`);
  return `${JSON.stringify({ ...rest, results: [] }).slice(0, -2)}\n${lines.join(',\n')}\n]}\n`;
}
