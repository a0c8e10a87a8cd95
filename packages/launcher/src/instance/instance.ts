import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDataFolder } from '@sluice/config';
import { type Clock, SluiceError, systemClock, VERSION } from '@sluice/core';
import { modelSpec } from '../provision/models.js';
import { obtainModel } from '../provision/obtain-model.js';
import { obtainCredentials } from '../services/credentials.js';
import { stopService } from '../services/service.js';
import { writeAtomically } from '../system/files.js';
import { type Lock, tryLock } from '../system/locks.js';
import { choosePort } from '../system/ports.js';
import { processRef } from '../system/processes.js';
import { createWorkplace, type Workplace } from '../system/workplace.js';
import { type AppSpec, standardApps } from './apps.js';
import { documentLine } from './document-line.js';
import { faultLine } from './fault-line.js';
import type { Addresses, InstancePlan, Services } from './plan.js';
import { createRotatingLog, type RotatingLog } from './rotating-log.js';
import { type RunFile, readRunFile, removeRunFile, writeRunFile } from './run-file.js';
import { startServices } from './start-services.js';
import { type BackOff, createSupervisedProcess, type SupervisedProcess } from './supervised-process.js';
import { stopLeftovers } from './take-over.js';
import { watchServices } from './watch-services.js';

/** What happens in an instance, for whoever shows it. */
export type InstanceEvent =
  /** What is being found, installed or started, or why a step failed. */
  | { kind: 'progress'; line: string }
  /** A file was indexed, failed or skipped. */
  | { kind: 'document'; line: string }
  /** A process ended by itself and will be started again. */
  | { kind: 'exit'; role: string; line: string }
  | { kind: 'ready'; seconds: number };

export interface InstanceOptions {
  plan: InstancePlan;
  onEvent(event: InstanceEvent): void;
  /** Aborted: the start is given up. */
  signal?: AbortSignal;
  /** For tests: which processes to run instead of watcher, worker and API, in the order of their start. */
  apps?: (addresses: Addresses) => AppSpec[];
  backOff?: BackOff;
  clock?: Clock;
  /** How long a process may take to end by itself. Default 20 s for apps, 10 s for services. */
  deadlines?: { appMs: number; serviceMs: number };
}

export interface Instance {
  readonly addresses: Addresses;
  services(): Services;
  readonly startedInSeconds: number;
  processes(): RunFile['processes'];
  /** Watcher, worker, API, services: each given its time, then killed. Calling it again does no harm. */
  stop(): Promise<void>;
  /** Kills what has not ended yet. */
  forceStop(): Promise<void>;
}

const DEADLINES = { appMs: 20_000, serviceMs: 10_000 };
const READY_MS = 120_000;
/** A fault is taken for why a process ended when it was spoken of at most this long before, ms. */
const LAST_WORDS_MS = 5_000;
/** Wait before the run file is written again that could not be written. */
const RECORD_AGAIN_MS = 1_000;

/**
 * Starts an instance: services, then the processes, until the API says that it is ready.
 *
 * Errors: `not_ready` when another instance runs on the data folder (it names its pid and address) or something does not start;
 * `invalid_configuration`.
 */
export async function startInstance(options: InstanceOptions): Promise<Instance> {
  const { plan, onEvent } = options;
  const clock = options.clock ?? systemClock;
  const deadlines = options.deadlines ?? DEADLINES;
  const began = clock.monotonic();
  const lock = await lockDataFolder(plan.dataFolder);
  // A start that fails, or is given up, ends what it has set going (a build, a download).
  const giveUp = new AbortController();
  const signal = options.signal === undefined ? giveUp.signal : AbortSignal.any([options.signal, giveUp.signal]);
  const workplace = createWorkplace(plan.env, (line) => onEvent({ kind: 'progress', line }), signal);
  const logs: RotatingLog[] = [];
  /** The last fault that a process of each role has spoken of, which one, and when. */
  const faults = new Map<string, { text: string; pid: number | undefined; at: number }>();
  const apps: SupervisedProcess[] = [];
  const force = new AbortController();
  let services: Partial<Services> = {};
  let serviceWatch: ReturnType<typeof watchServices> | undefined;
  let stopped: Promise<void> | undefined;
  let state: RunFile['state'] = 'starting';
  let api = '';
  let modelFolder: string | undefined;
  const startedAt = new Date(clock.now()).toISOString();

  function processes(): RunFile['processes'] {
    const self = processRef(process.pid) ?? { pid: process.pid };
    const list: RunFile['processes'] = [{ role: 'supervisor', ...self, restarts: 0 }];
    for (const app of apps) {
      const ref = app.current();
      if (ref !== undefined) list.push({ role: app.role, ...ref, restarts: app.restarts() });
    }
    for (const service of [services.redis, services.weaviate]) {
      if (service?.process !== undefined) {
        list.push({ role: service.role, ...service.process, restarts: serviceWatch?.restarts(service.role) ?? 0 });
      }
    }
    return list;
  }

  let removed = false;
  let writing: Promise<void> = Promise.resolve();
  function record(): Promise<void> {
    if (removed) return Promise.resolve();
    const content: RunFile = {
      version: VERSION,
      state,
      startedAt,
      processes: processes(),
      services,
      api,
      ...(modelFolder === undefined ? {} : { modelFolder }),
    };
    // One write at a time, in order; a disk that is full must not end the supervisor.
    writing = writing.then(() => writeRunFile(plan.dataFolder, content)).catch(recordLater);
    return writing;
  }

  let isDue = false;
  /** Others find the processes by the file alone, so one that could not be written is made up for as soon as it can. */
  function recordLater(): void {
    if (isDue || removed) return;
    isDue = true;
    void clock.sleep(RECORD_AGAIN_MS).then(() => {
      isDue = false;
      return record();
    });
  }

  async function stopAll(): Promise<void> {
    state = 'stopping';
    await record();
    serviceWatch?.stop();
    // Intake first, so that nothing new comes while the worker hands its jobs back; queries are answered until last.
    for (const role of ['watcher', 'worker', 'api']) {
      const which = apps.filter((app) => app.role === role);
      await Promise.all(which.map((app) => app.stop({ deadlineMs: deadlines.appMs, force: force.signal })));
    }
    await Promise.all(apps.map((app) => app.stop({ deadlineMs: deadlines.appMs, force: force.signal })));
    await serviceWatch?.idle();
    const how = { deadlineMs: deadlines.serviceMs, force: force.signal };
    const left = [services.redis, services.weaviate].filter((service) => service !== undefined);
    await Promise.all(left.map((service) => stopService(service, plan.env, how)));
    await serviceWatch?.closeLogs();
    for (const log of logs) log.close();
    removed = true;
    await writing;
    await removeRunFile(plan.dataFolder);
    await lock.release();
  }

  const stop = () => {
    stopped ??= stopAll();
    return stopped;
  };

  try {
    const previous = await readRunFile(plan.dataFolder);
    await stopLeftovers(previous, workplace);
    // The totals of an instance begin with it: snapshots of the one before are none of its.
    await rm(join(plan.dataFolder, 'metrics'), { recursive: true, force: true });
    await mkdir(join(plan.dataFolder, 'metrics'), { recursive: true });
    const port = await choosePort(plan.api.port, plan.api.portIsDefault, plan.api.host);
    api = apiAddress(plan.api.host, port);
    await record();
    await writeAtomically(join(plan.dataFolder, 'namespace'), `${plan.namespace}\n`);
    const model = provideModel(plan, workplace);
    // Waited for below, after the services: meanwhile its failure must not count as unhandled.
    model.catch(() => undefined);
    const both = await startServices({
      previous,
      dataFolder: plan.dataFolder,
      credentials: obtainCredentials(plan.dataFolder),
      workplace,
      onService: (service) => {
        services = { ...services, [service.role]: service };
        void record();
      },
    });
    modelFolder = await model;
    const addresses: Addresses = {
      redis: both.redis.url,
      weaviate: both.weaviate.url,
      weaviateKey: both.weaviate.apiKey,
      api,
      modelFolder,
    };
    serviceWatch = watchServices({
      services: both,
      workplace,
      clock,
      onChange: (changed) => {
        services = changed;
        void record();
      },
      onExit: (role, line) => onEvent({ kind: 'exit', role, line }),
    });
    const specs = (options.apps ?? ((known: Addresses) => standardApps(plan, known)))(addresses);
    for (const spec of specs) apps.push(superviseApp(spec));
    for (const app of apps) app.start();
    await record();
    await waitUntilReady(specs.find((spec) => spec.readyUrl !== undefined)?.readyUrl, apps);
    state = 'ready';
    await record();
    const startedInSeconds = (clock.monotonic() - began) / 1000;
    onEvent({ kind: 'ready', seconds: startedInSeconds });
    return {
      addresses,
      services: () => ({ ...both, ...services }),
      startedInSeconds,
      processes,
      stop,
      async forceStop() {
        force.abort();
        await stop();
      },
    };
  } catch (error) {
    giveUp.abort();
    await stop();
    throw error;
  }

  function faultOf(role: string): string {
    const fault = faults.get(role);
    return fault === undefined ? '' : ` (${fault.text})`;
  }

  /** What a process that has just ended said of a fault: neither its predecessor, nor it long before, nor a child that it has outlived. */
  function lastWordsOf(role: string, pid: number | undefined): string {
    const fault = faults.get(role);
    return fault?.pid === pid && clock.monotonic() - (fault?.at ?? 0) < LAST_WORDS_MS ? faultOf(role) : '';
  }

  function superviseApp(spec: AppSpec): SupervisedProcess {
    const log = createRotatingLog(join(plan.dataFolder, 'log', `${spec.role}.ndjson`));
    logs.push(log);
    return createSupervisedProcess(spec, {
      clock,
      ...(options.backOff === undefined ? {} : { backOff: options.backOff }),
      onLine(line, pid) {
        log.write(asNdjson(line, spec.role));
        const text = faultLine(line);
        if (text !== undefined) faults.set(spec.role, { text, pid, at: clock.monotonic() });
        const shown = documentLine(line);
        if (shown !== undefined) onEvent({ kind: 'document', line: shown });
      },
      onStart: () => void record(),
      onExit({ pid, code, signal, waitMs }) {
        const how = signal === undefined ? `with code ${code ?? 'none'}` : `by ${signal}`;
        const line = `the ${spec.role} ended ${how}${lastWordsOf(spec.role, pid)}; starting it again in ${(waitMs / 1000).toFixed(2)} s`;
        log.write(asNdjson(line, spec.role));
        onEvent({ kind: 'exit', role: spec.role, line });
        void record();
      },
    });
  }

  async function waitUntilReady(url: string | undefined, running: readonly SupervisedProcess[]): Promise<void> {
    const deadline = clock.monotonic() + READY_MS;
    let last = 'no answer';
    while (url !== undefined) {
      options.signal?.throwIfAborted();
      const failing = running.find((app) => app.restarts() >= 3);
      if (failing !== undefined) {
        const log = join(plan.dataFolder, 'log', `${failing.role}.ndjson`);
        throw new SluiceError(
          'not_ready',
          `the ${failing.role} keeps ending${faultOf(failing.role)}: its log tells more (${log})`,
        );
      }
      try {
        const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
        last = (await response.text()).slice(0, 300);
        if (response.ok) return;
      } catch {
        // Not listening yet.
      }
      if (clock.monotonic() > deadline)
        throw new SluiceError('not_ready', `the API is not ready after ${READY_MS / 1000} s: ${last}`);
      await clock.sleep(50);
    }
  }
}

/** Where the API is called from this machine. All addresses are for listening alone, so this machine's own stands for them. */
function apiAddress(host: string, port: number): string {
  const called = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return `http://${called.includes(':') ? `[${called}]` : called}:${port}`;
}

/** What a process prints beside its log (a crash, a warning of Node) is kept as a line of the same form. */
function asNdjson(line: string, role: string): string {
  if (line.startsWith('{') && line.endsWith('}')) return line;
  return JSON.stringify({ level: 40, time: new Date().toISOString(), role, msg: line });
}

async function lockDataFolder(dataFolder: string): Promise<Lock> {
  makeDataFolder(dataFolder);
  const lock = await tryLock(join(dataFolder, 'instance.lock'));
  if ('release' in lock) return lock;
  const other = await readRunFile(dataFolder);
  const address = other?.api === undefined || other.api === '' ? '' : ` at ${other.api}`;
  throw new SluiceError(
    'not_ready',
    `Sluice runs already on ${dataFolder}: process ${lock.holder.pid}${address}. ` +
      'Stop it (npx sluice down), or start this one on another folder: SLUICE_DATA=/another/folder',
    { details: { pid: lock.holder.pid, ...(other === undefined ? {} : { api: other.api }) } },
  );
}

/** The folder of the model that runs here, installed when it is missing. */
async function provideModel({ model, cwd }: InstancePlan, workplace: Workplace): Promise<string | undefined> {
  if (model === undefined) return undefined;
  return obtainModel(workplace, { spec: modelSpec(model.name), choice: model.choice, cwd });
}
