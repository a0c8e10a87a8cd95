import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type components, dataOf } from '@sluice/client';
import {
  type AnswerReport,
  judgeAnswer,
  loadDataset,
  measureAnswers,
  passagesOf,
  type Question,
  resolveDocuments,
} from '@sluice/evaluation';
import { allDocuments } from './all-documents.js';
import type { EvalOptions } from './commands/eval.js';
import type { Context } from './context.js';
import { EXIT, type ExitCode } from './exit.js';
import { given } from './given.js';
import { table } from './output.js';
import { configOf } from './settings.js';

/** Has the questions of a data set answered and measures the answers: the work of `sluice eval --answers`. */
export async function evaluateAnswers(context: Context, options: EvalOptions, path: string): Promise<ExitCode> {
  const { output, cwd } = context;
  const { questions } = await loadDataset(resolve(cwd, path));
  const api = await context.api();
  const docIds = (await allDocuments(api, {})).map(({ doc_id }) => doc_id);
  const { mode, alpha, expand, rerank } = options;
  const settings = given({ mode, alpha, expand, rerank });
  const report = await measureAnswers(questions, {
    documents: resolveDocuments(questions, docIds),
    judge: await judgeOf(context),
    ask: async ({ text, filter }: Question) => {
      const body = { query: text, ...settings, ...given({ filter }) };
      // Without `stream` the answer is JSON, of the API's own version.
      const { answer, found } = dataOf(await api.POST('/v1/answer', { body })) as components['schemas']['Answer'];
      const { context: passages, sources } = dataOf(await api.POST('/v1/context', { body }));
      return { answer, found, passages: passagesOf(passages, sources) };
    },
    onProgress: (done, total) => output.bar(done, total, 'answers'),
  });
  if (options.out !== undefined) {
    const folder = resolve(cwd, options.out);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'answers.json'), `${JSON.stringify(report, null, 1)}\n`);
    output.note(`answers.json is in ${folder}`);
  }
  output.value(report);
  output.line(describe(report));
  return EXIT.done;
}

/** The language model of the configuration as a judge; undefined without one. */
async function judgeOf(context: Context) {
  const { llm } = await configOf(context);
  if (llm === undefined) {
    context.output.note('No language model is configured here (llm.base_url): answers are measured by proxies alone.');
    return undefined;
  }
  const { createLlm } = await import('@sluice/llm');
  const model = createLlm(llm);
  const ask = async ({ system, user }: { system: string; user: string }) => {
    const messages = [
      { role: 'system' as const, content: system },
      { role: 'user' as const, content: user },
    ];
    return (await model.complete({ messages, temperature: 0, json: true }, context.signal)).text;
  };
  return (question: string, answered: Parameters<typeof judgeAnswer>[2]) => judgeAnswer(ask, question, answered);
}

function describe({ questions, not_judged: notJudged, totals }: AnswerReport): string {
  const rows = Object.entries(totals).map(([name, { mean, low, high, n }]) => [
    name,
    mean.toFixed(3),
    `${low.toFixed(3)}-${high.toFixed(3)}`,
    String(n),
  ]);
  const missing = notJudged > 0 ? `\n${notJudged} answers have no marks: the judge's reply held none.` : '';
  return `${questions} questions\n${table([['measure', 'mean', '95 % interval', 'answers'], ...rows])}${missing}`;
}
