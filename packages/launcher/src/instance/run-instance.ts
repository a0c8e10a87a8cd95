import { mkdir } from 'node:fs/promises';
import { type Config, type ConfigFlags, describeConfig, loadConfig } from '@sluice/config';
import { SluiceError, toSluiceError } from '@sluice/core';
import type { Environment } from '../system/workplace.js';
import { type Instance, startInstance } from './instance.js';
import { planInstance } from './plan.js';
import { readyScreen } from './ready-screen.js';

/** Exit codes of INTERFACES 1 that a run can end with. */
const EXIT = { done: 0, failed: 1, usage: 2, unreachable: 3, interrupted: 130 } as const;

export interface RunOptions {
  flags: ConfigFlags;
  env: Environment;
  cwd: string;
  /** Lines for a human. */
  write(line: string): void;
  /** Called once ready. */
  onReady?(instance: Instance, config: Config): void;
  /** Called with what ended the run, beside the line that is written; not for an interrupted start. */
  onError?(error: SluiceError): void;
}

/**
 * Runs an instance in this process until a signal ends it: the whole of `npm start` and `sluice up`. The first SIGINT, SIGTERM or
 * SIGHUP stops everything in its order, a second one a moment later forces. Yields the exit code; errors are written, not thrown.
 */
export async function runInstance(options: RunOptions): Promise<number> {
  const { write } = options;
  const abort = new AbortController();
  let instance: Instance | undefined;
  let ended: () => void = () => undefined;
  const untilEnded = new Promise<void>((resolve) => {
    ended = resolve;
  });
  const signals = onStopSignals(
    () => {
      if (instance === undefined) {
        write('stopping: the start is given up');
        abort.abort(new SluiceError('not_ready', 'interrupted'));
        return;
      }
      write('stopping; press Ctrl-C again to force');
      instance.stop().then(ended, ended);
    },
    () => {
      write('forced: ending what still runs');
      abort.abort(new SluiceError('not_ready', 'interrupted'));
      instance?.forceStop().then(ended, ended);
    },
  );
  const leaveParent = endWithParent(options.env);
  try {
    const config = loadConfig(options);
    await makeInbox(config, options.flags);
    for (const line of describeConfig(config)) write(line);
    instance = await startInstance({
      plan: planInstance(config, options),
      signal: abort.signal,
      onEvent(event) {
        if (event.kind !== 'ready') write(event.line);
      },
    });
    write(await readyScreen({ config, instance, env: options.env, cwd: options.cwd }));
    options.onReady?.(instance, config);
    if (abort.signal.aborted) await instance.stop();
    else await untilEnded;
    write('stopped; the data stays');
    return EXIT.done;
  } catch (thrown) {
    if (abort.signal.aborted) return EXIT.interrupted;
    const error = toSluiceError(thrown);
    write(error.message);
    options.onError?.(error);
    if (error.code === 'invalid_configuration') return EXIT.usage;
    // Another instance runs on the data folder.
    if (error.details?.pid !== undefined) return EXIT.failed;
    return EXIT.unreachable;
  } finally {
    leaveParent();
    signals.stop();
  }
}

/** `./inbox`, the folder that is watched when nobody names one, is made when it is missing. Others are the user's to make. */
async function makeInbox(config: Config, flags: ConfigFlags): Promise<void> {
  const named = config.file !== undefined || (flags.sources !== undefined && flags.sources.length > 0);
  const inbox = config.sources[0];
  if (!named && config.sources.length === 1 && inbox?.name === 'inbox') await mkdir(inbox.path, { recursive: true });
}

/**
 * Ends this process by SIGTERM when the npm or npx that runs it has gone: who ends npm by its pid, as a script does, means all of it, and
 * npm passes that on to a shell only. A signal that came here ends the watch: a second one would force.
 */
function endWithParent(env: Environment): () => void {
  if (env.npm_lifecycle_event === undefined) return () => undefined;
  const parent = process.ppid;
  const leave = () => clearInterval(timer);
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    leave();
    process.kill(process.pid, 'SIGTERM');
  }, 500);
  timer.unref();
  for (const name of STOP_SIGNALS) process.once(name, leave);
  return () => {
    leave();
    for (const name of STOP_SIGNALS) process.off(name, leave);
  };
}

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** npm passes a Ctrl-C on to a script that the terminal has sent it to already: within this time both are one. */
const SAME_SIGNAL_MS = 500;

function onStopSignals(onFirst: () => void, onSecond: () => void): { stop(): void } {
  let firstAt: number | undefined;
  const handler = () => {
    const now = performance.now();
    if (firstAt === undefined) {
      firstAt = now;
      onFirst();
    } else if (now - firstAt > SAME_SIGNAL_MS) {
      onSecond();
    }
  };
  for (const name of STOP_SIGNALS) process.on(name, handler);
  return {
    stop() {
      for (const name of STOP_SIGNALS) process.off(name, handler);
    },
  };
}
