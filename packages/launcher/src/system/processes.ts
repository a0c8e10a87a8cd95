import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** A process that can be distinguished from a later one with the same pid. */
export interface ProcessRef {
  pid: number;
  /** The kernel's own start time of the process, as text; absent where it can't be read. */
  born?: string | undefined;
}

/** Reference to a running process, or undefined when there is none (a zombie is none). */
export function processRef(pid: number): ProcessRef | undefined {
  if (process.platform === 'linux') {
    try {
      const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // The name, in parentheses, may hold anything; state is the first field after it, the start time the twentieth.
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
      if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
      return { pid, ...(fields[19] === undefined ? {} : { born: fields[19] }) };
    } catch {
      return undefined;
    }
  }
  if (!answersToSignals(pid)) return undefined;
  try {
    const line = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    if (line === '' || line.startsWith('Z')) return undefined;
    return { pid, born: line.replace(/^\S+\s+/, '') };
  } catch {
    return { pid };
  }
}

function answersToSignals(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** True while that very process runs: a pid taken over by another process is not it. */
export function isRunning(ref: ProcessRef): boolean {
  const now = processRef(ref.pid);
  return now !== undefined && (ref.born === undefined || now.born === undefined || ref.born === now.born);
}

/** Signals the process and, if it leads one, its group. */
function signalProcess(ref: ProcessRef, signal: NodeJS.Signals): void {
  if (!isRunning(ref)) return;
  for (const target of [-ref.pid, ref.pid]) {
    try {
      process.kill(target, signal);
      return;
    } catch {
      // No group of that id, or gone: try the process alone.
    }
  }
}

export interface StopOptions {
  /** How long SIGTERM may take before SIGKILL. */
  deadlineMs: number;
  /** Aborted: SIGKILL at once. */
  force?: AbortSignal;
}

/** Ends a process by its pid: SIGTERM, and SIGKILL after the deadline. Resolves when it is gone. */
export async function stopProcess(ref: ProcessRef, options: StopOptions): Promise<'gone' | 'ended' | 'killed'> {
  if (!isRunning(ref)) return 'gone';
  signalProcess(ref, 'SIGTERM');
  const deadline = performance.now() + options.deadlineMs;
  while (isRunning(ref)) {
    if (performance.now() >= deadline || options.force?.aborted) {
      signalProcess(ref, 'SIGKILL');
      while (isRunning(ref)) await delay(10);
      return 'killed';
    }
    await delay(20);
  }
  return 'ended';
}
