import { SluiceError, toSluiceError } from '@sluice/core';
import type { Workplace } from '../system/workplace.js';

/** One way to get something. */
export interface Step<T> {
  /** The word that forces it, as `package` in SLUICE_REDIS=package. */
  name: string;
  /** What it tries, as a phrase after "next:". */
  label: string;
  /** Yields the thing, or throws with the reason in a few words. */
  attempt(): Promise<T>;
}

export interface ChainOptions<T> {
  /** What is looked for, as `Redis`. */
  subject: string;
  steps: readonly Step<T>[];
  /** Only steps of this name, or `auto` for all in order. */
  forced: string;
  /** The variable that forces, for messages. */
  variable: string;
  /** What to do by hand when nothing worked: one command or a short list. */
  advice: string;
  workplace: Workplace;
}

/**
 * Tries the steps in order and gives the first that works. Each step that fails says why in a line, and what comes next. When
 * none works: `not_ready` with one screen of what was tried and what to do.
 */
export async function firstThatWorks<T>(options: ChainOptions<T>): Promise<T> {
  const { subject, forced, workplace } = options;
  const steps = options.steps.filter((step) => forced === 'auto' || step.name === forced);
  if (steps.length === 0) {
    const words = ['auto', ...new Set(options.steps.map((step) => step.name))].join(', ');
    throw new SluiceError('invalid_configuration', `${options.variable}=${forced} is not one of ${words}`);
  }
  const failures: { label: string; reason: string }[] = [];
  for (const [index, step] of steps.entries()) {
    workplace.signal?.throwIfAborted();
    try {
      return await step.attempt();
    } catch (thrown) {
      if (workplace.signal?.aborted) throw thrown;
      const error = toSluiceError(thrown, 'not_ready');
      if (error.code === 'invalid_configuration') throw error;
      const reason = error.message.split('\n')[0] ?? '';
      failures.push({ label: step.label, reason });
      const next = steps[index + 1];
      workplace.say(`${subject}: ${reason}${next === undefined ? '' : `; next: ${next.label}`}`);
    }
  }
  const tried = failures.map(({ label, reason }) => `  - ${label}: ${reason}`).join('\n');
  throw new SluiceError('not_ready', `${subject} could not be found or installed. Tried:\n${tried}\n${options.advice}`);
}
