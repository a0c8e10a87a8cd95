import { setTimeout as sleep } from 'node:timers/promises';
import type { VerifyJson } from '../support/sluice.js';
import { compareWithDisk } from './compare.js';
import { explainDocument } from './explain.js';
import { createFaults } from './faults.js';
import { createChangeWatch } from './observe.js';
import { AT_STEPS } from './process-faults.js';
import { createRandom } from './random.js';
import { type ReaderCounts, startReaders } from './readers.js';
import { waitFor } from './wait.js';
import { createWorkload } from './workload.js';
import { createWorld, GRACE_MS } from './world.js';

export interface ChaosOptions {
  seed: number;
  /** How long operations and faults go on, ms; at least one round of the chosen faults. */
  durationMs: number;
  /** Faults by name; default all. Each round has each of them once, in another order. */
  faults?: readonly string[];
  /** How long a service or the root stays away, and how long Redis stays unreachable, ms. */
  awayMs: number;
  longAwayMs: number;
  burst: number;
  flood: number;
  stepsATurn: { short: number; long: number };
  pauseMs: [number, number];
  /** Waits, at the end, until what a killed worker left is gone as well: up to two rounds of the audit. */
  untilSwept: boolean;
  say(line: string): void;
}

export interface ChaosReport {
  seed: number;
  seconds: number;
  operations: Record<string, number>;
  /** By name, and by what exactly was done. */
  faults: Record<string, number>;
  /** Faults that this machine or this user does not allow. */
  impossible: string[];
  details: Record<string, number>;
  readers: ReaderCounts;
  excusedSeconds: number;
  /** Documents over which workers died so often that they were left out; tried again at the end. */
  deadLetters: string[];
  drainSeconds: number;
  verify: VerifyJson;
  differences: string[];
}

const READERS = 3;
/** How long the queue may take to drain at the end, s: thousands of files may still wait. */
const DRAIN_S = 1_800;

/** One run: seed the folder, break things while it changes and is read, repair everything, drain, compare three ways. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { say } = options;
  const random = createRandom(options.seed);
  const world = await createWorld();
  const changes = createChangeWatch(world.operator);
  try {
    const workload = createWorkload({
      folder: world.folder,
      random,
      changes,
      burst: options.burst,
      pauseMs: options.pauseMs,
    });
    /** What the store holds of a document in which a reader missed something. */
    function explainGap(name: string): void {
      const document = [...workload.steady, ...workload.metas, ...workload.secrets].find((one) => one.name === name);
      explainDocument(world, `inbox/${document?.path ?? name}`).then(
        (text) => say(`    store at the first gap of ${name}: ${text}`),
        (cause: unknown) => say(`    store at the first gap of ${name}: ${String(cause)}`),
      );
    }
    workload.seed();
    await world.sluice.settle();
    await waitFor(
      () => [...workload.steady, ...workload.secrets].every((one) => !one.replacing),
      60_000,
      'the seed is committed',
    );
    const readers = startReaders({
      readers: READERS,
      api: world.reader,
      workload,
      excuses: world.excuses,
      pauseMs: 20,
      onGap: explainGap,
    });
    workload.start();

    const began = performance.now();
    const { awayMs, longAwayMs, flood, stepsATurn } = options;
    const { faults, impossible } = createFaults({
      ...{ world, workload, awayMs, longAwayMs, flood, stepsATurn },
      random: createRandom(options.seed + 1),
    });
    const names = options.faults ?? Object.keys(faults);
    const counts = new Map<string, number>(names.map((name) => [name, 0]));
    const details = new Map<string, number>();
    for (let round = 0; round === 0 || performance.now() - began < options.durationMs; round += 1) {
      for (const name of random.shuffle(names)) {
        if (round > 0 && performance.now() - began >= options.durationMs) break;
        const at = performance.now();
        const done = await faults[name]?.();
        const what = done === undefined ? [] : [done].flat();
        say(
          `${((at - began) / 1000).toFixed(1)} s  ${name}: ${what.join(', ') || 'did not come about'} (${((performance.now() - at) / 1000).toFixed(1)} s)  ` +
            `${readers.counts.polls} polls, ${problemsOf(readers.counts)}`,
        );
        counts.set(name, (counts.get(name) ?? 0) + what.length);
        for (const detail of what) details.set(detail, (details.get(detail) ?? 0) + 1);
        await sleep(random.int(200, 1_500));
      }
    }
    await sleep(Math.max(0, options.durationMs - (performance.now() - began)));
    await waitFor(() => workload.kinds.every((kind) => workload.counts.has(kind)), 60_000, 'each operation came about');
    await workload.stop();

    const drainBegan = performance.now();
    await waitFor(world.operator.isReady, 60_000, 'the instance is ready');
    await world.sluice.settle(DRAIN_S);
    const deadLetters = await retryDeadLetters(world.sluice);
    const drainSeconds = (performance.now() - drainBegan) / 1000;
    let verify = await world.sluice.verify();
    const differences = await compareWithDisk(world.folder, world.operator);
    await readers.stop();
    if (options.untilSwept && verify.differences === 0) verify = await verifyAfterGrace(world.sluice, verify, say);
    return {
      seed: options.seed,
      seconds: (performance.now() - began) / 1000,
      operations: Object.fromEntries(workload.kinds.map((kind) => [kind, workload.counts.get(kind) ?? 0])),
      faults: Object.fromEntries(counts),
      impossible,
      details: Object.fromEntries([...details].sort()),
      readers: readers.counts,
      excusedSeconds: world.excuses.totalMs() / 1000,
      deadLetters,
      drainSeconds,
      verify,
      differences,
    };
  } finally {
    await changes.stop();
    await world.close();
  }
}

type Instance = Awaited<ReturnType<typeof createWorld>>['sluice'];

/** As an operator would: documents that were left out for want of a living worker are tried again. Of what else failed, the comparison tells. */
async function retryDeadLetters(sluice: Instance): Promise<string[]> {
  const { dead_letters } = await sluice.json<{ dead_letters: { doc_id: string; code: string; message: string }[] }>(
    'dlq',
    'list',
  );
  const left = dead_letters.filter(({ code, message }) => code === 'internal' && /a worker died \d+ times/.test(message));
  if (left.length > 0) {
    await sluice.cli('dlq', 'retry', ...left.map(({ doc_id }) => doc_id));
    await sluice.settle(DRAIN_S);
  }
  return left.map(({ doc_id, code }) => `${doc_id} (${code})`);
}

/** What waits for its grace goes; what a killed worker left behind is found by the audit, which runs every minute and at a worker's start. */
async function verifyAfterGrace(sluice: Instance, first: VerifyJson, say: (line: string) => void): Promise<VerifyJson> {
  let verify = first;
  const deadline = performance.now() + 3 * GRACE_MS + 240_000;
  while (verify.differences === 0 && verify.in_grace > 0 && performance.now() < deadline) {
    await sleep(2_000);
    verify = await sluice.verify();
    say(`  ${verify.in_grace} objects wait for their grace`);
  }
  return verify;
}

function problemsOf(counts: ReaderCounts): string {
  return `${counts.gaps} gaps, ${counts.mixes} mixes, ${counts.stale} stale, ${counts.breaches} breaches, ${counts.excused} excused`;
}

/** The report as lines for a human. */
export function describeReport(report: ChaosReport): string[] {
  const list = (counts: Record<string, number>) =>
    Object.entries(counts)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ');
  const { readers, verify } = report;
  return [
    `chaos: seed ${report.seed}, ${report.seconds.toFixed(0)} s`,
    `  operations   ${list(report.operations)}`,
    `  faults       ${list(report.faults)}`,
    `  in detail    ${list(report.details)}`,
    `  not reached  ${AT_STEPS.filter((what) => report.details[what] === undefined).join(', ') || 'none of the steps'}`,
    ...(report.impossible.length === 0 ? [] : [`  not possible here: ${report.impossible.join(', ')}`]),
    `  readers      ${readers.polls} polls, ${readers.overlapping} overlapping a change, ${readers.gone} for what was gone; ${problemsOf(readers)}`,
    `  excused      in ${report.excusedSeconds.toFixed(0)} s with the API killed or its Weaviate away or slow: ${list(readers.excusedBy) || 'none'}`,
    `  drained in   ${report.drainSeconds.toFixed(0)} s; tried again by hand: ${report.deadLetters.join(', ') || 'none'}`,
    `  verify       ${verify.differences} differences ${JSON.stringify(verify.by_kind)}, ${verify.in_grace} in grace, ${verify.failed_serving_old} failed serving the old`,
    `  disk vs API  ${report.differences.length} differences`,
    ...report.differences.map((difference) => `    ${difference}`),
    ...verify.examples.map((example) => `    ${JSON.stringify(example)}`),
    ...readers.examples.map((example) => `    ${example}`),
  ];
}
