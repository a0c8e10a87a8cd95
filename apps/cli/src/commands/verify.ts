import { dataOf } from '@sluice/client';
import { SluiceError } from '@sluice/core';
import type { Command } from 'commander';
import type { Run } from '../context.js';
import { EXIT } from '../exit.js';
import { finishTask } from '../finish-task.js';
import { table } from '../output.js';

export function verifyCommand(program: Command, run: Run): void {
  program
    .command('verify')
    .description('compare disk, documents and chunks (exit 1 when they differ)')
    .option('--repair', 'have what differs done again')
    .action(
      run(async (context, { repair }: { repair?: boolean }) => {
        const { output } = context;
        const api = await context.api();
        const { task_id } = dataOf(await api.POST('/ops/api/verify', { body: { repair: repair === true } }));
        const report = await finishTask(context, api, task_id);
        if (!('differences' in report)) throw new SluiceError('internal', 'The task was another one.');
        output.value(report);
        const { files, documents, chunks } = report.checked;
        output.line(`${report.differences} differences in ${files} files, ${documents} documents, ${chunks} chunks`);
        const kinds = Object.entries(report.by_kind).filter(([, count]) => count > 0);
        if (kinds.length > 0) output.line(table(kinds.map(([kind, count]) => [`  ${kind}`, String(count)])));
        for (const { kind, doc_id } of report.examples) output.line(`  ${kind}: ${doc_id}`);
        for (const name of report.unreachable_sources)
          output.line(
            `source ${name} was not compared with the disk: its folder cannot be read, or is not the one that is known`,
          );
        if (report.unreadable_paths > 0)
          output.line(`${report.unreadable_paths} files or folders could not be read; the log of the watcher names them`);
        if (report.in_flight > 0) output.line(`${report.in_flight} documents that a job works on were left out`);
        if (report.failed_serving_old > 0) output.line(`${report.failed_serving_old} failed documents serve an old revision`);
        if (report.in_grace > 0) output.line(`${report.in_grace} superseded objects wait for their grace`);
        if (report.repaired !== undefined) output.line(`${report.repaired} documents are being written again`);
        return report.differences > 0 ? EXIT.wrong : EXIT.done;
      }),
    );
}
