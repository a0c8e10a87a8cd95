import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { STEPS, type Step } from '@sluice/ingestion';
import { type Faults, type FaultTools, sendSignal } from './fault.js';
import { waitFor } from './wait.js';
import { LEAD_MS, LOCK_MS, STALLED_MS } from './world.js';

/** The steps of the pipeline; a job is acknowledged between its last and the sweep. */
const FAULT_STEPS = STEPS.flatMap((step): (Step | 'acknowledge')[] => (step === 'sweep' ? ['acknowledge', step] : [step]));
type FaultStep = (typeof FAULT_STEPS)[number];

/** Where a worker that wakes up late could do harm. */
const STOP_STEPS = ['base', 'parsed', 'inserted', 'commit', 'committed', 'delete'] as const satisfies Step[];

const STOPS_A_TURN = 2;

/** Everything that the faults at a step do once each of them had its turn. */
export const AT_STEPS: readonly string[] = [
  ...(['worker', 'watcher', 'api'] as const).flatMap((role) => FAULT_STEPS.map((step) => killedAt(role, step))),
  ...STOP_STEPS.map(stoppedAt),
];

function killedAt(role: 'worker' | 'watcher' | 'api', step: FaultStep): string {
  return `${role} killed at ${step}`;
}

function stoppedAt(step: Step): string {
  return `stopped at ${step}, continued after its lock was lost`;
}

/** Processes killed or stopped, anywhere or at a step. */
export function createProcessFaults({ world, workload, random, kill, stepsATurn }: FaultTools): Faults {
  const stopMs = LOCK_MS + STALLED_MS + 2_000;

  /** Lays a file that makes the next worker which reaches the step act upon itself, or upon another process. */
  async function atStep(step: FaultStep, action: string): Promise<boolean> {
    const file = join(world.faultsFolder, step);
    await writeFile(`${file}.new`, action);
    await rename(`${file}.new`, file);
    try {
      await waitFor(() => !existsSync(file), 15_000, `a worker reaches ${step}`, 20);
      return true;
    } catch {
      await rm(file, { force: true });
      return false;
    }
  }

  /** The next steps in their order, of which each role has its own turn; the seed says where it begins. */
  function createTurns(steps: number) {
    let at = random.int(0, FAULT_STEPS.length - 1);
    return () => Array.from({ length: steps }, () => FAULT_STEPS[at++ % FAULT_STEPS.length] ?? 'commit');
  }

  async function killAtSteps(role: 'worker' | 'watcher' | 'api', steps: readonly FaultStep[]): Promise<string[] | undefined> {
    const done: string[] = [];
    for (const step of steps) {
      // The worker kills itself, whichever of them comes first; the others are killed by the worker at that very moment.
      const how = (pid: number) => atStep(step, role === 'worker' ? 'kill' : `kill ${pid}`);
      if (await kill(role, how)) done.push(killedAt(role, step));
    }
    return done.length > 0 ? done : undefined;
  }

  async function stopWorker(pid: number, what: string): Promise<string> {
    await sleep(stopMs);
    sendSignal(pid, 'SIGCONT');
    return what;
  }

  async function stopAtStep(step: (typeof STOP_STEPS)[number]): Promise<string | undefined> {
    if (!(await atStep(step, 'stop'))) return undefined;
    for (let tries = 0; tries < 50; tries += 1) {
      for (const pid of await world.pidsOf('worker')) if (await isStopped(pid)) return stopWorker(pid, stoppedAt(step));
      await sleep(20);
    }
    return undefined;
  }

  async function killed(role: 'worker' | 'watcher' | 'api'): Promise<string | undefined> {
    return (await kill(role)) ? `kill -9 of the ${role}` : undefined;
  }

  const turns = {
    worker: createTurns(stepsATurn.short),
    watcher: createTurns(stepsATurn.short),
    api: createTurns(stepsATurn.long),
  };
  let stopStep = random.int(0, STOP_STEPS.length - 1);
  return {
    'worker killed': () => killed('worker'),
    'watcher killed': () => killed('watcher'),
    'api killed': () => killed('api'),
    'worker killed at a step': () => killAtSteps('worker', turns.worker()),
    'watcher killed at a step': () => killAtSteps('watcher', turns.watcher()),
    'api killed at a step': () => killAtSteps('api', turns.api()),
    async 'worker stopped at a step'() {
      const done: string[] = [];
      for (let turn = 0; turn < STOPS_A_TURN; turn += 1) {
        const what = await stopAtStep(STOP_STEPS[stopStep++ % STOP_STEPS.length] ?? 'commit');
        if (what !== undefined) done.push(what);
      }
      return done.length > 0 ? done : undefined;
    },
    async 'two watchers'() {
      const second = await world.startWatcher();
      try {
        const [first] = await world.pidsOf('watcher');
        if (first === undefined || !sendSignal(first, 'SIGSTOP')) return undefined;
        try {
          // What is written from now on only the second one can report.
          const before = new Map(workload.steady.map((document) => [document, document.version]));
          await sleep(LEAD_MS);
          const isSeen = () => [...before].some(([document, version]) => document.committed > version);
          await waitFor(isSeen, 120_000, 'the second watcher reports a change');
        } finally {
          sendSignal(first, 'SIGCONT');
        }
        await sleep(3_000);
      } finally {
        await second.stop();
      }
      return 'a second watcher took over from a stopped one, which then woke up';
    },
    async 'worker stopped'() {
      const pid = random.pick(await world.pidsOf('worker'));
      return sendSignal(pid, 'SIGSTOP') ? stopWorker(pid, 'stopped for longer than its lock') : undefined;
    },
  };
}

async function isStopped(pid: number): Promise<boolean> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'state=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return stdout.trim().startsWith('T');
}
