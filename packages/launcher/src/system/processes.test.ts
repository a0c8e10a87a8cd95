import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { isRunning, processRef, stopProcess } from './processes.js';

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** A child that has set up its handling of SIGTERM. */
async function startChild(onTerm: string) {
  const script = `process.on('SIGTERM', () => { ${onTerm} }); setInterval(() => {}, 1000); process.stdout.write('up')`;
  const child = spawn(process.execPath, ['-e', script], { detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  await once(child.stdout, 'data');
  const ref = processRef(child.pid ?? 0);
  if (ref === undefined) throw new Error('the child does not run');
  return ref;
}

describe('stopProcess', () => {
  it('lets a process end by itself', async () => {
    const ref = await startChild('process.exit(0)');
    expect(await stopProcess(ref, { deadlineMs: 10_000 })).toBe('ended');
    expect(isRunning(ref)).toBe(false);
    expect(await stopProcess(ref, { deadlineMs: 10_000 })).toBe('gone');
  });

  it('kills a process that does not end before its deadline', async () => {
    const ref = await startChild('');
    expect(await stopProcess(ref, { deadlineMs: 100 })).toBe('killed');
    expect(isRunning(ref)).toBe(false);
  });

  it('kills at once when forced, however long the deadline', async () => {
    const ref = await startChild('');
    const force = new AbortController();
    const stopping = stopProcess(ref, { deadlineMs: 3_600_000, force: force.signal });
    force.abort();
    expect(await stopping).toBe('killed');
  });

  it('kills a process that is stopped by SIGSTOP', async () => {
    const ref = await startChild('process.exit(0)');
    process.kill(ref.pid, 'SIGSTOP');
    expect(await stopProcess(ref, { deadlineMs: 100 })).toBe('killed');
  });

  it('leaves a later process with the same pid alone', async () => {
    const ref = await startChild('process.exit(0)');
    const earlier = { pid: ref.pid, born: 'earlier' };
    expect(isRunning(earlier)).toBe(false);
    expect(await stopProcess(earlier, { deadlineMs: 0 })).toBe('gone');
    expect(isRunning(ref)).toBe(true);
  });
});
