import type { Clock } from '@sluice/core';
import type { ReconcileJobs } from '@sluice/queues';

/** How long jobs may wait while none runs before the worker counts as one that consumes nothing. */
const PATIENCE_MS = 15_000;

/**
 * Tells whether jobs are being taken. A worker process that is up proves nothing (it may hang, or hold another queue), so what counts
 * is that no jobs wait, or that some run, or that this has not been so for long. A paused queue is meant to wait.
 */
export function createConsumption({ jobs, clock }: { jobs: Pick<ReconcileJobs, 'counts' | 'isPaused' | 'board'>; clock: Clock }) {
  let stuckSince: number | undefined;
  return async (): Promise<boolean> => {
    const [{ waiting, active }, paused, workers] = await Promise.all([
      jobs.counts(),
      jobs.isPaused(),
      jobs.board.getWorkersCount(),
    ]);
    const waits = waiting > 0 && active === 0 && !paused;
    stuckSince = waits ? (stuckSince ?? clock.monotonic()) : undefined;
    return workers > 0 && (stuckSince === undefined || clock.monotonic() - stuckSince < PATIENCE_MS);
  };
}
