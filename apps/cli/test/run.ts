import { Writable } from 'node:stream';
import { runCli } from '../src/program.js';

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
  /** stdout as JSON. */
  json(): unknown;
}

/** Runs a command line in this process. */
export async function run(
  args: string[],
  options: { url?: string; cwd?: string; env?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<Ran> {
  const text = { stdout: '', stderr: '' };
  const into = (name: 'stdout' | 'stderr') =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        text[name] += chunk.toString();
        done();
      },
    });
  const code = await runCli(args, {
    stdout: into('stdout'),
    stderr: into('stderr'),
    env: { ...(options.url === undefined ? {} : { SLUICE_URL: options.url }), ...options.env },
    cwd: options.cwd ?? '/',
    signal: options.signal ?? new AbortController().signal,
    releaseSignals: () => undefined,
  });
  return { code, ...text, json: () => JSON.parse(text.stdout) as unknown };
}
