import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { until } from '@sluice/testkit';

export interface WorkerProcess {
  child: ChildProcess;
  lines: string[];
  says(line: string): Promise<void>;
  /** Sends a signal and waits for the end; the exit code, or null when it was killed. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/**
 * Starts worker-process.js: compiled code, so build the package first.
 *
 * @param lockMs how long it may be silent before it loses its jobs
 */
export async function startWorkerProcess(
  url: string,
  namespace: string,
  mode: 'quick' | 'deaf' | 'failing' | 'frozen' | 'spinning',
  lockMs = 2_000,
): Promise<WorkerProcess> {
  const script = fileURLToPath(new URL('./worker-process.js', import.meta.url));
  const child = spawn(process.execPath, [script, url, namespace, mode, String(lockMs)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  child.stdout.setEncoding('utf8').on('data', (data: string) => lines.push(...data.split('\n').filter(Boolean)));
  const says = async (line: string) => {
    await until(() => lines.includes(line));
  };
  await says('ready');
  return {
    child,
    lines,
    says,
    async end(signal) {
      const exit = once(child, 'exit');
      child.kill(signal);
      const [code] = await exit;
      return code;
    },
  };
}
