import { type Command, Option } from 'commander';
import type { Run } from '../context.js';
import { share } from '../options.js';

export interface EvalOptions {
  mode?: 'hybrid' | 'dense' | 'keyword';
  alpha?: number;
  expand?: 'none' | 'window' | 'parent';
  rerank?: boolean;
  out?: string;
  baseline?: string;
  writeBaseline?: string;
  gate?: boolean;
  suggest?: boolean;
  fromLog?: boolean;
  compare?: string;
  answers?: boolean;
}

export function evalCommand(program: Command, run: Run): void {
  program
    .command('eval')
    .description('measure search by questions whose answers are known (docs/evaluation.md)')
    .argument('<dataset>', 'questions.jsonl, a CSV, or a folder in the form of BEIR or TREC')
    .addOption(new Option('--mode <mode>').choices(['hybrid', 'dense', 'keyword']))
    .option('--alpha <share>', 'weight of the dense part, 0 to 1', share)
    .addOption(new Option('--expand <expansion>').choices(['none', 'window', 'parent']))
    .option('--rerank', 'order the best results by the reranker')
    .option('--out <folder>', 'write report.json, report.md, report.html and report.svg')
    .option('--baseline <file>', 'compare with an earlier report or baseline')
    .option('--write-baseline <file>', 'keep what later runs are compared with, small enough to commit')
    .option('--gate', 'exit 1 when a measure is below its threshold in sluice.yaml, or worse than the baseline')
    .option('--compare <grid.yaml>', 'measure every point of a grid in scratch collections, into the folder --out')
    .option('--answers', 'measure answers instead of rankings, by the language model and by proxies')
    .option('--suggest', 'write first questions, made of what is indexed, to the file <dataset>')
    .option('--from-log', 'write questions, made of feedback on searches, to the file <dataset>')
    .action(
      run(async (context, options: EvalOptions, dataset: string) => {
        if (options.suggest === true) {
          const { suggest } = await import('../suggest.js');
          return suggest(context, dataset);
        }
        if (options.fromLog === true) {
          const { questionsFromLog } = await import('../from-log.js');
          return questionsFromLog(context, dataset);
        }
        if (options.answers === true) {
          const { evaluateAnswers } = await import('../answers.js');
          return evaluateAnswers(context, options, dataset);
        }
        if (options.compare !== undefined) {
          const { compareGrid } = await import('../compare.js');
          return compareGrid(context, options, dataset);
        }
        const { evaluate } = await import('../evaluate.js');
        return evaluate(context, options, dataset);
      }),
    );
}
