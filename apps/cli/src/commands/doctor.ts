import type { Command } from 'commander';
import type { Run } from '../context.js';
import { EXIT } from '../exit.js';
import { configOf } from '../settings.js';

const MARKS = { ok: 'ok     ', warning: 'warning', problem: 'PROBLEM' } as const;

export function doctorCommand(program: Command, run: Run): void {
  program
    .command('doctor')
    .description(
      'check everything that Sluice stands on, and print the command that fixes it (exit 1 when something does not work)',
    )
    .action(
      run(async (context) => {
        const { diagnose } = await import('@sluice/launcher');
        const checks = await diagnose({ config: await configOf(context), env: context.env });
        context.output.value({ checks });
        for (const { name, status, detail, fix } of checks) {
          context.output.line(`${MARKS[status]}  ${name}: ${detail}`);
          if (fix !== undefined) context.output.line(`         ${fix}`);
        }
        return checks.some(({ status }) => status === 'problem') ? EXIT.wrong : EXIT.done;
      }),
    );
}
