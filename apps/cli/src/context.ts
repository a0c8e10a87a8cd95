import type { ExitCode } from './exit.js';
import type { Output } from './output.js';
import type { Api } from './responses.js';

/** What a command works with. */
export interface Context {
  output: Output;
  /** The running instance's API. Error `not_ready` when none runs. */
  api(): Promise<Api>;
  /** The environment, as given to the process. */
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** `--config` and other flags that every command has. */
  flags: { config?: string; data?: string };
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  /** For a command that listens to signals itself. */
  releaseSignals(): void;
}

/** Turns a command's work into commander's action, whose last two arguments are its options and the command. */
export type Run = <Options, Args extends unknown[]>(
  work: (context: Context, options: Options, ...args: Args) => Promise<ExitCode>,
) => (...actionArguments: unknown[]) => Promise<void>;
