import { join } from 'node:path';
import { writeSecretFile } from '@sluice/config';
import { SluiceError } from '@sluice/core';
import { Redis } from 'ioredis';
import { cachedRedis, installRedisPackage, type RedisProgram } from '../provision/redis-package.js';
import { firstThatWorks, type Step } from '../provision/steps.js';
import { findProgram } from '../system/commands.js';
import { freePorts } from '../system/ports.js';
import type { Environment, Workplace } from '../system/workplace.js';
import { checkImage, containerName, findEngine } from './containers.js';
import type { Credentials } from './credentials.js';
import { launchService, type ServiceRecord } from './service.js';

/** Debian slim, never Alpine; no host, so that a mirror can be set in the engine. */
export const REDIS_IMAGE = 'redis:7.4-bookworm';
const READY_MS = 60_000;

export interface RedisFacts {
  version: string;
  /** `noeviction` is what a queue needs: any other policy may drop jobs. */
  maxmemoryPolicy: string | undefined;
  /** Whether writes are logged to disk. Undefined where the server does not tell. */
  appendOnly: boolean | undefined;
}

/** Asks a Redis for its version and settings. Throws while it can't be reached or still loads its data. */
export async function inspectRedis(url: string): Promise<RedisFacts> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: 5_000,
    commandTimeout: 5_000,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    enableReadyCheck: false,
  });
  // Without a listener ioredis prints connection errors; connect() and the commands throw them as well.
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    await redis.ping();
    const version = /redis_version:(\S+)/.exec(await redis.info('server'))?.[1] ?? 'unknown';
    // Hosted servers forbid CONFIG; INFO memory names the policy as well.
    const maxmemoryPolicy = /maxmemory_policy:(\S+)/.exec(await redis.info('memory'))?.[1];
    const aof = /aof_enabled:(\d)/.exec(await redis.info('persistence'))?.[1];
    return { version, maxmemoryPolicy, appendOnly: aof === undefined ? undefined : aof === '1' };
  } finally {
    redis.disconnect();
  }
}

export async function probeRedis({ url }: Pick<ServiceRecord, 'url'>): Promise<string> {
  return (await inspectRedis(url)).version;
}

/** Arguments of a Redis that may hold a queue: loopback only, every write logged, nothing evicted. */
export function redisArguments(port: number, folder: string): string[] {
  const settings: [string, string][] = [
    ['port', String(port)],
    ['bind', '127.0.0.1'],
    ['dir', folder],
    ['appendonly', 'yes'],
    ['appendfsync', 'everysec'],
    ['maxmemory-policy', 'noeviction'],
    ['save', ''],
    ['daemonize', 'no'],
  ];
  return settings.flatMap(([name, value]) => [`--${name}`, value]);
}

function redisUrl(port: number, { credentials }: ServiceOptions): string {
  return `redis://${credentials === undefined ? '' : `:${credentials.redisPassword}@`}127.0.0.1:${port}`;
}

/** The password goes by a file that this user alone can read: arguments are seen by everybody on the machine. */
function passwordFile({ dataFolder, credentials }: ServiceOptions): string[] {
  if (credentials === undefined) return [];
  return [writeSecretFile(dataFolder, 'redis.conf', `requirepass ${credentials.redisPassword}\n`)];
}

/** How a container starts its Redis. The password comes in by its environment and reaches the server by its input, not its arguments. */
function containerCommand(
  { dataFolder, credentials }: ServiceOptions,
  server: readonly string[],
): { docker: string[]; command: string[] } {
  if (credentials === undefined) return { docker: [], command: ['redis-server', ...server, '--protected-mode', 'no'] };
  const file = writeSecretFile(dataFolder, 'redis.env', `REDIS_PASSWORD=${credentials.redisPassword}\n`);
  const script = `exec redis-server - "$@" <<END\nrequirepass $REDIS_PASSWORD\nEND`;
  return { docker: ['--env-file', file], command: ['sh', '-c', script, 'sh', ...server] };
}

export interface ServiceOptions {
  dataFolder: string;
  /** What the service is to ask of its callers; undefined: nothing. */
  credentials?: Credentials | undefined;
  /** Ports used before, taken again where they are free. */
  ports?: readonly number[];
  /** Called with the service as soon as it runs, before it is ready. */
  onSpawn?(service: ServiceRecord): void;
}

/** Finds, installs if need be, and starts a Redis; the first way that works. See DESIGN: services. */
export async function obtainRedis(workplace: Workplace, options: ServiceOptions): Promise<ServiceRecord> {
  const { env } = workplace;
  const given = env.REDIS_URL;
  const forced = env.SLUICE_REDIS || 'auto';
  if (given !== undefined && given !== '') return useGivenRedis(given);
  const start = async (via: string, found: RedisProgram) => {
    const [port = 0] = await freePorts(1, options.ports);
    const folder = join(options.dataFolder, 'redis');
    return launchService(
      {
        role: 'redis',
        url: redisUrl(port, options),
        via,
        launch: {
          kind: 'program',
          program: found.program,
          args: [...passwordFile(options), ...redisArguments(port, folder)],
          env: found.env,
          cwd: folder,
          // It writes plain lines; the supervisor puts them into the log.
          logFile: join(folder, 'server.log'),
          collectedIn: join(options.dataFolder, 'log', 'redis.ndjson'),
        },
        probe: probeRedis,
        readyMs: READY_MS,
        onSpawn: options.onSpawn,
      },
      workplace,
    );
  };
  const steps: Step<ServiceRecord>[] = [
    {
      name: 'system',
      label: 'an installed redis-server or valkey-server',
      attempt: async () => start('system', await findInstalled()),
    },
    { name: 'container', label: 'a container engine', attempt: () => startContainer(workplace, options) },
    {
      name: 'package',
      label: "the system's packages",
      attempt: async () => start('package', await installRedisPackage(workplace)),
    },
  ];
  // What an earlier start has installed comes before a container engine, whose image may have to be fetched.
  const cached = forced === 'auto' ? await cachedRedis(workplace) : undefined;
  if (cached !== undefined) {
    steps.splice(1, 0, { name: 'package', label: 'the Redis in the cache', attempt: () => start('package', cached) });
    // The usual case of every start but the first: nothing to tell.
    if ((await installedProgram(env)) === undefined) steps.shift();
  }

  async function findInstalled(): Promise<RedisProgram> {
    const program = await installedProgram(env);
    if (program === undefined) throw new SluiceError('not_ready', 'neither redis-server nor valkey-server is installed');
    return { program, env: {} };
  }

  return firstThatWorks({
    subject: 'Redis',
    steps,
    forced,
    variable: 'SLUICE_REDIS',
    advice: redisAdvice(process.platform),
    workplace,
  });
}

async function installedProgram(env: Environment): Promise<string | undefined> {
  return (await findProgram('redis-server', env)) ?? (await findProgram('valkey-server', env));
}

function redisAdvice(platform: NodeJS.Platform): string {
  const command =
    platform === 'darwin'
      ? 'brew install redis'
      : 'sudo apt-get install redis-server (or: dnf, zypper, pacman, apk install redis)';
  return `Install it with:  ${command}\nor name one that runs:  REDIS_URL=redis://host:6379 npm start`;
}

async function useGivenRedis(url: string): Promise<ServiceRecord> {
  const facts = await inspectRedis(url).catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new SluiceError('not_ready', `the Redis of REDIS_URL can't be reached (${reason}): start it, or unset REDIS_URL`, {
      cause,
    });
  });
  if (facts.maxmemoryPolicy !== undefined && facts.maxmemoryPolicy !== 'noeviction') {
    throw new SluiceError(
      'invalid_configuration',
      `the Redis of REDIS_URL evicts keys (maxmemory-policy ${facts.maxmemoryPolicy}), which would lose jobs: ` +
        `redis-cli -u "$REDIS_URL" config set maxmemory-policy noeviction`,
    );
  }
  return { role: 'redis', url, via: 'REDIS_URL', version: facts.version };
}

async function startContainer(workplace: Workplace, options: ServiceOptions): Promise<ServiceRecord> {
  const engine = await findEngine(workplace.env);
  await checkImage(engine, REDIS_IMAGE, workplace);
  const [port = 0] = await freePorts(1, options.ports);
  const name = containerName('redis', options.dataFolder);
  const server = redisArguments(6379, '/data').map((value) => (value === '127.0.0.1' ? '0.0.0.0' : value));
  const { docker, command } = containerCommand(options, server);
  return launchService(
    {
      role: 'redis',
      url: redisUrl(port, options),
      via: 'container',
      launch: {
        kind: 'container',
        engine,
        name,
        args: ['--publish', `127.0.0.1:${port}:6379`, '--volume', `${name}:/data`, ...docker, REDIS_IMAGE, ...command],
      },
      probe: probeRedis,
      readyMs: READY_MS,
      onSpawn: options.onSpawn,
    },
    workplace,
  );
}
