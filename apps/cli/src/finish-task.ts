import { type components, dataOf } from '@sluice/client';
import { SluiceError } from '@sluice/core';
import type { Context } from './context.js';
import type { Api } from './responses.js';
import { waitFor } from './wait.js';

type Result = NonNullable<components['schemas']['Task']['result']>;

/** Waits for a task that was started, and gives its result. Errors: what the task failed with. */
export async function finishTask(context: Pick<Context, 'signal'>, api: Api, id: string): Promise<Result> {
  const result = await waitFor(context, undefined, async () => {
    const { state, result: found, problem } = dataOf(await api.GET('/ops/api/tasks/{id}', { params: { path: { id } } }));
    if (state === 'failed') throw new SluiceError(problem?.code ?? 'internal', problem?.detail ?? 'The task failed.');
    return found;
  });
  if (result === undefined) throw new SluiceError('internal', 'The task ended without a result.');
  return result;
}
