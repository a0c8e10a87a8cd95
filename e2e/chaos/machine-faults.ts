import { chmod, mkdir, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Faults, type FaultTools, holding } from './fault.js';
import { bytesUntil, takeInotify } from './machine.js';
import { writeZeros } from './service-faults.js';

/** The source's root, the disk, the clock and the system's limits; and what of them this machine does not allow. */
export function createMachineFaults(tools: FaultTools): { faults: Faults; impossible: string[] } {
  const { world, workload, random, awayMs, kill } = tools;
  const aside = `${world.folder}.aside`;
  const { user } = world;
  const isRoot = process.getuid?.() === 0;

  const always: Faults = {
    'root away': () =>
      workload.hold(async () => {
        await holding(
          awayMs,
          () => rename(world.folder, aside),
          () => rename(aside, world.folder),
        );
        return 'root renamed away and back';
      }),
    'root replaced': () =>
      workload.hold(async () => {
        await rename(world.folder, aside);
        await holding(
          awayMs,
          () => mkdir(world.folder),
          () => rmdir(world.folder),
        );
        await rename(aside, world.folder);
        return 'root replaced by an empty folder and back';
      }),
    async 'clock set back'() {
      const seconds = random.pick([10, 120, 3_600]);
      await holding(
        awayMs,
        () => world.shiftClock(-1_000 * seconds),
        () => world.shiftClock(0),
      );
      return `clock of the apps set back by ${seconds} s, and forward again`;
    },
    async 'thousands of files at once'() {
      return workload.flood(tools.flood);
    },
  };

  const possible: [string, boolean, Faults[string]][] = [
    [
      'root unreadable',
      user !== undefined || !isRoot,
      () =>
        workload.hold(async () => {
          await holding(
            awayMs,
            () => chmod(world.folder, 0o000),
            () => chmod(world.folder, 0o755),
          );
          return 'root made unreadable and readable again';
        }),
    ],
    [
      'data folder full',
      world.mounted,
      async () => {
        const file = join(world.data, 'filler');
        const role = random.pick(['worker', 'watcher'] as const);
        try {
          await writeZeros(file, (await bytesUntil(world.data, 1)) + (1 << 20));
          await sleep(awayMs / 2);
          // Its supervisor has to note the new process on a full disk.
          const killing = kill(role);
          await sleep(awayMs / 2);
          await rm(file, { force: true });
          await killing;
        } finally {
          await rm(file, { force: true });
        }
        return `data folder full, the ${role} killed meanwhile`;
      },
    ],
    [
      'no file watches left',
      user !== undefined,
      async () => {
        if (user === undefined) return undefined;
        const release = await takeInotify(user);
        if (release === undefined) return undefined;
        try {
          await kill('watcher');
          await sleep(awayMs);
        } finally {
          await release();
        }
        // As the operator is told to do.
        await kill('watcher');
        return 'inotify instances of the user used up, the watcher started without and then with some';
      },
    ],
  ];

  return {
    faults: { ...always, ...Object.fromEntries(possible.filter(([, may]) => may).map(([name, , fault]) => [name, fault])) },
    impossible: possible.filter(([, may]) => !may).map(([name]) => name),
  };
}
