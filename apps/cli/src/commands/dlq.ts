import { dataOf, type paths } from '@sluice/client';
import { REASONS, type ReasonCode, SluiceError } from '@sluice/core';
import { type Command, Option } from 'commander';
import type { Run } from '../context.js';
import { EXIT } from '../exit.js';
import { given } from '../given.js';
import { table } from '../output.js';
import { allPages, PAGE_LIMIT } from '../pages.js';
import type { Api, DeadLetter } from '../responses.js';

interface Choice {
  code?: ReasonCode;
  source?: string;
  all?: boolean;
}

export function dlqCommand(program: Command, run: Run): void {
  const dlq = program.command('dlq').description('documents that could not be ingested');

  dlq
    .command('list')
    .addOption(codeOption())
    .option('--source <name>')
    .action(
      run(async ({ api, output }, { code, source }: Choice) => {
        const { letters, clearance } = await allLetters(await api(), given({ code, source }));
        output.value({ dead_letters: letters, clearance });
        const rows = letters.map(({ doc_id, code: reason, message, serving }) => [
          reason,
          doc_id,
          serving ? 'old revision served' : '',
          message,
        ]);
        output.line(rows.length === 0 ? 'No dead letters.' : table(rows));
        if (clearance < 5) output.note(`Seen with clearance ${clearance}: those above it are left out (docs/access.md).`);
        return EXIT.done;
      }),
    );

  dlq
    .command('show')
    .argument('<doc_id>')
    .action(
      run(async ({ api, output }, _options: Choice, docId: string) => {
        const document = dataOf(await (await api()).GET('/v1/documents/{doc_id}', { params: { path: { doc_id: docId } } }));
        output.value(document);
        output.line(
          table(
            Object.entries(document).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
          ),
        );
        return EXIT.done;
      }),
    );

  for (const { verb, description, done, send } of [
    {
      verb: 'retry',
      description: 'try dead letters again',
      done: 'retried',
      async send(api: Api, body: Body) {
        const answer = dataOf(await api.POST('/ops/api/dead-letters/retry', { body }));
        return { count: answer.retried, body: answer };
      },
    },
    {
      verb: 'discard',
      description: 'take dead letters off the list; they are not retried until their file changes',
      done: 'discarded',
      async send(api: Api, body: Body) {
        const answer = dataOf(await api.POST('/ops/api/dead-letters/discard', { body }));
        return { count: answer.discarded, body: answer };
      },
    },
  ]) {
    dlq
      .command(verb)
      .description(description)
      .argument('[doc_id...]')
      .addOption(codeOption())
      .option('--source <name>', 'all of this source')
      .option('--all', 'all')
      .action(
        run(async ({ api, output }, options: Choice, ids: string[]) => {
          const body = bodyOf(ids, options);
          const answer = await send(await api(), body);
          output.value(answer.body);
          output.line(`${answer.count} ${done}`);
          for (const id of answer.body.not_found) output.note(`${id} is no dead letter`);
          return answer.body.not_found.length > 0 ? EXIT.wrong : EXIT.done;
        }),
      );
  }
}

type Body = paths['/ops/api/dead-letters/retry']['post']['requestBody']['content']['application/json'];

function bodyOf(ids: string[], { code, source, all }: Choice): Body {
  const choices: Body[] = [];
  if (ids.length > 0) choices.push({ ids });
  if (code !== undefined) choices.push({ code });
  if (source !== undefined) choices.push({ source });
  if (all === true) choices.push({ all });
  const [body, ...more] = choices;
  if (body === undefined || more.length > 0) {
    throw new SluiceError('invalid_request', 'Name dead letters in one way: DOC_ID..., --code, --source or --all.');
  }
  return body;
}

function codeOption(): Option {
  return new Option('--code <reason>', 'all with this reason').choices(Object.keys(REASONS));
}

async function allLetters(
  api: Api,
  query: { code?: ReasonCode; source?: string },
): Promise<{ letters: DeadLetter[]; clearance: number }> {
  let clearance = 5;
  const letters = await allPages(async (cursor) => {
    const params = { query: { ...query, limit: PAGE_LIMIT, ...given({ cursor }) } };
    const answer = dataOf(await api.GET('/ops/api/dead-letters', { params }));
    clearance = answer.clearance;
    return { items: answer.dead_letters, ...given({ next_cursor: answer.next_cursor }) };
  });
  return { letters, clearance };
}
