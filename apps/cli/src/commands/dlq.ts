import { SluiceError } from '@sluice/core';
import type { Command } from 'commander';
import type { Run } from '../context.js';
import { EXIT } from '../exit.js';
import { table } from '../output.js';
import { allPages } from '../pages.js';
import type { DeadLetter } from '../responses.js';

interface Choice {
  code?: string;
  source?: string;
  all?: boolean;
}

export function dlqCommand(program: Command, run: Run): void {
  const dlq = program.command('dlq').description('documents that could not be ingested');

  dlq
    .command('list')
    .option('--code <reason>')
    .option('--source <name>')
    .action(
      run(async ({ api, output }, { code, source }: Choice) => {
        const letters = await allPages<'dead_letters', DeadLetter>(await api(), '/ops/api/dead-letters', 'dead_letters', {
          code,
          source,
        });
        output.value({ dead_letters: letters });
        const rows = letters.map(({ doc_id, code: reason, message, serving }) => [
          reason,
          doc_id,
          serving ? 'old revision served' : '',
          message,
        ]);
        output.line(rows.length === 0 ? 'No dead letters.' : table(rows));
        return EXIT.done;
      }),
    );

  dlq
    .command('show')
    .argument('<doc_id>')
    .action(
      run(async ({ api, output }, _options: Choice, docId: string) => {
        const document = await (await api()).get<DeadLetter>(`/v1/documents/${encodeURIComponent(docId)}`);
        output.value(document);
        output.line(
          table(
            Object.entries(document).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
          ),
        );
        return EXIT.done;
      }),
    );

  for (const [verb, description, done] of [
    ['retry', 'try dead letters again', 'retried'],
    ['discard', 'take dead letters off the list; they are not retried until their file changes', 'discarded'],
  ] as const) {
    dlq
      .command(verb)
      .description(description)
      .argument('[doc_id...]')
      .option('--code <reason>', 'all with this reason')
      .option('--source <name>', 'all of this source')
      .option('--all', 'all')
      .action(
        run(async ({ api, output }, options: Choice, ids: string[]) => {
          const body = bodyOf(ids, options);
          const answer = await (await api()).post<Record<typeof done, number> & { not_found: string[] }>(
            `/ops/api/dead-letters/${verb}`,
            body,
          );
          output.value(answer);
          output.line(`${answer[done]} ${done}`);
          for (const id of answer.not_found) output.note(`${id} is no dead letter`);
          return answer.not_found.length > 0 ? EXIT.wrong : EXIT.done;
        }),
      );
  }
}

function bodyOf(ids: string[], { code, source, all }: Choice): Record<string, unknown> {
  const body = {
    ...(ids.length === 0 ? {} : { ids }),
    ...(code === undefined ? {} : { code }),
    ...(source === undefined ? {} : { source }),
    ...(all === true ? { all } : {}),
  };
  if (Object.keys(body).length !== 1) {
    throw new SluiceError('invalid_request', 'Name dead letters in one way: DOC_ID..., --code, --source or --all.');
  }
  return body;
}
