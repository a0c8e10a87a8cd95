import { execFile, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import { createWorkplace, obtainRedis, obtainWeaviate, type ServiceRecord, stopService } from '@sluice/launcher';
import { createProxy, type TcpProxy } from './proxy.js';
import { waitFor } from './wait.js';

/** A Redis or Weaviate of the harness' own, behind a proxy. */
export interface BreakableService {
  readonly role: 'redis' | 'weaviate';
  /** The address without the proxy. */
  readonly directUrl: string;
  /** The address that the instance is given. */
  readonly url: string;
  readonly proxy: TcpProxy;
  /** kill -9. */
  kill(): Promise<void>;
  /** Ends it in order. */
  end(): Promise<void>;
  /** After its end: the same program with the same arguments on the same data; waits until it answers. */
  restart(): Promise<void>;
}

export interface BreakableServices {
  redis: BreakableService;
  weaviate: BreakableService;
  stop(): Promise<void>;
}

/** Starts both by the launcher, as `npm start` does. */
export async function startBreakableServices(dataFolder: string): Promise<BreakableServices> {
  const { REDIS_URL: _redis, WEAVIATE_URL: _weaviate, ...env } = process.env;
  const workplace = createWorkplace(env, () => {});
  const records = await Promise.all([obtainRedis(workplace, { dataFolder }), obtainWeaviate(workplace, { dataFolder })]);
  const made = await Promise.all(records.map((record) => makeBreakable(record, env)));
  const [redis, weaviate] = made;
  if (redis === undefined || weaviate === undefined) throw new Error('a service is missing');
  return {
    redis,
    weaviate,
    async stop() {
      for (const service of made) await service.proxy.close();
      await Promise.all(made.map((service) => service.stop()));
    },
  };
}

async function makeBreakable(
  record: ServiceRecord,
  env: NodeJS.ProcessEnv,
): Promise<BreakableService & { stop(): Promise<void> }> {
  const direct = new URL(record.url);
  const proxy = await createProxy(Number(direct.port));
  let current = record;
  return {
    role: record.role,
    directUrl: record.url,
    url: `${direct.protocol}//127.0.0.1:${proxy.port}`,
    proxy,
    async kill() {
      const { launch, process: ref } = current;
      if (launch?.kind === 'container') await promisify(execFile)(launch.engine, ['kill', '--signal', 'KILL', launch.name]);
      else if (ref !== undefined) {
        process.kill(ref.pid, 'SIGKILL');
        await waitFor(() => !isAlive(ref.pid), 10_000, `${record.role} ends`);
      }
      proxy.cut();
    },
    async end() {
      const { launch, process: ref } = current;
      if (launch?.kind === 'container') await promisify(execFile)(launch.engine, ['stop', launch.name]);
      else if (ref !== undefined) {
        process.kill(ref.pid, 'SIGTERM');
        await waitFor(() => !isAlive(ref.pid), 60_000, `${record.role} ends in order`);
      }
      proxy.cut();
    },
    async restart() {
      const { launch } = current;
      if (launch?.kind === 'container') await promisify(execFile)(launch.engine, ['start', launch.name]);
      else if (launch !== undefined) {
        const log = openSync(launch.logFile, 'a');
        const child = spawn(launch.program, launch.args, {
          env: { ...env, ...launch.env },
          cwd: launch.cwd,
          detached: true,
          stdio: ['ignore', log, log],
        });
        child.unref();
        closeSync(log);
        if (child.pid === undefined) throw new Error(`${launch.program} could not be started`);
        current = { ...current, process: { pid: child.pid } };
      }
      const answers = record.role === 'redis' ? () => answersPing(record.url) : () => answersReady(record.url);
      await waitFor(answers, 120_000, `${record.role} answers again`);
    },
    stop: () => stopService(current, env, { deadlineMs: 5_000 }),
  };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function answersPing(url: string): Promise<boolean> {
  return (await sendRedis(url, 'PING').catch(() => '')).includes('PONG');
}

async function answersReady(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/v1/.well-known/ready`, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
  await answer?.arrayBuffer();
  return answer?.ok === true;
}

/** One command to Redis, in its inline form; yields the first part of the answer. */
export function sendRedis(url: string, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' });
    socket.setTimeout(3_000, () => socket.destroy(new Error(`Redis did not answer to ${command}`)));
    socket.on('error', reject);
    socket.once('data', (data) => {
      socket.destroy();
      const answer = data.toString('utf8');
      if (answer.startsWith('-') && !answer.startsWith('-LOADING')) reject(new Error(answer.trim()));
      else resolve(answer);
    });
    socket.write(`${command}\r\n`);
  });
}
