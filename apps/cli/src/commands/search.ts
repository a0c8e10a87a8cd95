import { type Command, Option } from 'commander';
import type { Run } from '../context.js';
import { EXIT } from '../exit.js';
import { given } from '../given.js';
import { jsonObject, list, positiveInteger } from '../options.js';

interface Options {
  filter?: Record<string, unknown>;
  mode?: 'hybrid' | 'dense' | 'keyword';
  limit?: number;
  expand?: 'none' | 'window' | 'parent';
  rerank?: boolean;
  offset?: number;
  facets?: string[];
}

export function searchCommand(program: Command, run: Run): void {
  program
    .command('search')
    .description('search the indexed documents')
    .argument('<query>')
    .option('--filter <json>', 'conditions on metadata, as {"category":"finance"}', jsonObject)
    .addOption(new Option('--mode <mode>').choices(['hybrid', 'dense', 'keyword']))
    .option('--limit <n>', 'number of results', positiveInteger)
    .addOption(new Option('--expand <expansion>').choices(['none', 'window', 'parent']))
    .option('--rerank', 'order the best results by the reranker')
    .option('--offset <n>', 'results to pass over', positiveInteger)
    .option('--facets <fields>', 'count the documents by the values of these fields, as doc_type,tags', list)
    .action(
      run(async ({ api, output }, options: Options, query: string) => {
        const answer = await (await api()).search({ query, ...given({ ...options }) });
        output.value(answer);
        for (const [index, { doc_id, score, text, citation }] of answer.results.entries()) {
          const place = [...citation.heading_path, ...(citation.page === undefined ? [] : [`page ${citation.page}`])];
          output.line(
            `${index + 1 + (options.offset ?? 0)}. ${doc_id}  ${score.toFixed(3)}${place.length === 0 ? '' : `  ${place.join(' > ')}`}`,
          );
          output.line(`${indented(text)}\n`);
        }
        if (answer.results.length === 0) output.line('Nothing found.');
        for (const [field, values] of Object.entries(answer.facets ?? {})) {
          output.line(`${field}: ${values.map(({ value, count }) => `${value} (${count})`).join(', ')}`);
        }
        for (const word of answer.degraded) output.note(`degraded: ${word}`);
        return EXIT.done;
      }),
    );
}

const SHOWN = 600;

function indented(text: string): string {
  const shown = text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text;
  return shown
    .split('\n')
    .map((line) => `   ${line}`)
    .join('\n');
}
