import { type ChildProcess, fork } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stdout } from 'node:process';
import { parseArgs } from 'node:util';
import { compiledUrl } from '@sluice/core';
import type { FuzzInput, FuzzOutcome } from './fuzz-child.js';
import { type FuzzSeed, fuzzSeeds } from './fuzz-seeds.js';
import { createRandom, mutate, mutateParts } from './mutate.js';

/** One input may take this long, in a process with this much memory. */
const INPUT_MS = 20_000;
const MEMORY_MB = 1024;
/** Slower ones are kept too, to be looked at. */
const SLOW_MS = 5_000;
/** All that the process may hold: what lies outside the heap of V8 too. */
const RESIDENT_MB = MEMORY_MB + 512;
/** Inputs a format at least, however little time is given. */
const LEAST = 300;

interface Tally {
  inputs: number;
  outcomes: Map<string, number>;
  faults: number;
  slowestMs: number;
  peakMb: number;
}

interface Judge {
  judge(input: FuzzInput): Promise<FuzzOutcome>;
  stop(): void;
}

/** Parses inputs one after the other in a child; a child that dies or hangs is replaced. */
function createJudge(): Judge {
  const path = compiledUrl(import.meta.url, './fuzz-child.js').pathname;
  let child: ChildProcess | undefined;
  let settle: ((outcome: FuzzOutcome) => void) | undefined;

  function start(): ChildProcess {
    const started = fork(path, { execArgv: [`--max-old-space-size=${MEMORY_MB}`], stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    started.on('message', (outcome: FuzzOutcome) => {
      const isOver = outcome.rssMb > RESIDENT_MB;
      // Its next input gets a process of its own: what this one holds is not that one's fault.
      if (isOver) stop();
      settle?.(isOver ? { ...outcome, outcome: `FAULT: memory (${Math.round(outcome.rssMb)} MB)` } : outcome);
    });
    started.on('error', () => undefined);
    started.on('exit', (code, signal) => {
      if (child === started) child = undefined;
      // V8 ends the process when its memory is full: what the worker reports as parse_memory.
      const isMemory = signal === 'SIGTRAP' || signal === 'SIGABRT' || code === 133 || code === 134;
      settle?.({ outcome: isMemory ? 'parse_memory (process ended)' : `FAULT: the process died (${signal ?? code})`, rssMb: 0 });
    });
    return started;
  }

  function stop(): void {
    const stopped = child;
    child = undefined;
    stopped?.removeAllListeners('exit');
    stopped?.kill('SIGKILL');
  }

  return {
    stop,
    judge: (input) =>
      new Promise((resolve) => {
        child ??= start();
        const timer = setTimeout(() => {
          stop();
          settle?.({ outcome: 'FAULT: hangs', rssMb: 0 });
        }, INPUT_MS);
        settle = (outcome) => {
          clearTimeout(timer);
          settle = undefined;
          resolve(outcome);
        };
        child.send(input);
      }),
  };
}

/**
 * Parses damaged inputs of every format for some minutes, at least 300 a format, and prints what came of them. Inputs that crash, hang,
 * break a law or leave junk, and slow ones, are kept.
 *
 * Arguments: --minutes N (1), --seed N (time), --corpus FOLDER (more seeds, by their extension), --keep FOLDER (./fuzz-faults)
 */
export async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string' },
      seed: { type: 'string' },
      corpus: { type: 'string' },
      keep: { type: 'string' },
      only: { type: 'string' },
    },
  });
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  const until = Date.now() + Number(values.minutes ?? 1) * 60_000;
  const random = createRandom(seed);
  const seeds = [...fuzzSeeds(), ...(values.corpus === undefined ? [] : await readCorpus(values.corpus))].filter(
    (candidate) => values.only === undefined || candidate.format === values.only,
  );
  const formats = [...new Set(seeds.map((candidate) => candidate.format))];
  const tallies = new Map<string, Tally>(
    formats.map((format) => [format, { inputs: 0, outcomes: new Map(), faults: 0, slowestMs: 0, peakMb: 0 }]),
  );
  const { judge, stop } = createJudge();
  stdout.write(`seed ${seed}\n`);
  try {
    for (let round = 0; round < LEAST || Date.now() < until; round++)
      for (const format of formats) {
        const own = seeds.filter((candidate) => candidate.format === format);
        const chosen = own[Math.floor(random() * own.length)];
        const tally = tallies.get(format);
        if (chosen === undefined || tally === undefined) continue;
        const inParts = chosen.isPackage && random() < 0.7;
        const bytes = inParts ? await mutateParts(chosen.bytes, random) : mutate(chosen.bytes, random);
        const started = performance.now();
        const { outcome, rssMb } = await judge({ name: chosen.name, bytes: Buffer.from(bytes).toString('base64') });
        const took = performance.now() - started;
        tally.inputs++;
        tally.slowestMs = Math.max(tally.slowestMs, took);
        tally.peakMb = Math.max(tally.peakMb, rssMb);
        const key = outcome.startsWith('FAULT') ? 'FAULT' : outcome;
        tally.outcomes.set(key, (tally.outcomes.get(key) ?? 0) + 1);
        if (key === 'FAULT') tally.faults++;
        if (key === 'FAULT' || took > SLOW_MS) {
          await keepInput(values.keep ?? 'fuzz-faults', `${seed}-${round}-${chosen.name}`, bytes);
          stdout.write(`${chosen.name} round ${round}: ${outcome}, ${Math.round(took)} ms\n`);
        }
      }
  } finally {
    stop();
  }
  return report(tallies);
}

async function keepInput(folder: string, name: string, bytes: Uint8Array): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, name), bytes);
}

async function readCorpus(folder: string): Promise<FuzzSeed[]> {
  const found: FuzzSeed[] = [];
  for (const name of await readdir(folder)) {
    const extension = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
    const format = { txt: 'text', md: 'markdown', htm: 'html' }[extension] ?? extension;
    if (!/^(?:text|markdown|html|pdf|docx|pptx|xlsx|csv|eml|json)$/.test(format)) continue;
    const bytes = new Uint8Array(await readFile(join(folder, name)));
    const isZip = bytes[0] === 0x50 && bytes[1] === 0x4b;
    found.push({ format, name, bytes, isPackage: isZip });
  }
  return found;
}

function report(tallies: ReadonlyMap<string, Tally>): number {
  let faults = 0;
  stdout.write('\n| format | inputs | outcomes | faults | slowest ms | peak memory MB |\n|---|---|---|---|---|---|\n');
  for (const [format, tally] of tallies) {
    faults += tally.faults;
    const outcomes = [...tally.outcomes].sort((a, b) => b[1] - a[1]).map(([outcome, count]) => `${outcome} ${count}`);
    stdout.write(
      `| ${format} | ${tally.inputs} | ${outcomes.join(', ')} | ${tally.faults} | ${Math.round(tally.slowestMs)} | ${Math.round(tally.peakMb)} |\n`,
    );
  }
  stdout.write(`\n${faults} faults\n`);
  return faults === 0 ? 0 : 1;
}
