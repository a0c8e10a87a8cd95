import { dataOf } from '@sluice/client';
import { SluiceError } from '@sluice/core';
import type { Command } from 'commander';
import type { Run } from '../context.js';
import { EXIT } from '../exit.js';
import { finishTask } from '../finish-task.js';
import { table } from '../output.js';

export function sourceCommand(program: Command, run: Run): void {
  const source = program.command('source').description('watched folders');

  source
    .command('list')
    .description('sources with their documents')
    .action(
      run(async ({ api, output }) => {
        const answer = dataOf(await (await api()).GET('/v1/sources'));
        output.value(answer);
        const rows = answer.sources.map(({ name, configured, documents }) => [
          name,
          `${documents.indexed} indexed, ${documents.pending} pending, ${documents.empty} empty, ${documents.skipped} skipped, ${documents.failed} failed`,
          configured ? '' : 'no longer configured',
        ]);
        output.line(rows.length === 0 ? 'No sources.' : table(rows));
        return EXIT.done;
      }),
    );

  source
    .command('remove')
    .description('remove the documents of a source that is no longer configured')
    .argument('<name>')
    .action(
      run(async (context, _options: object, name: string) => {
        const { output } = context;
        const api = await context.api();
        const { task_id } = dataOf(await api.POST('/ops/api/sources/remove', { body: { source: name } }));
        const answer = await finishTask(context, api, task_id);
        if (!('removed' in answer)) throw new SluiceError('internal', 'The task was another one.');
        output.value(answer);
        output.line(`${answer.removed} documents of ${name} removed`);
        return EXIT.done;
      }),
    );
}
