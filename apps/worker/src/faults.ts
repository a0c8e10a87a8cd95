import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Step } from '@sluice/ingestion';

/** Steps of the writer and the sweep, and the moment between the end of a job's work and its acknowledgement. */
export type FaultStep = Step | 'acknowledge';

/**
 * Faults on demand, for the chaos harness: a file named after a step in the given folder makes this process kill or stop itself when it
 * reaches that step. The file is taken away first, so each is acted upon once. Without a folder there is no hook at all.
 *
 * Contents: `kill` (SIGKILL) or `stop` (SIGSTOP; somebody else has to send SIGCONT), or `kill <pid>`: another process is killed.
 */
export function createFaults(folder: string | undefined): ((step: FaultStep) => void) | undefined {
  if (folder === undefined) return undefined;
  return (step) => {
    const file = join(folder, step);
    if (!existsSync(file)) return;
    const [action, pid] = readFileSync(file, 'utf8').trim().split(' ');
    rmSync(file, { force: true });
    process.kill(pid === undefined ? process.pid : Number(pid), action === 'stop' ? 'SIGSTOP' : 'SIGKILL');
  };
}
