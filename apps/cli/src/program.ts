import { type SluiceError, toSluiceError, VERSION } from '@sluice/core';
import { Command, CommanderError } from 'commander';
import { askCommand } from './commands/ask.js';
import { chunkCommand } from './commands/chunk.js';
import { dlqCommand } from './commands/dlq.js';
import { doctorCommand } from './commands/doctor.js';
import { documentsCommand } from './commands/documents.js';
import { downCommand } from './commands/down.js';
import { evalCommand } from './commands/eval.js';
import { ingestCommand } from './commands/ingest.js';
import { keyCommand } from './commands/key.js';
import { mcpCommand } from './commands/mcp.js';
import { parseCommand } from './commands/parse.js';
import { reindexCommand } from './commands/reindex.js';
import { searchCommand } from './commands/search.js';
import { sourceCommand } from './commands/source.js';
import { statusCommand } from './commands/status.js';
import { upCommand } from './commands/up.js';
import { verifyCommand } from './commands/verify.js';
import { whyCommand } from './commands/why.js';
import type { Context, Run } from './context.js';
import { EXIT, type ExitCode, exitCodeOf, failure } from './exit.js';
import { findApi } from './find-api.js';
import { createOutput, type Output, type Streams } from './output.js';

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

/** Loaded with each command line, so they load what takes long (parsers, models, launcher, configuration) where they act. */
const COMMANDS = [
  upCommand,
  downCommand,
  ingestCommand,
  statusCommand,
  documentsCommand,
  whyCommand,
  searchCommand,
  askCommand,
  parseCommand,
  chunkCommand,
  dlqCommand,
  verifyCommand,
  reindexCommand,
  sourceCommand,
  keyCommand,
  evalCommand,
  mcpCommand,
  doctorCommand,
];

/** How long a command may take to end by itself once it is interrupted. */
const INTERRUPT_MS = 500;

/**
 * Runs one command line. Never throws: what goes wrong is told on stderr and in the exit code. With --json stdout always gets one JSON
 * value: the answer, else `{"error": {"code", "message"}}`.
 */
export async function runCli(args: readonly string[], view: ProcessView): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.done;
  const json = asksForJson(args);
  const output = createOutput(view, json);
  const run: Run =
    <Options, Args extends unknown[]>(work: (context: Context, options: Options, ...args: Args) => Promise<ExitCode>) =>
    async (...actionArguments) => {
      const command = actionArguments.at(-1) as Command;
      const global = command.optsWithGlobals<GlobalOptions>();
      const flags = {
        ...(global.config === undefined ? {} : { config: global.config }),
        ...(global.data === undefined ? {} : { data: global.data }),
      };
      const { env, cwd, signal } = view;
      const context: Context = {
        output,
        api: () => findApi({ env, cwd, flags, signal }),
        env,
        cwd,
        flags,
        signal,
        releaseSignals: () => view.releaseSignals(),
      };
      // What commander hands over is what the command declared: its options, and before them its arguments.
      exitCode = await work(context, command.opts() as Options, ...(actionArguments.slice(0, -2) as Args));
    };

  const written: string[] = [];
  try {
    // With --json what commander prints (help, the version) goes into the answer.
    const stdout = json ? { write: (text: string) => written.push(text) } : view.stdout;
    await interruptible(makeProgram({ stdout, stderr: view.stderr }, run).parseAsync([...args], { from: 'user' }), view.signal);
    if (!output.hasValue()) output.value(failure('failed', 'The command ended without an answer; stderr tells more.'));
    return exitCode;
  } catch (error) {
    if (view.signal.aborted) {
      output.value(failure('interrupted', 'Interrupted.'));
      return EXIT.interrupted;
    }
    if (!(error instanceof CommanderError)) return fail(output, toSluiceError(error));
    if (error.exitCode === 0) {
      output.value(error.code === 'commander.version' ? { version: VERSION } : { help: written.join('') });
      return EXIT.done;
    }
    // Without a command commander shows its help, and says no more than that.
    const message = error.code === 'commander.help' ? 'Name a command: "sluice --help" lists them.' : error.message;
    output.value(failure('invalid_request', message));
    return EXIT.usage;
  }
}

/** Behind `--` stand arguments, whatever they look like. */
function asksForJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return (end < 0 ? args : args.slice(0, end)).includes('--json');
}

/** What a command is to do after an interrupt, it may; what does not end is left to itself. */
async function interruptible(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  let onAbort = () => {};
  const given = new Promise<never>((_, reject) => {
    onAbort = () => void setTimeout(() => reject(signal.reason), INTERRUPT_MS);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    await Promise.race([work, given]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Where commander prints. */
interface Printed {
  stdout: { write(text: string): unknown };
  stderr: { write(text: string): unknown };
}

/** The command line as declared: all commands with their arguments and options. `run` is told what a command is to do. */
export function makeProgram(view: Printed, run: Run): Command {
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

function fail(output: Output, error: SluiceError): ExitCode {
  output.value(failure(error.code, error.message));
  output.note(error.message);
  return exitCodeOf(error);
}
