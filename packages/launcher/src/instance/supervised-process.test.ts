import { fileURLToPath } from 'node:url';
import type { Clock } from '@sluice/core';
import { afterEach, describe, expect, it } from 'vitest';
import { isRunning } from '../system/processes.js';
import { BACK_OFF, createSupervisedProcess, nextWait, type SupervisedProcess } from './supervised-process.js';

const app = fileURLToPath(new URL('../../test/fixtures/app.mjs', import.meta.url));
const running: SupervisedProcess[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop({ deadlineMs: 0 })));
});

/** Waits take no time; how long they would have been is kept. */
function hastyClock(): Clock & { waits: number[] } {
  const waits: number[] = [];
  return {
    waits,
    now: () => Date.now(),
    monotonic: () => 0,
    sleep: async (ms, signal) => {
      waits.push(ms);
      signal?.throwIfAborted();
    },
  };
}

function supervise(
  behaviour: Record<string, unknown>,
  clock: Clock,
  on: { exit?: (count: number) => void; line?: (line: string) => void },
) {
  let exits = 0;
  const one = createSupervisedProcess(
    { role: 'worker', args: [app, JSON.stringify({ role: 'worker', ...behaviour })], env: process.env, cwd: process.cwd() },
    {
      clock,
      onLine: (line) => on.line?.(line),
      onStart: () => undefined,
      onExit: () => {
        exits += 1;
        on.exit?.(exits);
      },
    },
  );
  running.push(one);
  one.start();
  return one;
}

describe('a supervised process', () => {
  it('is started again each time it ends, after waits that double', async () => {
    const clock = hastyClock();
    let one: SupervisedProcess | undefined;
    await new Promise<void>((resolve) => {
      one = supervise({ dieAfterMs: 0 }, clock, { exit: (count) => count === 4 && resolve() });
    });
    expect(clock.waits.slice(0, 4)).toEqual([250, 500, 1_000, 2_000]);
    expect(one?.restarts()).toBeGreaterThanOrEqual(3);
  });

  it('is not started again once stopped', async () => {
    const clock = hastyClock();
    let exits = 0;
    let one: SupervisedProcess | undefined;
    await new Promise<void>((resolve) => {
      one = supervise({}, clock, { exit: () => (exits += 1), line: () => resolve() });
    });
    const ref = one?.current();
    await one?.stop({ deadlineMs: 10_000 });
    expect(ref !== undefined && isRunning(ref)).toBe(false);
    expect([exits, one?.restarts(), clock.waits]).toEqual([0, 0, []]);
  });

  it('hands over its output line by line', async () => {
    const lines: string[] = [];
    await new Promise<void>((resolve) => {
      supervise({ lines: ['one', '{"two":2}'] }, hastyClock(), { line: (line) => lines.push(line) === 3 && resolve() });
    });
    expect(lines).toEqual(['up', 'one', '{"two":2}']);
  });

  it('counts a program that cannot be started as one that ended', async () => {
    const clock = hastyClock();
    await new Promise<void>((resolve) => {
      const one = createSupervisedProcess(
        { role: 'worker', args: [], env: {}, cwd: '/nowhere/at/all' },
        { clock, onLine: () => undefined, onStart: () => undefined, onExit: () => resolve() },
      );
      running.push(one);
      one.start();
    });
    expect(clock.waits[0]).toBe(250);
  });
});

describe('nextWait', () => {
  it('doubles from 0.25 s to 10 s, and starts again after a minute of running', () => {
    const waits: number[] = [];
    let wait: number | undefined;
    for (let index = 0; index < 8; index += 1) {
      wait = nextWait(wait, 1_000, BACK_OFF);
      waits.push(wait);
    }
    expect(waits).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
    expect(nextWait(wait, 60_000, BACK_OFF)).toBe(250);
  });
});
