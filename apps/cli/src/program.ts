import { type SluiceError, toSluiceError, VERSION } from '@sluice/core';
import { Command, CommanderError } from 'commander';
import { chunkCommand } from './commands/chunk.js';
import { dlqCommand } from './commands/dlq.js';
import { doctorCommand } from './commands/doctor.js';
import { documentsCommand } from './commands/documents.js';
import { downCommand } from './commands/down.js';
import { ingestCommand } from './commands/ingest.js';
import { keyCommand } from './commands/key.js';
import { parseCommand } from './commands/parse.js';
import { reindexCommand } from './commands/reindex.js';
import { searchCommand } from './commands/search.js';
import { sourceCommand } from './commands/source.js';
import { statusCommand } from './commands/status.js';
import { upCommand } from './commands/up.js';
import { verifyCommand } from './commands/verify.js';
import { whyCommand } from './commands/why.js';
import type { Context, Run } from './context.js';
import { EXIT, type ExitCode, exitCodeOf } from './exit.js';
import { findApi } from './find-api.js';
import { createOutput, type Streams } from './output.js';

export interface ProcessView extends Streams {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  signal: AbortSignal;
  /** Leaves signals to the command from here on. */
  releaseSignals(): void;
}

interface GlobalOptions {
  json?: boolean;
  config?: string;
  data?: string;
}

const COMMANDS = [
  upCommand,
  downCommand,
  ingestCommand,
  statusCommand,
  documentsCommand,
  whyCommand,
  searchCommand,
  parseCommand,
  chunkCommand,
  dlqCommand,
  verifyCommand,
  reindexCommand,
  sourceCommand,
  keyCommand,
  doctorCommand,
];

/** Runs one command line. Never throws: what goes wrong is told on stderr (with --json on stdout too) and in the exit code. */
export async function runCli(args: readonly string[], view: ProcessView): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.done;
  const json = args.includes('--json');
  const run: Run =
    <Options, Args extends unknown[]>(work: (context: Context, options: Options, ...args: Args) => Promise<ExitCode>) =>
    async (...actionArguments) => {
      const command = actionArguments.at(-1) as Command;
      const global = command.optsWithGlobals<GlobalOptions>();
      const flags = {
        ...(global.config === undefined ? {} : { config: global.config }),
        ...(global.data === undefined ? {} : { data: global.data }),
      };
      const context: Context = {
        output: createOutput(view, json),
        api: () => findApi({ env: view.env, cwd: view.cwd, flags }),
        env: view.env,
        cwd: view.cwd,
        flags,
        signal: view.signal,
        releaseSignals: () => view.releaseSignals(),
      };
      // What commander hands over is what the command declared: its options, and before them its arguments.
      exitCode = await work(context, command.opts() as Options, ...(actionArguments.slice(0, -2) as Args));
    };

  try {
    await makeProgram(view, run).parseAsync([...args], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (view.signal.aborted) return EXIT.interrupted;
    if (error instanceof CommanderError) return report(view, json, error);
    return fail(view, json, toSluiceError(error));
  }
}

/** The command line as declared: all commands with their arguments and options. `run` is told what a command is to do. */
export function makeProgram(view: Streams, run: Run): Command {
  const program = new Command('sluice')
    .description('Keeps a vector store true to your folders.')
    .version(VERSION, '--version', 'print the version')
    .option('--json', 'print machine-readable output alone on stdout')
    .option('--config <file>', 'configuration file (default: sluice.yaml, or SLUICE_CONFIG)')
    .option('--data <folder>', 'data folder of the instance (default: .sluice, or SLUICE_DATA)')
    .showHelpAfterError('(sluice --help lists commands and options)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void view.stdout.write(text),
      writeErr: (text) => void view.stderr.write(text),
    });
  for (const command of COMMANDS) command(program, run);
  inherit(program);
  return program;
}

/** Subcommands take the same global options, wherever on the line they stand. */
function inherit(parent: Command): void {
  for (const command of parent.commands) {
    command.copyInheritedSettings(parent);
    for (const option of parent.options) if (option.long !== '--version') command.addOption(option);
    inherit(command);
  }
}

/** Help and version are what was asked for; everything else that commander throws is usage. */
function report(view: ProcessView, json: boolean, error: CommanderError): ExitCode {
  if (error.exitCode === 0) return EXIT.done;
  if (json) view.stdout.write(`${JSON.stringify({ error: { code: 'invalid_request', message: error.message } })}\n`);
  return EXIT.usage;
}

function fail(view: ProcessView, json: boolean, error: SluiceError): ExitCode {
  if (json) view.stdout.write(`${JSON.stringify({ error: { code: error.code, message: error.message } })}\n`);
  view.stderr.write(`${error.message}\n`);
  return exitCodeOf(error);
}
