// The program of `sluice up --detach`: an instance without a terminal. Its parent sends what to run, and goes once it is ready.
import type { ConfigFlags } from '@sluice/config';
import type { ErrorCode } from '@sluice/core';
import type { Environment } from '../system/workplace.js';
import { runInstance } from './run-instance.js';

/** What the parent sends. */
export interface DetachedRequest {
  flags: ConfigFlags;
  env: Environment;
  cwd: string;
}

/** What it is told. */
export type DetachedMessage =
  | { kind: 'line'; line: string }
  | { kind: 'ready'; api: string; pid: number }
  | { kind: 'end'; code: number; error?: { code: ErrorCode; message: string } };

function tell(message: DetachedMessage): void {
  // The parent may have gone, which is how it should be after the start.
  if (process.connected) process.send?.(message);
}

process.once('message', (request: DetachedRequest) => {
  let error: { code: ErrorCode; message: string } | undefined;
  void runInstance({
    ...request,
    onError: ({ code, message }) => {
      error = { code, message };
    },
    write(line) {
      process.stdout.write(`${line}\n`);
      tell({ kind: 'line', line });
    },
    onReady: (instance) => tell({ kind: 'ready', api: instance.addresses.api, pid: process.pid }),
  }).then((code) => {
    tell({ kind: 'end', code, ...(error === undefined ? {} : { error }) });
    process.exit(code);
  });
});
