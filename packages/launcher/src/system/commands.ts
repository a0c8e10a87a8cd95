import { spawn } from 'node:child_process';
import { access, constants, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { Environment } from './workplace.js';

export interface CommandOptions {
  env: Environment;
  cwd?: string;
  /** The command and what it started are killed after this long. */
  timeoutMs: number;
  signal?: AbortSignal;
  /** Called every `everyMs` with the seconds passed, so that a long command does not look stuck. */
  progress?: { everyMs: number; tell(seconds: number): void };
}

export interface CommandResult {
  /** Undefined when the command was killed or could not be started. */
  code: number | undefined;
  stdout: string;
  stderr: string;
  timedOut: boolean;
}

/** More of a command's output than this is not kept: its end matters, as the reason of a failure. */
const KEPT_OUTPUT = 200_000;

/** Runs a program without a shell and collects its output. Never throws: a missing program has no code and says so in stderr. */
export function runCommand(program: string, args: readonly string[], options: CommandOptions): Promise<CommandResult> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      env: options.env,
      cwd: options.cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own, so that a timeout ends what the command started too (go and mvn start compilers and virtual machines).
      detached: true,
    });
    const output = { stdout: '', stderr: '' };
    let timedOut = false;
    let settled = false;
    const kill = () => {
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // Ended in the meantime.
      }
    };
    const timer = setTimeout(() => {
      timedOut = true;
      kill();
    }, options.timeoutMs);
    const began = Date.now();
    const ticker =
      options.progress === undefined
        ? undefined
        : setInterval(() => options.progress?.tell(Math.round((Date.now() - began) / 1000)), options.progress.everyMs);
    options.signal?.addEventListener('abort', kill, { once: true });
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        output[name] = (output[name] + text).slice(-KEPT_OUTPUT);
      });
    }
    const settle = (code: number | undefined, failure?: string) => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      clearInterval(ticker);
      options.signal?.removeEventListener('abort', kill);
      resolve({ code, stdout: output.stdout, stderr: failure === undefined ? output.stderr : failure, timedOut });
    };
    child.on('error', (error) => settle(undefined, error.message));
    child.on('close', (code) => settle(code ?? undefined));
  });
}

/** The last line of a command's output that says something: the reason shown when it fails. */
export function lastLine(result: CommandResult): string {
  if (result.timedOut) return 'took too long';
  const lines = `${result.stdout}\n${result.stderr}`.split('\n').map((line) => line.trim());
  const spoken = lines.filter((line) => line !== '');
  const error = spoken.findLast((line) => /^(E:|\[ERROR\]|error|fatal)/i.test(line));
  return (error ?? spoken.at(-1) ?? `exit code ${result.code ?? 'none'}`).slice(0, 200);
}

/** Absolute path of a program on the PATH, or undefined. */
export async function findProgram(name: string, env: Environment): Promise<string | undefined> {
  for (const folder of (env.PATH ?? '').split(delimiter)) {
    if (folder === '') continue;
    const path = join(folder, name);
    try {
      await access(path, constants.X_OK);
      if ((await stat(path)).isFile()) return path;
    } catch {
      // Not in this folder.
    }
  }
  return undefined;
}
