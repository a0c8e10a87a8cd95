import type { Command } from 'commander';
import type { Run } from '../context.js';
import { dataFolderOf } from '../data-folder.js';
import { EXIT } from '../exit.js';

export function downCommand(program: Command, run: Run): void {
  program
    .command('down')
    .description('stop the instance of this data folder; its data stays')
    .action(
      run(async (context) => {
        const folder = dataFolderOf(context);
        const { stopInstance } = await import('@sluice/launcher');
        const result = await stopInstance(folder, { env: context.env });
        context.output.value(result);
        if (result.outcome === 'not_running') {
          context.output.note(`Sluice does not run on ${folder}.`);
          return EXIT.notRunning;
        }
        context.output.line(
          result.outcome === 'stopped' ? 'Stopped.' : `Ended ${result.pids.length} processes that were left over.`,
        );
        return EXIT.done;
      }),
    );
}
