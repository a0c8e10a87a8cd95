import { dataOf } from '@sluice/client';
import type { Command } from 'commander';
import type { Run } from '../context.js';
import { EXIT } from '../exit.js';
import { given } from '../given.js';

export function reindexCommand(program: Command, run: Run): void {
  program
    .command('reindex')
    .description('read, chunk and embed documents anew, changed or not')
    .option('--source <name>', 'only those of one source')
    .action(
      run(async ({ api, output }, { source }: { source?: string }) => {
        const answer = dataOf(await (await api()).POST('/ops/api/reindex', { body: given({ source }) }));
        output.value(answer);
        output.line(`${answer.documents} documents queued`);
        return EXIT.done;
      }),
    );
}
