/** npm run soak: the same load for a long time. Memory and the time of searches must not grow, and the store must equal the disk. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { stderr, stdout } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { BenchServices, Row } from './bench.js';
import { type BenchInstance, withInstance } from './instance.js';
import { memoryOfTree } from './memory.js';
import { environment, table } from './report.js';
import { withServices } from './services.js';
import { quantile, round, trendOf } from './statistics.js';
import { paragraph, seeded } from './texts.js';

const USAGE = 'usage: npm run soak -- [--minutes N]   (default 30; at least 0.2)\n';

/** Files that the folder holds all the time. */
const FILES = 200;
/** Points of a trend, whatever the duration. */
const WINDOWS = 30;
/** Share of the run before the trend begins: caches and heaps fill meanwhile. */
const WARM_UP = 1 / 3;
/** Growth over the measured part that counts as none, when it is also within the noise. */
const TOLERATED_GROWTH = 0.1;
/** Changes and searches of a turn; one turn begins every second. */
const TURN = { edits: 2, replaced: 1, searches: 4, everyMs: 1000 };

const say = (line: string) => void stderr.write(`${line}\n`);

interface Samples {
  /** p95 of a window's searches, ms. */
  searches: number[];
  /** MB by role, child processes included; the supervisor's children are the other roles, so it is left out. */
  memory: Map<string, number[]>;
  changes: number;
}

/** Changes files and searches until the time is over; one sample of everything a window. */
async function load(instance: BenchInstance, minutes: number): Promise<Samples> {
  const random = seeded(31);
  const pick = () => Math.floor(random() * FILES);
  const samples: Samples = { searches: [], memory: new Map(), changes: 0 };
  const windowMs = (minutes * 60_000) / WINDOWS;
  const began = performance.now();
  for (let window = 1; window <= WINDOWS; window++) {
    const times: number[] = [];
    do {
      const turn = performance.now();
      for (let n = 0; n < TURN.edits; n++) await instance.write(`soak/${pick()}.txt`, paragraph(random));
      for (let n = 0; n < TURN.replaced; n++) {
        const path = `soak/${pick()}.txt`;
        await rm(join(instance.folder, path), { force: true });
        await instance.write(path, paragraph(random, 2000));
      }
      samples.changes += TURN.edits + TURN.replaced;
      for (let n = 0; n < TURN.searches; n++) {
        const query = paragraph(random, 60);
        const asked = performance.now();
        await instance.post('/v1/search', { query, limit: 10 });
        times.push(performance.now() - asked);
      }
      await sleep(Math.max(0, TURN.everyMs - (performance.now() - turn)));
    } while (performance.now() - began < window * windowMs);
    samples.searches.push(quantile(times, 0.95));
    for (const { role, pid } of (await instance.status()).processes) {
      if (role === 'supervisor') continue;
      const memory = await memoryOfTree(pid);
      if (memory > 0) samples.memory.set(role, [...(samples.memory.get(role) ?? []), memory]);
    }
    if (window % 5 === 0) say(`${window} of ${WINDOWS}: search p95 ${round(samples.searches.at(-1) ?? Number.NaN)} ms`);
  }
  return samples;
}

/** A trend over what came after the warm-up, and whether it grew by more than its noise and what is tolerated. */
function trendRow(what: string, values: readonly number[]): { row: Row; grew: boolean } {
  const measured = values.slice(Math.floor(values.length * WARM_UP));
  const { growth, noise } = trendOf(measured);
  const percent = (share: number) => `${round(100 * share, 1)} %`;
  const row = {
    what,
    first: round(measured[0] ?? Number.NaN, 1),
    last: round(measured.at(-1) ?? Number.NaN, 1),
    growth: percent(growth),
    noise: percent(noise),
  };
  return { row, grew: growth > Math.max(noise, TOLERATED_GROWTH) };
}

async function soak(services: BenchServices, minutes: number): Promise<boolean> {
  return withInstance(services, async (instance) => {
    const random = seeded(30);
    await instance.moveIn(
      'soak',
      Array.from({ length: FILES }, () => paragraph(random)),
    );
    await instance.settle();
    const { searches, memory, changes } = await load(instance, minutes);
    await instance.settle();
    const { differences } = await instance.json<{ differences: number }>('verify');
    const trends = [
      trendRow('search, p95 ms', searches),
      ...[...memory].map(([role, values]) => trendRow(`memory of ${role}, MB`, values)),
    ];
    stdout.write(
      `${table(trends.map(({ row }) => row))}\n${changes} changes in ${minutes} minutes; differences: ${differences}\n`,
    );
    const { cpu, cores, commit, load: average } = environment();
    stdout.write(`${cpu}, ${cores} cores, commit ${commit}, load average ${average.join(' ')}\n`);
    const grown = trends.filter(({ grew }) => grew).map(({ row }) => row.what);
    if (grown.length > 0) stdout.write(`grew beyond the noise: ${grown.join('; ')}\n`);
    return differences === 0 && grown.length === 0;
  });
}

function readMinutes(args: string[]): number {
  const { values } = parseArgs({ args, options: { minutes: { type: 'string', default: '30' } } });
  const minutes = Number(values.minutes);
  if (!(minutes >= 0.2)) throw new Error('--minutes takes a number of at least 0.2');
  return minutes;
}

let minutes: number | undefined;
try {
  minutes = readMinutes(process.argv.slice(2));
} catch (error) {
  say(`${error instanceof Error ? error.message : error}\n${USAGE}`);
  process.exitCode = 2;
}
if (minutes !== undefined && !(await withServices(say, (services) => soak(services, minutes)))) process.exitCode = 1;
