import { expect, it } from 'vitest';
import { describeReport, runChaos } from './chaos/run.js';

/** The short form of `npm run chaos`: a minute of faults of every family; the long form has all of them, again and again. */
const FAULTS = [
  'worker killed at a step',
  'worker killed',
  'redis flushed',
  'worker stopped at a step',
  'root replaced',
  'redis refused',
  'weaviate killed',
  'watcher killed',
  'api killed',
  'redis full',
];

it('stays true through a minute of faults', async () => {
  const report = await runChaos({
    seed: 7,
    durationMs: 0,
    faults: FAULTS,
    awayMs: 2_000,
    longAwayMs: 4_000,
    burst: 40,
    flood: 200,
    stepsATurn: { short: 2, long: 1 },
    pauseMs: [20, 200],
    untilSwept: false,
    say: () => {},
  });
  console.log(describeReport(report).join('\n'));
  expect(report.differences).toEqual([]);
  expect(report.verify).toMatchObject({ differences: 0 });
  expect(report.readers).toMatchObject({ gaps: 0, mixes: 0, stale: 0, breaches: 0, examples: [] });
  expect(report.readers.overlapping).toBeGreaterThan(0);
  for (const [name, count] of Object.entries({ ...report.operations, ...report.faults })) expect(count, name).toBeGreaterThan(0);
}, 600_000);
