import { cwd, exit, stderr, stdout } from 'node:process';
import { processEnvironment } from '@sluice/config';
import { EXIT } from './exit.js';
import { runCli } from './program.js';

/** How long a command may take to end by itself once it is interrupted. */
const INTERRUPT_MS = 500;
/** How long what still holds the process (a pooled connection) may keep it after the command has ended. */
const LINGER_MS = 2_000;

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const interrupted = new AbortController();

function onSignal(): void {
  interrupted.abort(new Error('interrupted'));
  setTimeout(() => exit(EXIT.interrupted), INTERRUPT_MS).unref();
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
// Output to a pipe is written in the background, so the process ends by itself where it can.
setTimeout(() => exit(), LINGER_MS).unref();
