import { runInstance, startDetached } from '@sluice/launcher';
import type { Command } from 'commander';
import type { Run } from '../context.js';
import { EXIT, type ExitCode } from '../exit.js';

export function upCommand(program: Command, run: Run): void {
  program
    .command('up')
    .description('start services, watcher, worker and API; without folders ./inbox is watched')
    .argument('[name=folder...]')
    .option('--detach', 'return once it is ready; "sluice down" stops it')
    .action(
      run(async ({ output, flags, env, cwd, signal, releaseSignals }, { detach }: { detach?: boolean }, sources: string[]) => {
        // With --json stdout is for the one answer, so lines for people go to stderr.
        const write = (line: string) => (output.json ? output.note(line) : output.line(line));
        const options = { flags: { ...flags, sources }, env, cwd, write };
        if (detach !== true) {
          releaseSignals();
          return asExitCode(await runInstance(options));
        }
        const result = await startDetached({ ...options, signal });
        if (result.outcome === 'failed') return asExitCode(result.code);
        output.value({ api: result.api, pid: result.pid });
        return EXIT.done;
      }),
    );
}

function asExitCode(code: number): ExitCode {
  return Object.values(EXIT).find((known) => known === code) ?? EXIT.wrong;
}
