import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { compiledUrl } from '@sluice/core';
import type { RunMessage, ThreadMessage, ThreadSettings } from './thread-messages.js';

/** Whatever runs a model beside the main thread: a process of its own, or, in tests of the pool, a worker thread. */
export interface ModelHost {
  postMessage(message: RunMessage): void;
  on(event: 'message', listener: (message: ThreadMessage) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'exit', listener: () => void): unknown;
  /** Ends it, whatever it does; resolves once it is gone. */
  terminate(): Promise<unknown>;
}

/** Starts a process that runs the model. The engine's crash ends that process alone, and its memory goes with it. */
export function startModelProcess(settings: ThreadSettings): ModelHost {
  const child = fork(fileURLToPath(compiledUrl(import.meta.url, './model-process.js')), [JSON.stringify(settings)], {
    serialization: 'advanced',
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  return {
    postMessage(message) {
      // A channel that is closing is followed by the exit, which hands the texts to another process.
      if (child.connected) child.send(message, () => {});
    },
    on(event: 'message' | 'error' | 'exit', listener: (...values: never[]) => void) {
      return child.on(event, listener as (...values: unknown[]) => void);
    },
    async terminate() {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}
