import type { SluiceError } from '@sluice/core';
import type { Command } from 'commander';
import type { Run } from '../context.js';
import { EXIT, type ExitCode, failure } from '../exit.js';

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
        const { runInstance, startDetached } = await import('@sluice/launcher');
        if (detach === true) {
          const result = await startDetached({ ...options, signal });
          if (result.outcome === 'ready') {
            output.value({ api: result.api, pid: result.pid });
            return EXIT.done;
          }
          output.value(ended(result.code, result.error));
          return asExitCode(result.code);
        }
        releaseSignals();
        let error: SluiceError | undefined;
        const code = await runInstance({
          ...options,
          onReady: (instance) => output.value({ api: instance.addresses.api, pid: process.pid }),
          onError: (thrown) => {
            error = thrown;
          },
        });
        // Once it was ready that was the answer.
        output.value(ended(code, error));
        return asExitCode(code);
      }),
    );
}

function ended(code: number, error: Pick<SluiceError, 'code' | 'message'> | undefined) {
  if (error !== undefined) return failure(error.code, error.message);
  return code === EXIT.interrupted
    ? failure('interrupted', 'Interrupted.')
    : failure('failed', 'The instance ended; its log tells more.');
}

function asExitCode(code: number): ExitCode {
  return Object.values(EXIT).find((known) => known === code) ?? EXIT.wrong;
}
