import { SluiceError } from '@sluice/core';
import { describe, expect, it } from 'vitest';
import { createWorkplace } from '../system/workplace.js';
import { firstThatWorks, type Step } from './steps.js';

function chain(forced: string) {
  const said: string[] = [];
  const attempted: string[] = [];
  const step = (name: string, outcome: string | SluiceError): Step<string> => ({
    name,
    label: `a ${name}`,
    attempt: async () => {
      attempted.push(name);
      if (outcome instanceof SluiceError) throw outcome;
      return outcome;
    },
  });
  const steps = [
    step('first', new SluiceError('not_ready', 'nothing is installed')),
    step('second', 'found it'),
    step('third', new SluiceError('not_ready', 'no network')),
  ];
  const workplace = createWorkplace({}, (line) => said.push(line));
  const result = firstThatWorks({ subject: 'Redis', steps, forced, variable: 'SLUICE_REDIS', advice: 'Install it.', workplace });
  return { result, said, attempted };
}

describe('firstThatWorks', () => {
  it('gives the first that works, and says why the ones before did not and what came next', async () => {
    const { result, said, attempted } = chain('auto');
    expect(await result).toBe('found it');
    expect(said).toEqual(['Redis: nothing is installed; next: a second']);
    expect(attempted).toEqual(['first', 'second']);
  });

  it('tries a forced step alone, and ends with one screen of what was tried and what to do', async () => {
    const { result, attempted } = chain('third');
    await expect(result).rejects.toMatchObject({
      code: 'not_ready',
      message: 'Redis could not be found or installed. Tried:\n  - a third: no network\nInstall it.',
    });
    expect(attempted).toEqual(['third']);
  });

  it('rejects a word that forces no step, naming those that do', async () => {
    await expect(chain('teleport').result).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: 'SLUICE_REDIS=teleport is not one of auto, first, second, third',
    });
  });
});
