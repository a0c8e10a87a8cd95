import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, statfs } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Another user to run the apps as: root reads every folder, and its limits are those of everything else on the machine. */
export interface User {
  uid: number;
  gid: number;
}

/** A user of this run's own, where the harness may switch to one (it is root) and that one can read what the apps need. */
export async function otherUser(needed: readonly string[]): Promise<User | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const id = 50_000 + (process.pid % 10_000);
  const user = { uid: id, gid: id };
  const look = `for (const path of ${JSON.stringify(needed)}) require('node:fs').accessSync(path, require('node:fs').constants.R_OK)`;
  return run(process.execPath, ['-e', look], user).then(
    () => user,
    () => undefined,
  );
}

/** Whether file systems may be mounted: only in a mount namespace of the harness' own, which scripts/chaos.mjs makes where it can. */
export function mayMount(): boolean {
  return process.env.SLUICE_CHAOS_MOUNTS === '1';
}

/** A file system of its own in memory, which can be filled without harm to anybody. */
export async function mountSmall(path: string, megabytes: number): Promise<void> {
  await mkdir(path, { recursive: true });
  await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0755`, 'tmpfs', path]);
}

export async function unmount(path: string): Promise<void> {
  await run('umount', ['-l', path]).catch(() => {});
}

/** Bytes that have to be written for a file system to be full to a share. */
export async function bytesUntil(path: string, share: number): Promise<number> {
  const { blocks, bfree, bsize } = await statfs(path);
  return Math.max(0, Math.floor((blocks * share - (blocks - bfree)) * bsize));
}

/** Most instances that are taken: a usual limit is 128 a user. */
const MOST_INSTANCES = 2_000;

/**
 * Takes every inotify instance of a user, as many programs of that user would: each `tail -f` has one.
 *
 * @returns what gives them back, or undefined where no end was reached
 */
export async function takeInotify(user: User): Promise<(() => Promise<void>) | undefined> {
  const taken: ChildProcess[] = [];
  const release = async () => {
    for (const child of taken) child.kill('SIGKILL');
    for (const child of taken) if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  };
  const mayWatch = () =>
    run(process.execPath, ['-e', 'require("node:fs").watch("/tmp").close()'], user).then(
      () => true,
      () => false,
    );
  while (taken.length < MOST_INSTANCES) {
    for (let n = 0; n < 70; n += 1) taken.push(spawn('tail', ['-c', '0', '-f', process.execPath], { ...user, stdio: 'ignore' }));
    await sleep(500);
    if (!(await mayWatch())) return release;
  }
  await release();
  return undefined;
}
