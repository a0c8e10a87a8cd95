import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '@sluice/core';
import { testServices, until } from '@sluice/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePorts } from '../system/ports.js';
import { isRunning, processRef } from '../system/processes.js';
import { type Instance, type InstanceEvent, startInstance } from './instance.js';
import type { Addresses, InstancePlan } from './plan.js';
import { readRunFile } from './run-file.js';
import { stopInstance } from './stop-instance.js';

const app = fileURLToPath(new URL('../../test/fixtures/app.mjs', import.meta.url));
let folder: string;
let order: string;
const instances: Instance[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-instance-'));
  order = join(folder, 'order');
});
afterEach(async () => {
  await Promise.all(instances.splice(0).map((instance) => instance.forceStop()));
  await rm(folder, { recursive: true, force: true });
});

async function makePlan(): Promise<InstancePlan> {
  const services = testServices();
  const [port = 0] = await freePorts(1);
  return {
    dataFolder: join(folder, 'data'),
    cwd: folder,
    env: { ...process.env, REDIS_URL: services.redis, WEAVIATE_URL: services.weaviate },
    appEnvironment: () => ({}),
    namespace: 'launchertest',
    api: { host: '127.0.0.1', port, portIsDefault: true },
    model: { name: 'Xenova/all-MiniLM-L6-v2', choice: services.model },
  };
}

/** Starts an instance on the test run's services, with small processes in place of its apps. */
async function start(
  plan: InstancePlan,
  behaviour: Record<string, unknown> = {},
  clock = systemClock,
): Promise<{ instance: Instance; events: InstanceEvent[] }> {
  const events: InstanceEvent[] = [];
  const spec = (role: string, extra: Record<string, unknown> = {}) => ({
    role,
    args: [app, JSON.stringify({ role, order, ...extra, ...(behaviour[role] as object | undefined) })],
    env: plan.env,
    cwd: plan.cwd,
  });
  const apps = ({ api }: Addresses) => [
    spec('worker'),
    spec('watcher'),
    { ...spec('api', { listen: api }), readyUrl: `${api}/readyz` },
  ];
  const instance = await startInstance({ plan, apps, clock, onEvent: (event) => events.push(event) });
  instances.push(instance);
  for (const role of ['worker', 'watcher', 'api']) {
    await until(async () => (await readFile(join(plan.dataFolder, 'log', `${role}.ndjson`), 'utf8')).includes('"up"'));
  }
  return { instance, events };
}

describe('an instance', () => {
  it('records its processes and addresses, and leaves no run file once stopped', async () => {
    const plan = await makePlan();
    const { instance, events } = await start(plan);
    const runFile = await readRunFile(plan.dataFolder);
    expect(runFile).toMatchObject({ state: 'ready', api: instance.addresses.api, services: { redis: { via: 'REDIS_URL' } } });
    const processes = runFile?.processes ?? [];
    expect(processes.map(({ role, restarts }) => [role, restarts])).toEqual([
      ['supervisor', 0],
      ['worker', 0],
      ['watcher', 0],
      ['api', 0],
    ]);
    expect(processes.every(isRunning)).toBe(true);
    expect(events.at(-1)).toMatchObject({ kind: 'ready' });
    await instance.stop();
    expect(processes.filter((entry) => entry.role !== 'supervisor').some(isRunning)).toBe(false);
    expect(await readRunFile(plan.dataFolder)).toBeUndefined();
  });

  it('stops intake first and answers queries until last', async () => {
    const { instance } = await start(await makePlan());
    await Promise.all([instance.stop(), instance.stop()]);
    expect((await readFile(order, 'utf8')).trim().split('\n')).toEqual(['watcher', 'worker', 'api']);
  });

  it('kills what does not end when it is forced', async () => {
    const { instance } = await start(await makePlan(), { worker: { deaf: true }, api: { deaf: true } });
    const processes = instance.processes().filter((entry) => entry.role !== 'supervisor');
    const stopping = instance.stop();
    await until(() =>
      access(order).then(
        () => true,
        () => false,
      ),
    );
    await instance.forceStop();
    await stopping;
    expect(processes.some(isRunning)).toBe(false);
  });

  it('starts a process that was killed again, and counts that', async () => {
    const plan = await makePlan();
    const { instance, events } = await start(plan);
    const worker = instance.processes().find((entry) => entry.role === 'worker');
    process.kill(worker?.pid ?? 0, 'SIGKILL');
    const found = await until(
      async () =>
        (await readRunFile(plan.dataFolder))?.processes.find(({ role, restarts }) => role === 'worker' && restarts === 1) ??
        false,
    );
    expect(found.pid).not.toBe(worker?.pid);
    expect(isRunning(found)).toBe(true);
    expect(events).toContainEqual({
      kind: 'exit',
      role: 'worker',
      line: 'the worker ended by SIGKILL; starting it again in 0.25 s',
    });
  });

  it('tells why a process ended by its own last words, and not by those of another or of long ago', async () => {
    let passed = 0;
    const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + passed };
    const once = join(folder, 'once');
    const fatal = 'FATAL ERROR: RegExpCompiler Allocation failed';
    const { instance, events } = await start(await makePlan(), { worker: { lines: [fatal], dieOnce: once } }, clock);
    const told = () => events.flatMap((event) => (event.kind === 'exit' ? event.line.replace(/;.*/, '') : []));
    const killWorker = async (ends: number) => {
      const worker = await until(() => instance.processes().find((entry) => entry.role === 'worker') ?? false);
      process.kill(worker.pid, 'SIGKILL');
      await until(() => told().length === ends);
    };
    await until(() => told().length === 1);
    expect(told()[0]).toBe(`the worker ended with code 3 (${fatal})`);
    await killWorker(2);
    expect(told()[1]).toBe('the worker ended by SIGKILL');

    const { instance: other, events: others } = await start(
      { ...(await makePlan()), dataFolder: join(folder, 'other') },
      { worker: { lines: [fatal] } },
      clock,
    );
    await until(async () => (await readFile(join(folder, 'other', 'log', 'worker.ndjson'), 'utf8')).includes(fatal));
    passed = 60_000;
    process.kill(other.processes().find((entry) => entry.role === 'worker')?.pid ?? 0, 'SIGKILL');
    const exit = await until(() => others.find((event) => event.kind === 'exit') ?? false);
    expect(exit.line).toMatch(/^the worker ended by SIGKILL; /);
  });

  it('reports its processes again once the run file can be written again, as after a full disk', async () => {
    const plan = await makePlan();
    const { instance } = await start(plan);
    const worker = instance.processes().find((entry) => entry.role === 'worker');
    // Nothing can be written to the draft while a folder has its name.
    const draft = join(plan.dataFolder, `run.json.${process.pid}.tmp`);
    await mkdir(draft);
    process.kill(worker?.pid ?? 0, 'SIGKILL');
    const restarted = () => instance.processes().find((entry) => entry.role === 'worker' && entry.pid !== worker?.pid);
    await until(() => restarted() !== undefined);
    await rm(draft, { recursive: true });
    const isTold = async () =>
      (await readRunFile(plan.dataFolder))?.processes.some(({ pid }) => pid === restarted()?.pid) === true;
    await until(isTold);
  });

  it('refuses a second start on its data folder, naming its process and address, and goes on', async () => {
    const plan = await makePlan();
    const { instance } = await start(plan);
    await expect(start(plan)).rejects.toMatchObject({
      code: 'not_ready',
      message: expect.stringContaining(`process ${process.pid} at ${instance.addresses.api}`),
    });
    expect((await readRunFile(plan.dataFolder))?.state).toBe('ready');
    expect(instance.processes()).toHaveLength(4);
    const other = await start({ ...plan, dataFolder: join(folder, 'other') });
    expect(other.instance.addresses.api).not.toBe(instance.addresses.api);
  });

  it('writes what its processes print to their logs, and reports each file', async () => {
    const plan = await makePlan();
    const logged = '{"level":30,"msg":"document","doc_id":"inbox/a.txt","status":"indexed","chunks":2,"seconds":0.1}';
    const { events } = await start(plan, { worker: { lines: [logged, 'a crash'] } });
    await until(async () => (await readFile(join(plan.dataFolder, 'log', 'worker.ndjson'), 'utf8')).includes('a crash'));
    const lines = (await readFile(join(plan.dataFolder, 'log', 'worker.ndjson'), 'utf8')).trim().split('\n');
    expect(lines[1]).toBe(logged);
    expect(JSON.parse(lines[2] ?? '')).toMatchObject({ role: 'worker', msg: 'a crash' });
    expect(events).toContainEqual({ kind: 'document', line: 'inbox/a.txt indexed, 2 chunks, 0.1 s' });
  });

  it('gives up, and leaves nothing running, when a process keeps ending', async () => {
    const plan = await makePlan();
    const backOff = { firstMs: 1, maxMs: 1, resetMs: 60_000 };
    const apps = ({ api }: Addresses) => [
      {
        role: 'api',
        args: [app, JSON.stringify({ role: 'api', dieAfterMs: 0 })],
        env: plan.env,
        cwd: plan.cwd,
        readyUrl: `${api}/readyz`,
      },
    ];
    await expect(startInstance({ plan, apps, backOff, onEvent: () => undefined })).rejects.toThrow(
      /the api keeps ending.*api\.ndjson/,
    );
    expect(await readRunFile(plan.dataFolder)).toBeUndefined();
    expect((await start(plan)).instance.processes()).toHaveLength(4);
  });

  it('empties the metrics of the instance before', async () => {
    const plan = await makePlan();
    const old = join(plan.dataFolder, 'metrics', 'worker-1-1.json');
    await mkdir(join(plan.dataFolder, 'metrics'), { recursive: true });
    await writeFile(old, '{}');
    await start(plan);
    await expect(access(old)).rejects.toThrow();
  });

  it('takes over a data folder whose supervisor was killed, ending the processes it left', async () => {
    const plan = await makePlan();
    const left = spawn(process.execPath, [app, '{"role":"worker"}'], { detached: true, stdio: 'ignore' });
    await once(left, 'spawn');
    const leftRef = processRef(left.pid ?? 0);
    const first = await start(plan);
    const text = await readFile(join(plan.dataFolder, 'run.json'), 'utf8');
    await first.instance.stop();
    const processes = [
      { role: 'supervisor', pid: process.pid, born: 'before', restarts: 0 },
      { role: 'worker', ...leftRef, restarts: 0 },
    ];
    await writeFile(join(plan.dataFolder, 'run.json'), JSON.stringify({ ...(JSON.parse(text) as object), processes }));
    const { instance } = await start(plan);
    expect(leftRef !== undefined && isRunning(leftRef)).toBe(false);
    expect(instance.processes()).toHaveLength(4);
  });
});

describe('stopInstance', () => {
  it('says so when nothing runs', async () => {
    expect(await stopInstance(folder, { env: process.env })).toEqual({ outcome: 'not_running' });
  });

  it('ends what a killed supervisor has left', async () => {
    const plan = await makePlan();
    const first = await start(plan);
    const runFile = await readRunFile(plan.dataFolder);
    const processes = runFile?.processes.map((entry) => (entry.role === 'supervisor' ? { ...entry, born: 'before' } : entry));
    await writeFile(join(plan.dataFolder, 'run.json'), JSON.stringify({ ...runFile, processes }));
    const pids = first.instance.processes().filter((entry) => entry.role !== 'supervisor');
    expect(await stopInstance(plan.dataFolder, { env: process.env })).toMatchObject({
      outcome: 'cleaned',
      pids: pids.map(({ pid }) => pid),
    });
  });
});
