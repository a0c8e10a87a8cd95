import { type components, readAnswerEvents } from '@sluice/client';
import { SluiceError } from '@sluice/core';
import { type Command, Option } from 'commander';
import type { Context, Run } from '../context.js';
import { EXIT } from '../exit.js';
import { given } from '../given.js';
import { jsonObject, positiveInteger } from '../options.js';

interface Options {
  filter?: Record<string, unknown>;
  mode?: 'hybrid' | 'dense' | 'keyword';
  limit?: number;
  maxTokens?: number;
  expand?: 'none' | 'window' | 'parent';
  rerank?: boolean;
}

type Answer = components['schemas']['Answer'];

/** An answer as it comes, then its sources. */
export function askCommand(program: Command, run: Run): void {
  program
    .command('ask')
    .description('have the configured language model answer from the documents')
    .argument('<question>')
    .option('--filter <json>', 'conditions on metadata, as {"category":"finance"}', jsonObject)
    .addOption(new Option('--mode <mode>').choices(['hybrid', 'dense', 'keyword']))
    .option('--limit <n>', 'passages to choose from', positiveInteger)
    .option('--max-tokens <n>', 'token budget of the context', positiveInteger)
    .addOption(new Option('--expand <expansion>').choices(['none', 'window', 'parent']))
    .option('--rerank', 'order the best passages by the reranker')
    .action(
      run(async (context: Context, { maxTokens, ...options }: Options, question: string) => {
        const { output } = context;
        const body = { query: question, ...given({ ...options, max_tokens: maxTokens }) };
        const answer = await streamAnswer(context, body);
        output.value(answer);
        // What was streamed is not the answer where no statement named a source that exists.
        if (!answer.found) output.line(answer.answer);
        const cited = new Set(answer.citations.map(({ n }) => n));
        for (const { n, doc_id, citation } of answer.sources) {
          if (!cited.has(n)) continue;
          const place = [...citation.heading_path, ...(citation.page === undefined ? [] : [`page ${citation.page}`])];
          output.line(`[${n}] ${doc_id}${place.length === 0 ? '' : `  ${place.join(' > ')}`}`);
        }
        for (const word of answer.degraded) output.note(`degraded: ${word}`);
        return EXIT.done;
      }),
    );
}

async function streamAnswer({ api, output }: Context, body: components['schemas']['AnswerRequest']): Promise<Answer> {
  const client = await api();
  const { data } = await client.POST('/v1/answer', {
    body: { ...body, stream: true },
    parseAs: 'stream',
    headers: { accept: 'text/event-stream' },
  });
  if (data == null) throw new SluiceError('not_ready', 'The API answered a stream without a body.');
  let streamed = false;
  // Events have the shapes of the OpenAPI document; they come from the API of this version.
  for await (const { event, data: value } of readAnswerEvents(data)) {
    if (event === 'token') {
      streamed = true;
      output.piece((value as { text: string }).text);
    }
    if (event === 'done') {
      if (streamed) output.line('\n');
      return value as Answer;
    }
  }
  throw new SluiceError('not_ready', 'The answer ended before it was whole.');
}
