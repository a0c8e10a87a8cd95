// The program of `sluice up --detach`: an instance without a terminal. Its parent sends what to run, and goes once it is ready.
import { join } from 'node:path';
import type { ConfigFlags } from '@sluice/config';
import type { ErrorCode } from '@sluice/core';
import type { Environment } from '../system/workplace.js';
import { createRotatingLog } from './rotating-log.js';
import { runInstance } from './run-instance.js';

/** What the parent sends. */
export interface DetachedRequest {
  flags: ConfigFlags;
  env: Environment;
  cwd: string;
  /** `<data>/log`. */
  logFolder: string;
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

process.once('message', ({ logFolder, ...request }: DetachedRequest) => {
  const log = createRotatingLog(join(logFolder, 'supervisor.ndjson'));
  let error: { code: ErrorCode; message: string } | undefined;
  void runInstance({
    ...request,
    onError: ({ code, message }) => {
      error = { code, message };
    },
    write(line) {
      log.write(JSON.stringify({ level: 30, time: new Date().toISOString(), role: 'supervisor', msg: line }));
      tell({ kind: 'line', line });
    },
    onReady: (instance) => tell({ kind: 'ready', api: instance.addresses.api, pid: process.pid }),
  }).then((code) => {
    tell({ kind: 'end', code, ...(error === undefined ? {} : { error }) });
    process.exit(code);
  });
});
