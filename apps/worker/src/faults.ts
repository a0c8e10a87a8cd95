import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Step } from '@sluice/ingestion';

/**
 * Faults on demand, for the chaos harness: a file named after a step in the given folder makes this process kill or stop itself when it
 * reaches that step. The file is taken away first, so each is acted upon once. Without a folder there is no hook at all.
 *
 * Contents: `kill` (SIGKILL) or `stop` (SIGSTOP; somebody else has to send SIGCONT).
 */
export function createFaults(folder: string | undefined): ((step: Step) => void) | undefined {
  if (folder === undefined) return undefined;
  return (step) => {
    const file = join(folder, step);
    if (!existsSync(file)) return;
    const signal = readFileSync(file, 'utf8').trim() === 'stop' ? 'SIGSTOP' : 'SIGKILL';
    rmSync(file, { force: true });
    process.kill(process.pid, signal);
  };
}
