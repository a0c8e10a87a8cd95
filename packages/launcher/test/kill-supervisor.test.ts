import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { testServices, until } from '@sluice/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readRunFile, stopInstance } from '../src/index.js';
import { freePorts } from '../src/system/ports.js';
import { isRunning } from '../src/system/processes.js';

const program = fileURLToPath(new URL('fixtures/supervisor.mjs', import.meta.url));
let folder: string;
const supervisors: ChildProcess[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-kill-'));
});
afterEach(async () => {
  for (const supervisor of supervisors.splice(0)) supervisor.kill('SIGKILL');
  await stopInstance(join(folder, 'data'), { env: process.env });
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** An instance in a process of its own, on a Redis and a Weaviate that it starts itself. */
async function spawnSupervisor(): Promise<ChildProcess> {
  const [port = 0] = await freePorts(1);
  const plan = {
    dataFolder: join(folder, 'data'),
    cwd: folder,
    namespace: 'killtest',
    api: { host: '127.0.0.1', port, portIsDefault: true },
    model: { name: 'Xenova/all-MiniLM-L6-v2', choice: testServices().model },
  };
  const supervisor = spawn(process.execPath, [program, JSON.stringify(plan)], {
    env: { ...process.env, REDIS_URL: '', WEAVIATE_URL: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  supervisors.push(supervisor);
  return supervisor;
}

async function startSupervisor(): Promise<{ supervisor: ChildProcess; lines: string[] }> {
  const supervisor = await spawnSupervisor();
  const lines: string[] = [];
  await new Promise<void>((resolve, reject) => {
    supervisor.on('exit', () => reject(new Error(`the supervisor ended:\n${lines.join('\n')}`)));
    supervisor.stdout?.setEncoding('utf8').on('data', (text: string) => {
      lines.push(text);
      if (text.includes('"kind":"ready"')) resolve();
    });
  });
  supervisor.removeAllListeners('exit');
  return { supervisor, lines };
}

const runFile = () => readRunFile(join(folder, 'data'));

describe('a supervisor that is killed', () => {
  it('leaves services that the next one takes over and stops in the end, and apps that it replaces', async () => {
    const { supervisor } = await startSupervisor();
    const before = await runFile();
    supervisor.kill('SIGKILL');
    await until(() => supervisor.signalCode !== null);
    const next = await startSupervisor();
    const after = await runFile();
    expect(next.lines.join('')).toContain('taken over');
    expect(after?.services).toEqual(before?.services);
    const apps = (file: typeof before) => file?.processes.filter(({ role }) => ['worker', 'watcher', 'api'].includes(role)) ?? [];
    expect(apps(before).some(isRunning)).toBe(false);
    expect(apps(after)).toHaveLength(3);

    next.supervisor.kill('SIGTERM');
    await until(() => next.supervisor.exitCode !== null);
    expect(after?.processes.some(isRunning)).toBe(false);
  });

  it('is cleaned up after by stopInstance', async () => {
    const { supervisor } = await startSupervisor();
    const left = await runFile();
    supervisor.kill('SIGKILL');
    await until(() => supervisor.signalCode !== null);
    expect(await stopInstance(join(folder, 'data'), { env: process.env })).toMatchObject({ outcome: 'cleaned' });
    expect(left?.processes.some(isRunning)).toBe(false);
  });

  it('has its services on record before they are ready', async () => {
    const supervisor = await spawnSupervisor();
    const found = await until(async () => {
      const file = await runFile();
      return file?.services.redis?.process !== undefined && file.services.weaviate?.process !== undefined ? file : false;
    });
    supervisor.kill('SIGKILL');
    expect(found.state).toBe('starting');
    await until(() => supervisor.signalCode !== null);
    expect(await stopInstance(join(folder, 'data'), { env: process.env })).toMatchObject({ outcome: 'cleaned' });
    const processes = [found.services.redis?.process, found.services.weaviate?.process].filter((ref) => ref !== undefined);
    expect(processes.some(isRunning)).toBe(false);
  });

  it('is cleaned up after also when it dies while it is being stopped', async () => {
    const { supervisor } = await startSupervisor();
    const left = await runFile();
    // It takes the SIGTERM of stopInstance only once it is gone.
    process.kill(supervisor.pid ?? 0, 'SIGSTOP');
    const stopping = stopInstance(join(folder, 'data'), { env: process.env });
    supervisor.kill('SIGKILL');
    expect(await stopping).toMatchObject({ outcome: 'cleaned' });
    expect(left?.processes.some(isRunning)).toBe(false);
  });
});

describe('a service that ends', () => {
  it('is started again on its own address and data', async () => {
    await startSupervisor();
    const before = await runFile();
    const redis = before?.processes.find(({ role }) => role === 'redis');
    process.kill(redis?.pid ?? 0, 'SIGKILL');
    const again = await until(
      async () => (await runFile())?.processes.find(({ role, restarts }) => role === 'redis' && restarts === 1) ?? false,
    );
    expect(again.pid).not.toBe(redis?.pid);
    expect((await runFile())?.services.redis?.url).toBe(before?.services.redis?.url);
  });
});

describe('an npm that is ended by its pid', () => {
  it('takes the instance with it, though it tells its shell alone', async () => {
    const [port = 0] = await freePorts(1);
    const { redis, weaviate, model } = testServices();
    const script = fileURLToPath(new URL('fixtures/run-instance.mjs', import.meta.url));
    // npm runs a script by a shell that waits for it.
    const shell = spawn('sh', ['-c', `"${process.execPath}" "${script}"; true`], {
      cwd: folder,
      env: {
        ...process.env,
        npm_lifecycle_event: 'start',
        SLUICE_DATA: join(folder, 'data'),
        SLUICE_NAMESPACE: `parenttest${process.pid}`,
        SLUICE_PORT: String(port),
        SLUICE_MODEL: model,
        REDIS_URL: redis,
        WEAVIATE_URL: weaviate,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let lines = '';
    shell.stdout.setEncoding('utf8').on('data', (text: string) => {
      lines += text;
    });
    await until(() => lines.includes('Sluice is ready') || shell.exitCode !== null, 100_000);
    const file = await runFile();
    expect(file?.processes.filter(isRunning).length).toBeGreaterThanOrEqual(3);
    shell.kill('SIGTERM');
    await until(() => lines.includes('stopped; the data stays'));
    // The process that wrote that line ends a moment later.
    await until(() => file?.processes.some(isRunning) === false);
  }, 120_000);
});
