import { randomUUID } from 'node:crypto';
import { type Caller, SluiceError } from '@sluice/core';
import { type Problem, problemOf } from './problems.js';

interface Task<Result> {
  state: 'running' | 'done' | 'failed';
  /** What has been done so far, in a unit of the task's own. */
  progress: number;
  result?: Result;
  problem?: Problem;
}

/** Tasks of one process that run at once; each walks over the whole store. */
const MOST_RUNNING = 4;
/** Finished tasks that are kept for those who ask. */
const MOST_KEPT = 100;

/** Work that takes longer than a call should: it is started, and asked for until it is done. Only who started a task may ask for it. */
export function createTasks<Result>() {
  const tasks = new Map<string, { task: Task<Result>; owner: string }>();

  return {
    /** Error `rate_limited` while too many run. */
    start(caller: Caller, work: (onProgress: (done: number) => void) => Promise<Result>): { task_id: string } {
      const running = [...tasks.values()].filter(({ task }) => task.state === 'running').length;
      if (running >= MOST_RUNNING)
        throw new SluiceError('rate_limited', `${running} tasks are running: wait until one is done.`, {
          details: { retry_after_s: 5 },
        });
      const id = randomUUID();
      const task: Task<Result> = { state: 'running', progress: 0 };
      tasks.set(id, { task, owner: ownerOf(caller) });
      const onProgress = (done: number) => {
        task.progress = done;
      };
      work(onProgress).then(
        (result) => Object.assign(task, { state: 'done', result }),
        (error: unknown) => Object.assign(task, { state: 'failed', problem: problemOf(error, id) }),
      );
      for (const [other, { task: finished }] of tasks) {
        if (tasks.size <= MOST_KEPT) break;
        if (finished.state !== 'running') tasks.delete(other);
      }
      return { task_id: id };
    },
    /** Error `not_found`, also for the task of another caller: its result is made for the clearance of who started it. */
    get(caller: Caller, id: string): Task<Result> {
      const found = tasks.get(id);
      if (found === undefined || found.owner !== ownerOf(caller)) throw new SluiceError('not_found', `No task ${id}.`);
      return found.task;
    },
  };
}

export type Tasks<Result> = ReturnType<typeof createTasks<Result>>;

function ownerOf({ keyId, name, clearance }: Caller): string {
  return keyId ?? `${name} ${clearance}`;
}
