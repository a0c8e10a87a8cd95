import { type FaultOptions, type Faults, type FaultTools, sendSignal } from './fault.js';
import { createMachineFaults } from './machine-faults.js';
import { createProcessFaults } from './process-faults.js';
import { createServiceFaults } from './service-faults.js';
import { waitFor } from './wait.js';

/** Faults by name, and those that this machine does not allow. None touches anything but the harness' own processes, services and folders. */
export function createFaults(options: FaultOptions): { faults: Faults; impossible: string[] } {
  const { world, random } = options;
  const { excuses } = world;

  const answers = () =>
    world.reader.search({ query: 'mark part', mode: 'hybrid', limit: 1 }).then(
      () => true,
      () => false,
    );

  async function excused<T>(why: string, work: () => Promise<T>): Promise<T> {
    excuses.begin(why);
    try {
      return await work();
    } finally {
      await waitFor(answers, 120_000, `the API answers after "${why}"`).finally(() => excuses.end(why));
    }
  }

  /** kill -9 of one process of a role, in some way, and waits until another one runs. False where it did not come about. */
  async function kill(
    role: 'worker' | 'watcher' | 'api',
    how: (pid: number) => Promise<boolean> = async (pid) => sendSignal(pid, 'SIGKILL'),
  ): Promise<boolean> {
    const pids = await world.pidsOf(role);
    if (pids.length === 0) return false;
    const work = async () => {
      if (!(await how(random.pick(pids)))) return false;
      await waitFor(async () => (await world.pidsOf(role)).some((other) => !pids.includes(other)), 60_000, `a new ${role} runs`);
      return true;
    };
    return role === 'api' ? excused('api killed', work) : work();
  }

  const tools: FaultTools = { ...options, excused, kill };
  const machine = createMachineFaults(tools);
  return {
    faults: { ...createProcessFaults(tools), ...createServiceFaults(tools), ...machine.faults },
    impossible: machine.impossible,
  };
}
