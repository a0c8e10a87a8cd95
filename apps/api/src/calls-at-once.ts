import { SluiceError } from '@sluice/core';
import type { FastifyReply } from 'fastify';

/** Counts the calls of each caller that run. One too many is refused: `rate_limited`. */
export function createCallsAtOnce(most: number): (caller: string, reply: Pick<FastifyReply, 'raw'>) => void {
  const running = new Map<string, number>();
  return (caller, { raw }) => {
    const before = running.get(caller) ?? 0;
    if (before >= most) {
      throw new SluiceError('rate_limited', `More than ${most} calls at once: wait for the answers of earlier ones.`, {
        details: { retry_after_s: 1 },
      });
    }
    running.set(caller, before + 1);
    // Comes once, whether the call was answered or its client has gone.
    raw.once('close', () => {
      const left = (running.get(caller) ?? 1) - 1;
      if (left === 0) running.delete(caller);
      else running.set(caller, left);
    });
  };
}

/** Aborted when the client of a call goes before it is answered: nobody waits for the work any more. */
export function signalOfClient({ raw }: Pick<FastifyReply, 'raw'>): AbortSignal {
  const gone = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort(new SluiceError('not_ready', 'The client of this call has gone.'));
  });
  return gone.signal;
}
