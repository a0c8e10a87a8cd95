import { type ChildProcess, spawn } from 'node:child_process';
import type { Clock } from '@sluice/core';
import { type ProcessRef, processRef, stopProcess } from '../system/processes.js';
import type { Environment } from '../system/workplace.js';

export interface BackOff {
  /** Wait before the first restart. */
  firstMs: number;
  /** Each further wait is twice the one before, up to this. */
  maxMs: number;
  /** A process that has run for this long starts with the first wait again. */
  resetMs: number;
}

export const BACK_OFF: BackOff = { firstMs: 250, maxMs: 10_000, resetMs: 60_000 };

/** The wait before the next restart, given the one before and how long the process ran. */
export function nextWait(previousMs: number | undefined, ranMs: number, backOff: BackOff): number {
  if (previousMs === undefined || ranMs >= backOff.resetMs) return backOff.firstMs;
  return Math.min(previousMs * 2, backOff.maxMs);
}

export interface ProcessSpec {
  /** `watcher`, `worker`, `api`. */
  role: string;
  /** Arguments of this very node, the script first. */
  args: readonly string[];
  env: Environment;
  cwd: string;
}

export interface SupervisionDeps {
  clock: Clock;
  backOff?: BackOff;
  /** Each line of the output of the process of this pid. */
  onLine(line: string, pid: number | undefined): void;
  /** It runs, again or for the first time. */
  onStart(ref: ProcessRef): void;
  /** It ended without having been asked to, and all that it wrote was read. `waitMs` until it is started again. */
  onExit(exit: { pid: number | undefined; code: number | undefined; signal: string | undefined; waitMs: number }): void;
}

export interface SupervisedProcess {
  readonly role: string;
  /** Undefined while it waits for its restart, or once stopped. */
  current(): ProcessRef | undefined;
  restarts(): number;
  start(): void;
  /** SIGTERM, SIGKILL after the deadline; no restart any more. */
  stop(options: { deadlineMs: number; force?: AbortSignal }): Promise<void>;
}

/** How long what a process wrote is waited for after its end, ms: children that outlive it keep its output open. */
const DRAIN_MS = 200;

/** Keeps a process running: one that ends is started again, after a wait that grows while it keeps ending. */
export function createSupervisedProcess(spec: ProcessSpec, deps: SupervisionDeps): SupervisedProcess {
  const { clock } = deps;
  const backOff = deps.backOff ?? BACK_OFF;
  const stopping = new AbortController();
  let child: ChildProcess | undefined;
  let ref: ProcessRef | undefined;
  let closed: Promise<void> = Promise.resolve();
  let starts = 0;
  let waitMs: number | undefined;

  function launch(): void {
    const startedAt = clock.monotonic();
    // A group of its own: Ctrl-C in a terminal goes to the supervisor alone, which ends the processes in their order.
    const started = spawn(process.execPath, spec.args, {
      env: spec.env,
      cwd: spec.cwd,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child = started;
    starts += 1;
    for (const stream of [started.stdout, started.stderr]) readLines(stream, (line) => deps.onLine(line, started.pid));
    if (started.pid !== undefined) {
      ref = processRef(started.pid) ?? { pid: started.pid };
      deps.onStart(ref);
    }
    closed = new Promise((resolve) => {
      let done = false;
      const onEnd = (code: number | null, signal: NodeJS.Signals | null) => {
        if (done) return;
        done = true;
        if (!stopping.signal.aborted) {
          waitMs = nextWait(waitMs, clock.monotonic() - startedAt, backOff);
          deps.onExit({ pid: started.pid, code: code ?? undefined, signal: signal ?? undefined, waitMs });
          clock.sleep(waitMs, stopping.signal).then(launch, () => undefined);
        }
        resolve();
      };
      started.on('exit', (code, signal) => {
        ref = undefined;
        const drained = setTimeout(onEnd, DRAIN_MS, code, signal);
        started.on('close', () => {
          clearTimeout(drained);
          onEnd(code, signal);
        });
      });
      // A program that can't be started at all emits no exit.
      started.on('error', () => onEnd(null, null));
    });
  }

  return {
    role: spec.role,
    current: () => ref,
    restarts: () => Math.max(0, starts - 1),
    start() {
      if (child === undefined) launch();
    },
    async stop(options) {
      stopping.abort();
      if (ref !== undefined) await stopProcess(ref, options);
      await closed;
    },
  };
}

/** A line longer than this is cut: a process that writes without line ends must not fill the supervisor's memory. */
const LONGEST_LINE = 64_000;

function readLines(stream: NodeJS.ReadableStream | null, onLine: (line: string) => void): void {
  let rest = '';
  stream?.setEncoding('utf8');
  stream?.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > LONGEST_LINE) {
      lines.push(rest.slice(0, LONGEST_LINE));
      rest = '';
    }
    for (const line of lines) if (line !== '') onLine(line);
  });
  stream?.on('end', () => {
    if (rest !== '') onLine(rest);
  });
}
