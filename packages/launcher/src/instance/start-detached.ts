import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ConfigFlags, loadConfig } from '@sluice/config';
import { compiledUrl, type ErrorCode } from '@sluice/core';
import type { Environment } from '../system/workplace.js';
import type { DetachedMessage } from './detached-main.js';

interface DetachedOptions {
  flags: ConfigFlags;
  env: Environment;
  cwd: string;
  /** Lines for a human, until it is ready. */
  write(line: string): void;
  signal?: AbortSignal;
}

type DetachedResult =
  | { outcome: 'ready'; api: string; pid: number }
  /** `error` is what ended it, where it could say so. */
  | { outcome: 'failed'; code: number; error?: { code: ErrorCode; message: string } };

/**
 * Starts an instance that outlives this process (`sluice up --detach`), and waits until it is ready or has failed. Its lines go to
 * `<data folder>/log/supervisor.ndjson` as well; what ends the supervisor itself to `supervisor.crash.log` of the last start.
 *
 * Error: `invalid_configuration`.
 */
export async function startDetached(options: DetachedOptions): Promise<DetachedResult> {
  const { flags, env, cwd } = options;
  const { logFolder } = loadConfig({ flags, env, cwd }).runtime;
  mkdirSync(logFolder, { recursive: true });
  const crashes = openSync(join(logFolder, 'supervisor.crash.log'), 'w');
  const program = fileURLToPath(compiledUrl(import.meta.url, './detached-main.js'));
  // It outlives the npx that asked for it.
  const { npm_lifecycle_event: _npx, ...own } = env;
  const child = spawn(process.execPath, ['--enable-source-maps', program], {
    cwd,
    env: own,
    detached: true,
    stdio: ['ignore', 'ignore', crashes, 'ipc'],
  });
  closeSync(crashes);
  const onAbort = () => child.kill('SIGTERM');
  options.signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await new Promise<DetachedResult>((resolve, reject) => {
      child.on('error', reject);
      child.on('exit', (code) => resolve({ outcome: 'failed', code: code ?? 1 }));
      child.on('message', (message: DetachedMessage) => {
        if (message.kind === 'line') options.write(message.line);
        else if (message.kind === 'ready') resolve({ outcome: 'ready', api: message.api, pid: message.pid });
        else resolve({ outcome: 'failed', code: message.code, ...(message.error === undefined ? {} : { error: message.error }) });
      });
      child.send({ flags, env: own, cwd, logFolder });
    });
  } finally {
    options.signal?.removeEventListener('abort', onAbort);
    if (child.connected) child.disconnect();
    child.unref();
  }
}
