import { expect, it } from 'vitest';
import { describeReport, runChaos } from './run.js';

const minutes = Number(process.env.SLUICE_CHAOS_MINUTES ?? 5);
const seed = Number(process.env.SLUICE_CHAOS_SEED ?? Date.now() % 100_000);

it(
  `stays true for ${minutes} minutes of faults, seed ${seed}`,
  async () => {
    const report = await runChaos({
      seed,
      durationMs: minutes * 60_000,
      awayMs: Number(process.env.SLUICE_CHAOS_AWAY_MS ?? 8_000),
      longAwayMs: 30_000,
      burst: 300,
      flood: 2_000,
      stepsATurn: { short: 6, long: 5 },
      pauseMs: [20, 250],
      untilSwept: true,
      ...(process.env.SLUICE_CHAOS_FAULTS === undefined ? {} : { faults: process.env.SLUICE_CHAOS_FAULTS.split(',') }),
      say: (line) => console.log(line),
    });
    console.log(describeReport(report).join('\n'));
    expect(report.differences).toEqual([]);
    expect(report.verify).toMatchObject({ differences: 0, in_grace: 0 });
    expect(report.readers).toMatchObject({ gaps: 0, mixes: 0, stale: 0, breaches: 0 });
    for (const [name, count] of Object.entries({ ...report.operations, ...report.faults }))
      expect(count, name).toBeGreaterThan(0);
    expect(report.readers.overlapping).toBeGreaterThan(0);
    expect(report.readers.gone).toBeGreaterThan(0);
  },
  minutes * 60_000 + 2_700_000,
);
