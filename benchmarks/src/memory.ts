import { readFile } from 'node:fs/promises';

/** MB of a process's memory: now and at its peak (VmRSS and VmHWM of Linux's /proc); undefined on other systems. */
export async function memoryOf(pid: number): Promise<{ now: number; peak: number } | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => undefined);
  const kilobytes = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status ?? '')?.[1]);
  const [now, peak] = [kilobytes('VmRSS') / 1024, kilobytes('VmHWM') / 1024];
  return Number.isNaN(now) || Number.isNaN(peak) ? undefined : { now, peak };
}

/** MB that a process and those that it started use now; 0 where the system does not tell. */
export async function memoryOfTree(pid: number): Promise<number> {
  const listed = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const children = listed.split(' ').filter(Boolean).map(Number);
  const sums = await Promise.all(children.map((child) => memoryOfTree(child)));
  return sums.reduce((sum, one) => sum + one, (await memoryOf(pid))?.now ?? 0);
}
