import { cwd, exit, stderr, stdout } from 'node:process';
import { processEnvironment } from '@sluice/config/environment';
import { EXIT } from './exit.js';
import { runCli } from './program.js';

/** How long what still holds the process (a pooled connection) may keep it after the command has ended. */
const LINGER_MS = 2_000;

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const interrupted = new AbortController();

function onSignal(): void {
  interrupted.abort(new Error('interrupted'));
}

for (const signal of SIGNALS) process.on(signal, onSignal);
// A reader that went away (| head) is no error.
stdout.on('error', () => exit(EXIT.done));

process.exitCode = await runCli(process.argv.slice(2), {
  stdout,
  stderr,
  env: processEnvironment(),
  cwd: cwd(),
  signal: interrupted.signal,
  releaseSignals: () => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  },
});
// What an interrupted command still does ends with it, once its answer is written.
if (process.exitCode === EXIT.interrupted) stdout.write('', () => exit());
// Output to a pipe is written in the background, so the process ends by itself where it can.
setTimeout(() => exit(), LINGER_MS).unref();
